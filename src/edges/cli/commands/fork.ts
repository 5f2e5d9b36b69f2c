import { systemClock } from "#conversation/clock";
import type { Conversation, ForkOptions } from "#conversation/conversation";
import { type Call, type Command, answer, remark } from "#edges/cli/command";
import type { Flags } from "#edges/cli/options";
import { readAddress, findEntryId } from "#edges/cli/operation-command";
import { safeLine } from "#edges/cli/terminal/terminal";
import type { EntryBody, EntryOf } from "#log/entry";
import { LogError, isLogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { type UserMessage, textOfBlocks } from "#log/message";
import { fork as forkConversation } from "#operations/conversations";
import { perform, valueOf } from "#operations/operation";
import { forkRun } from "#operations/runs";
import { NOT_UNDONE } from "#operations/text";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Holdfast } from "#conversation/holdfast";

export const fork: Command = {
  name: "fork",
  summary: "Fork a conversation at an entry",
  forms: ["ID[@ENTRY]", "RUN[@ENTRY]"],
  about: `Creates a conversation that shares the history up to ENTRY (default: the current entry). The source
doesn't change, and the fork doesn't see entries that the source adds later. A fork costs the
same at any length. Files and external effects are not undone. Forking a run starts a run in the
fork that continues it with the same inputs.`,
  examples: [
    "holdfast fork ID",
    "holdfast fork ID@m3 --id second-try",
    "holdfast fork ID@before-refactoring --json",
    "holdfast fork ID@m3 --edit --model openai/gpt-5",
    "holdfast fork RUN@m3 --model openai/gpt-5 --tools read,search",
  ],
  options: {
    "--edit":
      "edit the message at ENTRY (default: your last one) in $VISUAL or $EDITOR, or read it from standard input; it isn't sent yet: run `holdfast continue` to get a reply",
    "--model NAME": "use this model in the fork, as provider/name",
    "--label LABEL": "label the entry where the fork starts",
    "--id NEW": "the id of the fork",
    "--cwd DIR": "the working folder of the fork",
    "--key KEY": "make retries safe: Holdfast creates one fork per key",
    "Runs only": "",
    "--tools NAME,…": "offer these tools",
    "--system, --patch-system FILE": "replace the system prompt",
  },
  writes: true,
  async run(call) {
    const { conversation: made, run, output } = await makeFork(call);
    const { leaf, origin } = await made.head();
    const from =
      origin === null ? null : { conversation: origin.source, entry: origin.entry, head: origin.head };
    const named = run === null ? {} : { run };
    await answer(call, { ...output, conversation: made.id, leaf: leaf.id, origin: from, ...named }, () =>
      safeLine(made.id),
    );
    if (call.io.out.isTerminal && !call.json)
      await remark(call, `The source is as it was. ${NOT_UNDONE}\n→ holdfast ui ${safeLine(made.id)}`);
  },
};

interface Forked {
  readonly conversation: Conversation;
  /** The run that was begun in it; null: it is a fork of a conversation. */
  readonly run: string | null;
  readonly output: object;
}

async function makeFork(call: Call): Promise<Forked> {
  const { flags } = call;
  const holdfast = await call.open();
  const [text = ""] = call.args;
  const options = forkOptions(call);
  const overrides = await overridesOf(flags);
  const found = await findRunToFork(holdfast, text);
  if (found !== null) {
    if (flags.has("edit") || flags.text("label") !== undefined)
      throw new LogError("invalid_request", "--edit and --label need a conversation, not a run");
    const { key: runKey, ...place } = options;
    const runInput = { ...place, ...overrides, ...found };
    const forked = valueOf(await perform(forkRun, runInput, { holdfast, clock: systemClock, key: runKey }));
    return {
      conversation: await holdfast.conversation(forked.conversation),
      run: forked.run,
      output: forked,
    };
  }
  const { conversation: id, entry } = await readAddress(holdfast, text);
  const { model, ...others } = overrides;
  if (Object.keys(others).length > 0)
    throw new LogError("invalid_request", `--tools and --system need a run, but ${id} is a conversation`);
  const edited = flags.has("edit") ? await editedPrompt(call, await holdfast.conversation(id), entry) : null;
  const at = edited?.before ?? entry;
  const { key, ...rest } = options;
  const input = { conversation: id, ...rest, ...(at === null ? {} : { at }) };
  const output = valueOf(await perform(forkConversation, input, { holdfast, clock: systemClock, key }));
  const conversation = await holdfast.conversation(output.conversation);
  await beginFork(call, conversation, {
    ...(model === undefined ? {} : { model }),
    ...(edited === null ? {} : { prompt: edited.message, newId: () => holdfast.newId() }),
  });
  return { conversation, run: null, output };
}

interface ForkBeginning {
  readonly model?: string;
  readonly prompt?: UserMessage;
  readonly newId?: () => string;
}

