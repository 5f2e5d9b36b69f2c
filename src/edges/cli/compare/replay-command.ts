import { stat } from "node:fs/promises";
import { replay } from "#agent/replay/replay-models";
import type {
  ReplayEvent,
  ReplayOptions,
  ReplayPlan,
  ReplayResult,
  ReplayTools,
} from "#agent/replay/replay-options";
import type { ReplayTarget } from "#agent/replay/replay-source";
import type { EndingClass } from "#log/ending-class";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { cwdOf } from "#log/projections/settings";
import { check } from "#operations/operation";
import { startReplay } from "#operations/replays";
import { missingModel, turnFlags } from "#edges/cli/chat/agent-flags";
import { readSystemPrompt } from "#edges/cli/commands/fork";
import { type Call, type Command, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { MCP_OPTION } from "#edges/cli/chat/mcp-file";
import { REMOTE_OPTIONS, remoteBundle, isUrl } from "#edges/cli/transfer/remote-bundle";
import { bundleFile, spooledFile, type ImportFile } from "#transfer/bundles/open-import";
import { safeLine } from "#edges/cli/terminal/terminal";
import { folderHere, modelOpener, replayAgent } from "./replay-agent.ts";
import { eventJson, eventLine, writeSummary } from "./replay-lines.ts";
import type { Host } from "#turn/host";
import { askPerson } from "#edges/cli/chat/permission-question";
import { chatInput } from "#edges/cli/chat/chat-input";
import { Printer } from "#edges/cli/terminal/printer";
import { importBundle } from "#transfer/bundles/import-bundle";
import { findAddress, findConversation } from "#edges/cli/address";

export const replayCommand: Command = {
  name: "replay",
  summary: "Send recorded prompts again, to other models",
  forms: ["RUN|ID[@ENTRY]|FILE|URL"],
  about: `Sends the prompts of a run or a branch again, in order, on a fork for each model. Tools have no
effects by default, and the original doesn't change. The argument is a run, a conversation, an
exported file (./NAME is always a file) or https://SERVER/c/ID. Usage counts on the forks.

Holdfast compares calls by name, arguments and order; different text isn't a divergence. Exits
with 0 if all prompts were sent. \`holdfast diff\` shows each change.`,
  examples: [
    "holdfast replay ID --model openai/gpt-5 --model anthropic/claude-sonnet-5-5",
    "holdfast replay production.jsonl --model sim --agent ./agent.js",
    "holdfast replay https://agents.example/c/ID --token-file token --model openai/gpt-5",
    "holdfast replay ID --model openai/gpt-5 --tools recorded --fail-on-divergence --json",
  ],
  options: {
    "--model PROVIDER/NAME...": "a model (default: the original's)",
    "--tools dry-run|recorded|live":
      "dry-run (default): only tools without side effects run; recorded: each call returns its recorded result; live: tools run, and each side effect asks at the terminal",
    "--from-message N": "keep messages 1 to N-1 and start with the first prompt from N on",
    "--fail-on-divergence": "exit with 8 if a call differs from the original",
    "--system, --patch-system FILE": "replace the system prompt",
    "--max-steps N": "stop each replay after N answers of the model",
    "--max-cost USD": "stop each replay at this cost, such as 0.50",
    "--conversation ID": "the conversation of the run, if several have it after an import",
    "--agent MODULE": "a module that exports `agent`, a function that returns the options of `new Agent`",
    "--base-url URL": "the URL of the models (the URL recorded in the original is ignored)",
    ...MCP_OPTION,
    "--no-memory": "don't send memory",
    "From a server": "",
    ...REMOTE_OPTIONS,
  },
  writes: true,
  async run(call) {
    const flags = await replayFlags(call);
    const holdfast = await call.open();
    const argument = await replayArgument(holdfast, call.args[0] ?? "", call.flags.text("conversation"));
    const open = modelOpener(call);
    for (const model of flags.models) await open(model);
    if (!("file" in argument) && !("url" in argument))
      return replayHere(call, holdfast, { what: argument, flags });
    const conversation = await broughtHere(call, holdfast, argument);
    if (!call.json) await remark(call, `Imported as ${conversation}`);
    return replayHere(call, holdfast, { what: { conversation }, flags });
  },
};

/** What is to be replayed, once it is in the store. */
async function broughtHere(
  call: Call,
  holdfast: Holdfast,
  argument: { readonly file: string } | { readonly url: string },
): Promise<string> {
  if ("file" in argument) return importFile(holdfast, bundleFile(argument.file));
  const remote = remoteBundle(argument.url, []);
  const { fetchBundle } = await import("#edges/cli/transfer/remote-bundle");
  const name = `The bundle of ${remote.origin}`;
  await using spooled = await spooledFile(name, fetchBundle(call, remote));
  return await importFile(holdfast, spooled.file);
}

type FlagOptions = Omit<ReplayOptions, "agent" | "onEvent" | "onPermission" | "signal" | "cwd">;

async function replayFlags(call: Call): Promise<FlagOptions> {
  const { flags } = call;
  const models = flags.list("model");
  const tools = (flags.text("tools") ?? "dry-run") as ReplayTools;
  const fromMessage = flags.count("from-message");
  const patchSystem = await readSystemPrompt(flags);
  const { maxSteps, maxCostMicros } = turnFlags(call);
  check(startReplay, { models, tools, ...(fromMessage === undefined ? {} : { fromMessage }) });
  return {
    models,
    tools,
    ...(fromMessage === undefined ? {} : { fromMessage }),
    ...(patchSystem === undefined ? {} : { patchSystem }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxCostMicros === undefined ? {} : { maxCostMicros }),
  };
}

async function replayHere(
  call: Call,
  holdfast: Holdfast,
  { what, flags }: { readonly what: ReplayTarget; readonly flags: FlagOptions },
): Promise<number> {
  const { cwd, isOther } = await folderHere(await recordedFolder(holdfast, what));
  if (isOther && !call.json)
    await remark(call, `The folder of the original is not here; the replay works in ${safeLine(cwd)}`);
  const told = new ToldEvents(call);
  await using person = askAtTerminal(call, cwd);
  if (flags.tools === "live" && person === null && !call.json)
    await remark(call, "No terminal is connected, so every side effect is denied");
  const results = await replay(holdfast, what, {
    ...flags,
    cwd,
    agent: await replayAgent(call, holdfast, cwd),
    onEvent: (event) => told.add(event),
    signal: person?.signal ?? call.io.catchInterrupt(),
    ...(person === null ? {} : { onPermission: person.ask }),
  }).catch((error: unknown) => {
    const isUnnamed = isLogError(error, "invalid_request") && error.details["model"] === null;
    throw isUnnamed ? missingModel(`holdfast replay ${call.args[0] ?? ""}`, null) : error;
  });
  await told.written();
  if (!call.json && told.plan !== null) await writeSummary(call, holdfast, told.plan, results);
  return statusOf(results, call.flags.has("fail-on-divergence"));
}

async function recordedFolder(holdfast: Holdfast, what: ReplayTarget): Promise<string | null> {
  const id = what.conversation ?? (await holdfast.hydrate(what.run ?? "")).run.conversation;
  const conversation = await holdfast.conversation(id);
  return cwdOf((await conversation.settings()).config, (await conversation.head()).cwd);
}

/** Events are told in their order, each as a line. */
class ToldEvents {
  plan: ReplayPlan | null = null;
  readonly #call: Call;
  #written: Promise<void> = Promise.resolve();

  constructor(call: Call) {
    this.#call = call;
  }

  add(event: ReplayEvent): void {
    if (event.type === "planned") this.plan = event;
    const { out, err } = this.#call.io;
    const line = this.#call.json ? eventJson(event) : eventLine(event, this.plan?.prompts ?? 0, err);
    if (line === null) return;
    this.#written = this.#written.then(() => (this.#call.json ? out.write(line) : err.write(`${line}\n`)));
    this.#written.catch(() => undefined); // told by whoever waits for it
  }

  written(): Promise<void> {
    return this.#written;
  }
}

const LATER: ReadonlySet<EndingClass | null> = new Set(["limit", "credit", "overloaded"]);

function statusOf(results: readonly ReplayResult[], failsOnDivergence: boolean): number {
  const failed = results.filter(({ outcome }) => outcome !== "completed");
  if (failed.length > 0)
    return failed.every((one) => LATER.has(one.class)) ? STATUS.unavailable : STATUS.unexpected;
  const diverged = failsOnDivergence && results.some(({ divergence }) => divergence !== null);
  return diverged ? STATUS.differs : STATUS.ok;
}

/** A person at the terminal: who is asked, and may stop it all. */
interface PersonAtTerminal extends AsyncDisposable {
  readonly ask: NonNullable<Host["onPermission"]>;
  readonly signal: AbortSignal;
}

/** Null where nobody is there. Every call is asked for: nothing is allowed for good by a replay. */
function askAtTerminal(call: Call, cwd: string): PersonAtTerminal | null {
  const { io } = call;
  if (call.json || io.keyboard === undefined) return null;
  const stop = new AbortController();
  const input = chatInput(io, {
    first: () => false,
    queueLine: () => undefined,
    unsent: () => undefined,
    interrupt: () => {
      stop.abort();
      return false;
    },
  });
  return {
    ask: askPerson({ io, printer: new Printer(io.out), input, cwd }),
    signal: AbortSignal.any([stop.signal, io.catchInterrupt()]),
    [Symbol.asyncDispose]: async () => void input.close(),
  };
}

/** What is to be replayed; of a file, once it is imported. */
type ReplayArgument = ReplayTarget | { readonly file: string } | { readonly url: string };

/** An address of a server, an exact run id, else a conversation or an entry of one, else a file. `within`: where the run is, if several have its id. */
async function replayArgument(
  holdfast: Holdfast,
  text: string,
  within: string | undefined,
): Promise<ReplayArgument> {
  if (isUrl(text)) return { url: text };
  const where = within === undefined ? {} : { conversation: (await findConversation(holdfast, within)).id };
  const run = await holdfast.run(text, where);
  if (run !== null) return { run: text, conversation: run.conversation };
  if (within !== undefined)
    throw new LogError("run_not_found", `Run ${text} not found in ${within}`, { run: text });
  try {
    const { conversation, entry } = await findAddress(holdfast, text);
    return { conversation: conversation.id, ...(entry === null ? {} : { at: entry }) };
  } catch (error) {
    if (!isLogError(error, "conversation_not_found") && !isLogError(error, "invalid_id")) throw error;
  }
  const found = await stat(text).catch(() => null);
  if (found !== null && !found.isDirectory()) return { file: text };
  throw new LogError("conversation_not_found", `Run, conversation or file ${text} not found`, {
    argument: text,
  });
}

/**
 * Imports a file under new ids. Of several conversations the one is replayed that no other of the file was forked from; where
 * that does not say which, nothing is written.
 */
async function importFile(holdfast: Holdfast, file: ImportFile): Promise<string> {
  const { name: path } = file;
  const { conversations: all } = await importBundle(holdfast, file, { asNew: true, dryRun: true });
  const sources = new Set(all.map(({ source }) => source));
  const [only, other] = all.filter(({ conversation }) => !sources.has(conversation));
  if (only === undefined || other !== undefined)
    throw new LogError(
      "invalid_request",
      `${path} has several conversations: ${all.map(({ from }) => from).join(", ")}. Import the file, then replay one of them.`,
      { file: path },
    );
  const { conversations } = await importBundle(holdfast, file, { asNew: true });
  const imported = conversations.find(({ from }) => from === only.from);
  if (imported === undefined)
    throw new LogError("damaged", `${path} has changed while it was read`, { file: path });
  return imported.conversation;
}
