import { readFile, stat } from "node:fs/promises";
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
import { type Call, type Command, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { MCP_FLAG_ABOUT } from "#edges/cli/chat/mcp-file";
import { REMOTE_ABOUT, REMOTE_OPTIONS, remoteBundle, isUrl } from "#edges/cli/transfer/remote-bundle";
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
  summary: "Sends the prompts of a run or a branch once more, to other models, without effects",
  usage: [
    "RUN|ID[@ENTRY]|FILE|URL --model PROVIDER/NAME [--model …] [--tools dry-run|recorded|live] [--from-message N] [--fail-on-divergence]",
  ],
  about: `The argument is the id of a run, else a conversation, else a file as \`export\` writes it, which is
imported under a new id first (./NAME is always a file), else the address of a conversation on a
server, https://SERVER/c/ID, which is fetched as a bundle. The prompts are sent in order, each after the
turn before it ended, by the real loop and on a fork: one for each model. The original is not
touched, and what the replay uses is counted on its forks alone, as runs of the trigger "replay".

  --model PROVIDER/NAME  may be given more than once; the original's own unless given
  --conversation ID      where the run is, if an import has brought it into several
  --tools MODE           dry-run (unless told): tools without effects run, others say what they would
                         do, and those that cannot are told to the model as not run;
                         recorded: every call gets what the same call gave in the original;
                         live: tools run, and each effect is asked for again at the terminal
  --from-message N       keeps messages 1 to N-1, and begins with the first prompt from N on
  --patch-system FILE    what the model is told of its task, in place of what the agent says; recorded
  --max-steps N          stops each replay after so many answers of the model
  --max-cost USD         stops each replay that has cost so much, such as 0.50
  --agent MODULE         a host's own agent: a module that exports a function \`agent\`, which gives the
                         options of \`new Agent\` (tools, system, permission, openModel)
  --base-url URL         where the models are served; what the original says of that is not believed
${MCP_FLAG_ABOUT}
  --no-memory            the model is told nothing of memory
${REMOTE_ABOUT}
  --fail-on-divergence   exit with 1 where a call differs from the original

Calls are compared by name, arguments and order, with --tools recorded by their results too;
different text is not a divergence. It ends with 0 when all prompts were sent, else as \`chat -p\` does. \`holdfast diff\` shows each change.`,
  examples: [
    "holdfast replay ID --model openai/gpt-5 --model anthropic/claude-sonnet-5-5",
    "holdfast replay production.jsonl --model sim --agent ./agent.js",
    "holdfast replay https://agents.example/c/ID --token-file token --model openai/gpt-5",
    "holdfast replay ID --model openai/gpt-5 --tools recorded --fail-on-divergence --json",
  ],
  options: {
    model: { type: "string", multiple: true },
    conversation: { type: "string" },
    tools: { type: "string" },
    "from-message": { type: "string" },
    "patch-system": { type: "string" },
    "max-steps": { type: "string" },
    "max-cost": { type: "string" },
    agent: { type: "string" },
    "base-url": { type: "string" },
    mcp: { type: "string" },
    "no-memory": { type: "boolean" },
    "fail-on-divergence": { type: "boolean" },
    ...REMOTE_OPTIONS,
  },
  writes: true,
  arity: [1, 1],
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
  const patch = flags.text("patch-system");
  const { maxSteps, maxCostMicros } = turnFlags(call);
  check(startReplay, { models, tools, ...(fromMessage === undefined ? {} : { fromMessage }) });
  return {
    models,
    tools,
    ...(fromMessage === undefined ? {} : { fromMessage }),
    ...(patch === undefined ? {} : { patchSystem: await readPatch(patch) }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxCostMicros === undefined ? {} : { maxCostMicros }),
  };
}

async function readPatch(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new LogError("invalid_request", `--patch-system: ${file} cannot be read`, { file }, { cause });
  });
  if (text.trim() === "") throw new LogError("invalid_request", `--patch-system: ${file} is empty`, { file });
  return text;
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
    await remark(call, "Nobody is at a terminal to be asked, so every effect is refused");
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
  return diverged ? STATUS.unexpected : STATUS.ok;
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
    throw new LogError("run_not_found", `There is no run ${text} in ${within}`, { run: text });
  try {
    const { conversation, entry } = await findAddress(holdfast, text);
    return { conversation: conversation.id, ...(entry === null ? {} : { at: entry }) };
  } catch (error) {
    if (!isLogError(error, "conversation_not_found") && !isLogError(error, "invalid_id")) throw error;
  }
  const found = await stat(text).catch(() => null);
  if (found !== null && !found.isDirectory()) return { file: text };
  throw new LogError(
    "conversation_not_found",
    `There is no run, no conversation and no file ${text} here. Nothing was sent or written`,
    { argument: text },
  );
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
      `${path} has several conversations: ${all.map(({ from }) => from).join(", ")}. Nothing was written; import it, then name the one to be replayed`,
      { file: path },
    );
  const { conversations } = await importBundle(holdfast, file, { asNew: true });
  const imported = conversations.find(({ from }) => from === only.from);
  if (imported === undefined)
    throw new LogError("damaged", `${path} has changed while it was read`, { file: path });
  return imported.conversation;
}