/** What the fork begins with. A prompt of it is a turn that was stopped before anybody was asked: it can be gone on with. */
async function beginFork(
  { flags }: Call,
  made: Conversation,
  { model, prompt, newId = () => "" }: ForkBeginning,
): Promise<void> {
  const [id, turn] = [newId(), newId()];
  const bodies: readonly EntryBody[] = [
    ...(model === undefined ? [] : [{ type: "model_change", model } as const]),
    ...(prompt === undefined
      ? []
      : ([
          { type: "message", id, message: prompt },
          { type: "turn_start", turn, prompt: id },
          { type: "turn_end", turn, outcome: "interrupted", class: "cancelled" },
        ] as const)),
  ];
  const key = flags.text("key");
  // Under its key it is begun once, also where the command is run twice.
  if (bodies.length > 0) await made.append(bodies, key === undefined ? {} : { key: `fork/${key}` });
  const label = flags.text("label");
  if (label !== undefined) await made.label((await made.head()).leaf.id, label);
}

function forkOptions({ flags }: Call): ForkOptions {
  const [id, key, cwd] = [flags.text("id"), flags.text("key"), flags.text("cwd")];
  return {
    ...(id === undefined ? {} : { id }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(key === undefined ? {} : { key }),
  };
}

interface EditedPrompt {
  /** The entry that the fork begins behind. */
  readonly before: EntryId;
  readonly message: UserMessage;
}

/** A message of a person's with other words: those of an editor, or of standard input where that is a pipe. */
async function editedPrompt(
  call: Call,
  conversation: Conversation,
  entry: EntryId | null,
): Promise<EditedPrompt> {
  const { id, parentId, message } = await promptAt(conversation, entry);
  const old = textOfBlocks(message.content, "\n");
  const text = (call.io.stdinIsTerminal ? await inEditor(call, old) : await piped(call)).trimEnd();
  if (text === "" || text === old.trimEnd())
    throw new LogError("invalid_request", `The new text of ${id} is ${text === "" ? "empty" : "unchanged"}`);
  if (parentId === null)
    throw new LogError("invalid_request", `${id} is the first entry, so a fork cannot start before it`);
  const others = message.content.filter((block) => block.type !== "text");
  return { before: parentId, message: { role: "user", content: [{ type: "text", text }, ...others] } };
}

async function promptAt(
  conversation: Conversation,
  entry: EntryId | null,
): Promise<EntryOf<"message"> & { readonly message: UserMessage }> {
  const found =
    entry === null
      ? (await conversation.branch()).findLast((one) => one.type === "message" && one.message.role === "user")
      : await conversation.entry(entry);
  if (found?.type === "message" && found.message.role === "user") return { ...found, message: found.message };
  throw new LogError("invalid_request", `--edit requires a user message. This entry is another type.`);
}

async function piped({ io }: Call): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of io.stdin) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

async function inEditor({ io }: Call, text: string): Promise<string> {
  const editor = io.env["VISUAL"] || io.env["EDITOR"];
  if (!editor)
    throw new LogError(
      "invalid_request",
      "Set $EDITOR to your text editor, or pipe the new text to the command",
    );
  const folder = await mkdtemp(join(tmpdir(), "holdfast-edit-"));
  try {
    const file = join(folder, "prompt.md");
    await writeFile(file, text, { mode: 0o600 });
    // As others do it: the variable may hold options.
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env: io.env });
    const [status] = (await once(child, "exit")) as [number | null];
    if (status !== 0) throw new LogError("invalid_request", `The editor exited with status ${status}`);
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A run by its whole id, and where in it a fork begins. */
interface RunToFork {
  readonly run: string;
  readonly conversation: string;
  readonly at?: string;
}

/** RUN or RUN@ENTRY; null where the text is a conversation's, whose ids come first, or no run's. */
async function findRunToFork(holdfast: Holdfast, text: string): Promise<RunToFork | null> {
  const cut = text.indexOf("@");
  const [name, entry] = cut === -1 ? [text, null] : [text.slice(0, cut), text.slice(cut + 1)];
  if (name === "" || entry === "" || (await isConversation(holdfast, name))) return null;
  const row = await holdfast.run(name);
  if (row === null) return null;
  const { run, conversation } = row;
  if (entry === null) return { run, conversation };
  return { run, conversation, at: await findEntryId(await holdfast.conversation(conversation), entry) };
}

async function isConversation(holdfast: Holdfast, id: string): Promise<boolean> {
  try {
    await holdfast.conversation(id);
    return true;
  } catch (error) {
    if (isLogError(error, "conversation_not_found") || isLogError(error, "invalid_id")) return false;
    throw error;
  }
}

/** What is to be other than in the run. */
async function overridesOf(
  flags: Flags,
): Promise<{ readonly model?: string; readonly tools?: readonly string[]; readonly system?: string }> {
  const { model, tools } = flags.texts("model", "tools");
  const system = await readSystemPrompt(flags);
  const names = tools?.split(",").map((name) => name.trim());
  if (names?.includes("") === true)
    throw new LogError("invalid_request", "--tools has an empty name. Use NAME,NAME");
  return {
    ...(model === undefined ? {} : { model }),
    ...(names === undefined ? {} : { tools: names }),
    ...(system === undefined ? {} : { system }),
  };
}

/** The text of the file that `--system` names. */
export async function readSystemPrompt(flags: Flags): Promise<string | undefined> {
  const [file, option] = [flags.text("system"), flags.spelling("system")];
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new LogError("invalid_request", `${option}: can't read ${file}`, { file }, { cause });
  });
  if (text.trim() === "") throw new LogError("invalid_request", `${option}: ${file} is empty`, { file });
  return text;
}
