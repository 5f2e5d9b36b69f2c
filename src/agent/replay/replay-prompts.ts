import type { Entry, EntryBody, EntryOf } from "#log/entry";
import type { EntryId } from "#log/ids";

/** An entry before a prompt and after the turn before it: a message without an answer, a reset, and what the host set. */
export type BeforePrompt = EntryOf<"message"> | Extract<EntryBody, { type: "reset" | Setting }>;

type Setting = "state_change" | "skill_change";

/** A prompt of a branch, to be sent once more. */
export interface ReplayPrompt {
  /** Which message it is of those that are counted, from 1; of seeds, the one that answered them. */
  readonly messageNumber: number;
  /** A message of a user, or seeds that ended with what was to be answered. */
  readonly entry: EntryOf<"message"> | EntryOf<"seed">;
  readonly before: readonly BeforePrompt[];
  /** The last node that came of it; itself where nothing did. */
  readonly end: EntryId;
}

/** The part of a branch that is sent again. */
export interface PromptsToReplay {
  readonly prompts: readonly ReplayPrompt[];
  /** The last node that is kept; null where there is none. */
  readonly keptTo: EntryId | null;
  /** The nodes behind it. */
  readonly nodes: readonly Entry[];
  /** How many messages there are to count. */
  readonly messages: number;
}

type BranchNode = Entry & { readonly hidden?: boolean };

export interface ReplayRange {
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
