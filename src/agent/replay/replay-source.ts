import type { Conversation } from "#conversation/conversation";
import type { BranchEntry } from "#conversation/history-pages";
import type { Holdfast } from "#conversation/holdfast";
import type { Entry, EntryOf, EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import type { Run } from "#log/runs/run-row";
import { callsIn } from "#agent/loop/answer-entries";
import type { ReplayPart } from "./replay-options.ts";

/** The target of a replay: the prompts of a run, or those of a branch up to an entry or the leaf. */
export type ReplayTarget =
  | { readonly run: string; readonly conversation?: string }
  | { readonly conversation: string; readonly at?: string; readonly run?: undefined };

type RunStart = EntryOf<"run_start">;

/** A prompt, and the start of the run that the replay sends it in: the replayed run, or a run with inputs. */
export interface SourcePrompt extends ReplayPrompt {
  readonly run: RunStart | null;
}

/** The prompts and entries to replay, as the log has them. */
export interface ReplaySource {
  readonly conversation: Conversation;
  readonly run: Run | null;
  /** The entry that the replayed branch ends with. */
  readonly end: EntryId;
  /** Where the forks grow from. */
  readonly keptTo: EntryId;
  readonly prompts: readonly SourcePrompt[];
  /** The nodes behind that entry. */
  readonly nodes: readonly Entry[];
  /** The names of the tools that were called, and of those that the run was begun with. */
  readonly called: readonly string[];
  readonly toolNames: readonly string[] | null;
}

/** Reads the prompts to replay. Throws if they cannot be replayed; nothing is written. */
export async function readReplaySource(
  holdfast: Holdfast,
  target: ReplayTarget,
  part: ReplayPart,
): Promise<ReplaySource> {
  const source = target.run === undefined ? await branchOf(holdfast, target) : await runOf(holdfast, target);
  const { conversation, run, branch } = source;
  const starts = await readStarts(conversation);
  const answered = starts.answered(run?.run ?? null);
  const from = firstOf(source, part, answered);
  // The seeds that a run began with stand before its first message.
  const { prompts, keptTo, nodes, messages, end } = cutAfter(
    promptsToReplay(branch, { start: source.start, from, answered }),
    branch.at(-1)?.id,
    part.maxPrompts,
  );
  const [first] = prompts;
  if (first === undefined || keptTo === null || end === undefined)
    throw nothingToSend(run === null ? `Conversation ${conversation.id}` : `Run ${run.run}`, from, messages);
  return {
    conversation,
    run,
    end,
    keptTo,
    prompts: withRuns(prompts, starts, run),
    nodes,
    called: calledIn(nodes),
    toolNames: (run ?? (await conversation.latestRun()))?.tools ?? null,
  };
}

function firstOf(
  { branch, start, conversation }: SourceBranch,
  { fromMessage = 1, fromEntry }: ReplayPart,
  answered: ReadonlySet<EntryId>,
): number {
  if (fromEntry === undefined) return fromMessage;
  const first = firstMessageFor(branch, fromEntry, { start, answered });
  if (first !== null) return first;
  throw new LogError(
    "invalid_request",
    `Entry ${fromEntry} is not on the replayed branch of ${conversation.id}. Also set the last entry of its branch.`,
    { conversation: conversation.id, entry: fromEntry },
  );
}

/** The first of them, and the branch up to what came of the last. */
function cutAfter(
  input: PromptsToReplay,
  end: EntryId | undefined,
  most: number = Number.POSITIVE_INFINITY,
): PromptsToReplay & { readonly end: EntryId | undefined } {
  const last = input.prompts[most - 1];
  if (last === undefined) return { ...input, end };
  const to = input.nodes.findIndex(({ id }) => id === last.end) + 1;
  return { ...input, prompts: input.prompts.slice(0, most), nodes: input.nodes.slice(0, to), end: last.end };
}

function nothingToSend(name: string, from: number, messages: PromptsToReplay["messages"]): LogError {
  const why =
    from > messages
      ? `has ${messages} messages, so the replay cannot start at message ${from}`
      : `has no prompt at or after message ${from}`;
  return new LogError("invalid_request", `${name} ${why}`, { from, messages });
}

interface SourceBranch {
  readonly conversation: Conversation;
  readonly run: Run | null;
  readonly branch: readonly BranchEntry[];
  /** Where messages begin to count. */
  readonly start: number;
}

async function branchOf(
  holdfast: Holdfast,
  { conversation: id, at }: { readonly conversation: string; readonly at?: string },
): Promise<SourceBranch> {
  const conversation = await holdfast.conversation(id);
  const branch = await conversation.branch(at === undefined ? {} : { at });
  return { conversation, run: null, branch, start: 0 };
}

/** The branch that the run's own messages lie on, up to the last of them. */
async function runOf(
  holdfast: Holdfast,
  { run: id, conversation: within }: { readonly run: string; readonly conversation?: string },
): Promise<SourceBranch> {
  const { run, messages } = await holdfast.hydrate(id, within === undefined ? {} : { conversation: within });
  const conversation = await holdfast.conversation(run.conversation);
  const [first, last] = [messages[0], messages.at(-1)];
  const branch = last === undefined ? [] : await conversation.branch({ at: last.id });
  const start = branch.findIndex((node) => node.id === first?.id);
  const seed = branch.findIndex((node) => node.id === run.seed);
  return { conversation, run, branch, start: seed === -1 || seed > start ? Math.max(start, 0) : seed };
}

/** Which run each turn belongs to, in the conversation and in what it was forked from. */
interface Starts {
  readonly byId: ReadonlyMap<string, RunStart>;
  /** The run of a turn, by its prompt. */
  readonly ofPrompt: ReadonlyMap<EntryId, string>;
  /** Seeds that were answered, of all runs or of one. */
  answered(run: string | null): ReadonlySet<EntryId>;
}

async function readStarts(conversation: Conversation): Promise<Starts> {
  const types = ["run_start", "turn_start"] as const;
  const facts = [...(await conversation.inheritedFacts(types)), ...(await conversation.facts(types))];
  const byId = new Map<string, RunStart>();
  const ofPrompt = new Map<EntryId, string>();
  for (const fact of facts) {
    if (fact.type === "run_start") byId.set(fact.run, fact);
    if (fact.type === "turn_start" && fact.prompt !== undefined && fact.run !== undefined)
      ofPrompt.set(fact.prompt, fact.run);
  }
  const answered = (run: string | null): ReadonlySet<EntryId> =>
    new Set(
      [...ofPrompt].flatMap(([prompt, of]) =>
        byId.get(of)?.seed === prompt && (run === null || run === of) ? [prompt] : [],
      ),
    );
  return { byId, ofPrompt, answered };
}

function withRuns(
  prompts: readonly ReplayPrompt[],
  { byId, ofPrompt }: Starts,
  replayed: Run | null,
): readonly SourcePrompt[] {
  const only = replayed === null ? null : (byId.get(replayed.run) ?? null);
  let run: RunStart | null = null;
  return prompts.map((prompt) => {
    const runId = ofPrompt.get(prompt.entry.id);
    // Words that were steered into a turn are of its run.
    if (runId !== undefined) run = byId.get(runId) ?? null;
    return { ...prompt, run: only ?? (run?.seed === undefined ? null : run) };
  });
}

function calledIn(nodes: readonly Entry[]): readonly string[] {
  const names = nodes.flatMap((node) =>
    node.type === "message" ? callsIn(node.message.content).map(({ name }) => name) : [],
  );
  return [...new Set(names)];
}

/** An entry before a prompt and after the turn before it: a message without an answer, a reset, and what the host set. */
export type BeforePrompt = EntryOf<"message"> | Extract<EntryBody, { type: "reset" | Setting }>;

type Setting = "state_change" | "skill_change";

/** A prompt of a branch, to be sent once more. */
export interface ReplayPrompt {
  /** Which message it is of those that are counted, from 1; of seeds, the one that answered them. */
  readonly messageNumber: number;
  /** A user message, or run inputs whose last message needs an answer. */
  readonly entry: EntryOf<"message"> | EntryOf<"seed">;
  readonly before: readonly BeforePrompt[];
  /** The last node that came of it; itself where nothing did. */
  readonly end: EntryId;
}

/** The part of a branch that is sent again. */
interface PromptsToReplay {
  readonly prompts: readonly ReplayPrompt[];
  /** The last node that is kept; null where there is none. */
  readonly keptTo: EntryId | null;
  /** The nodes behind it. */
  readonly nodes: readonly Entry[];
  /** How many messages there are to count. */
  readonly messages: number;
}

type BranchNode = Entry & { readonly hidden?: boolean };

interface ReplayRange {
  /** The node from which on messages are counted. */
  readonly start?: number;
  /** The first message that is not kept. */
  readonly from?: number;
  /** Seeds that a turn answered without words of its own. */
  readonly answered?: ReadonlySet<EntryId>;
}

type PromptDraft = { -readonly [K in keyof ReplayPrompt]: ReplayPrompt[K] } & { before: BeforePrompt[] };

/**
 * The prompts among a branch's nodes from `start` on, from their message `from` on; what lies before that message is kept. Of
 * several messages of a user in a row the last one was asked, and those before it were said; what is hidden is not sent again.
 */
export function promptsToReplay(branch: readonly BranchNode[], part: ReplayRange = {}): PromptsToReplay {
  const { start = 0, from = 1, answered = new Set() } = part;
  const counted = branch.flatMap((node, index) => (node.type === "message" && index >= start ? [index] : []));
  const first = counted[from - 1];
  if (first === undefined) return { prompts: [], keptTo: null, nodes: [], messages: counted.length };
  const prompts: PromptDraft[] = [];
  let before: BeforePrompt[] = [];
  let messageNumber = from - 1;
  let isAnswered = true;
  // Seeds right before that message are kept, and what answered them is not.
  const behind = (counted[from - 2] ?? start - 1) + 1;
  for (const [index, node] of branch.entries()) {
    if (index < behind || (index < first && !(node.type === "seed" && answered.has(node.id)))) continue;
    if (node.type === "reset") {
      const { reason } = node;
      before.push({ type: "reset", ...(reason === undefined ? {} : { reason }) });
      isAnswered = true;
    }
    if (node.type === "state_change") before.push({ type: "state_change", state: node.state });
    if (node.type === "skill_change") before.push({ type: "skill_change", skills: node.skills });
    if (node.type === "message") messageNumber++;
    if (node.type === "message" && node.message.role === "user" && node.hidden !== true) {
      const previous = isAnswered ? undefined : prompts.pop();
      if (previous?.entry.type === "message") before.unshift(...previous.before, previous.entry);
      prompts.push({ messageNumber, entry: node, before, end: node.id });
      [before, isAnswered] = [[], false];
      continue;
    }
    if (node.type === "seed" && answered.has(node.id)) {
      prompts.push({ messageNumber: messageNumber + 1, entry: node, before, end: node.id });
      [before, isAnswered] = [[], true];
      continue;
    }
    if (node.type === "message" && node.message.role !== "user") {
      isAnswered = true;
      // What a turn set itself is written before the result that set it.
      before = before.filter(({ type }) => type !== "state_change" && type !== "skill_change");
    }
    const open = prompts.at(-1);
    if (open !== undefined && before.length === 0) open.end = node.id;
  }
  const keptTo = branch[first - 1]?.id ?? null;
  return { prompts, keptTo, nodes: branch.slice(first), messages: counted.length };
}

/**
 * Which message a replay begins with so that an entry is among what is answered anew: itself where a person said it, else the prompt
 * that it came of. Null: it is not on the branch.
 */
export function firstMessageFor(
  branch: readonly BranchNode[],
  entry: string,
  part: Omit<ReplayRange, "from">,
): number | null {
  const index = branch.findIndex(({ id }) => id === entry);
  if (index === -1) return null;
  const { start = 0 } = part;
  const node = branch[index];
  if (node?.type === "message" && node.message.role === "user" && node.hidden !== true && index >= start)
    return branch.slice(start, index + 1).filter(({ type }) => type === "message").length;
  const { prompts } = promptsToReplay(branch, part);
  const before = new Set<string>(branch.slice(0, index + 1).map(({ id }) => id));
  const prompt = prompts.findLast((one) => before.has(one.entry.id)) ?? prompts[0];
  return prompt?.messageNumber ?? 1;
}
