import type { Entry, EntryOf } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import { LogError } from "#log/errors";
import { fieldsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { detailsOf } from "#log/message";
import type { Conversation } from "#conversation/conversation";

/** An engine's record of a step: the place of its entries, a check of them, and facts for the loop. */
export type TurnPointer = {
  readonly v: 1;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** The entry at `toSeq`: a seq may come again with other words. */
  readonly lastId: string;
  /** Of the batch that ends there; null in a log from before there were links. */
  readonly link: string | null;
  /** How the answer ended; without one, how the turn did, or that it waits. */
  readonly finishReason: string;
  /** What all attempts of the step used. */
  readonly usage: { readonly [counter: string]: number };
  readonly executedLocalToolCount: number;
};

/** A step that ended with neither an answer nor the turn's end: a person is asked. */
export const WAITS = "waiting";

/** Derives the outcome of a step from its entries alone, so every attempt gets the same. */
function stepOutcome(
  entries: Iterable<Entry>,
): Pick<TurnPointer, "finishReason" | "usage" | "executedLocalToolCount"> {
  let [answered, ended, executedLocalToolCount]: [string | null, string | null, number] = [null, null, 0];
  const usage: { [counter: string]: number } = {};
  for (const entry of entries) {
    if (entry.type === "turn_end") ended = entry.class ?? entry.outcome;
    if (entry.type === "message") {
      const { message } = entry;
      if (message.role === "assistant") answered = message.stopReason ?? "endTurn";
      // A call that was refused has a result, too.
      if (message.role === "toolResult" && fieldsIn(detailsOf(entry))?.["notRun"] !== true)
        executedLocalToolCount++;
    }
    const spent = summaryChange(entry.type, entry, entry.time)?.spent?.usage ?? {};
    for (const [counter, count] of Object.entries(spent) as [string, number][])
      usage[counter] = (usage[counter] ?? 0) + count;
  }
  return { finishReason: answered ?? ended ?? WAITS, usage, executedLocalToolCount };
}

/** What an engine gave back for a step; refused where it is nothing that this version wrote. */
export function parsePointer(stored: Json, step: string): TurnPointer {
  const fields = fieldsIn(stored) ?? {};
  const { v, fromSeq, toSeq, lastId, link, finishReason, usage, executedLocalToolCount } = fields;
  if (typeof v === "number" && v !== 1)
    throw new LogError(
      "unsupported_version",
      `Step "${step}" was written by a newer version (${v}). Upgrade Holdfast, or start a new task.`,
      { step, version: v },
    );
  const counts = fieldsIn(usage);
  if (
    v !== 1 ||
    !isCount(fromSeq) ||
    !isCount(toSeq) ||
    typeof lastId !== "string" ||
    !(link === null || typeof link === "string") ||
    typeof finishReason !== "string" ||
    counts === null ||
    !isCount(executedLocalToolCount)
  )
    throw new LogError(
      "invalid_request",
      `The engine's result of step "${step}" is not a Holdfast step: another step has the same name. Rename one of them.`,
      { step },
    );
  const numbers = Object.entries(counts).filter((pair): pair is [string, number] => isCount(pair[1]));
  return {
    v,
    fromSeq,
    toSeq,
    lastId,
    link,
    finishReason,
    usage: Object.fromEntries(numbers),
    executedLocalToolCount,
  };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

const PAGE_ENTRIES = 64;

/**
 * The pointer to a step that is in the log, made from the log alone. `fromSeq`: where the batch that ended it begins, unless
 * nothing ended it. It covers what came after the answer before, or after the turn's start. `end`: of the log, by whoever wrote it.
 */
export async function readPointer(
  conversation: Conversation,
  range: { readonly fromSeq?: number; readonly toSeq: number },
  end: StepEnd | null = null,
): Promise<TurnPointer> {
  const { toSeq } = range;
  const { entries, from } = await readStep(conversation, range.fromSeq ?? toSeq + 1, toSeq);
  const { lastId, link } = end ?? (await endAt(conversation, toSeq));
  if (lastId === null) throw diverged(conversation, toSeq, "it is missing");
  return { v: 1, fromSeq: Math.min(from, toSeq), toSeq, lastId, link, ...stepOutcome(entries) };
}

/** The last entry of a step, and the hash of the batch that ends with it. */
interface StepEnd {
  readonly lastId: string | null;
  readonly link: string | null;
}

/** What a step is told from, oldest first, and where it begins: behind the answer, or the turn's start, that comes last before a seq. */
async function readStep(
  conversation: Conversation,
  before: number,
  toSeq: number,
): Promise<{ readonly entries: readonly Entry[]; readonly from: number }> {
  const types = ["message", "turn_start", "attempt_end", "turn_end"] as const;
  const entries: Entry[] = [];
  let after = toSeq + 1;
  for (let limit = 4; ; limit = PAGE_ENTRIES) {
    const page = await conversation.read({ after, limit, newestFirst: true, types });
    for (const entry of page) {
      const begins = entry.seq < before && (entry.type === "turn_start" || isAnswer(entry));
      if (!begins || entry.seq === toSeq) entries.push(entry);
      if (begins) return { entries: entries.toReversed(), from: entry.seq + 1 };
    }
    if (page.length < limit) return { entries: entries.toReversed(), from: 1 };
    after = page.at(-1)?.seq ?? 0;
  }
}

function isAnswer(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "assistant";
}

async function endAt(conversation: Conversation, seq: number): Promise<StepEnd> {
  const [entry] = await conversation.entries({ after: seq - 1, until: seq, limit: 1 });
  const [end] = await conversation.batchEnds({ after: seq - 1, limit: 1 });
  return { lastId: entry?.id ?? null, link: end?.seq === seq ? end.link : null };
}

/** Refuses a pointer to something that the log does not have, or has other words for. */
export async function checkPointer(conversation: Conversation, pointer: TurnPointer): Promise<void> {
  const { toSeq, lastId, link } = pointer;
  const end = await endAt(conversation, toSeq);
  if (end.lastId !== lastId)
    throw diverged(
      conversation,
      toSeq,
      end.lastId === null ? "the log ends before that entry" : "the entry is different now",
    );
  if (end.link !== link) throw diverged(conversation, toSeq, "the entries before it are different");
}

function diverged({ id }: Conversation, seq: number, problem: string): LogError {
  return new LogError(
    "diverged",
    `A step of the engine ends with entry ${seq} of conversation ${id}, but ${problem}. The store was probably restored from a backup, or failed over to a standby that lacked the entries. Restore the newer store, or start a new task.`,
    { conversation: id, seq },
  );
}

/** The turn that an entry belongs to, and its end if it had come by then. */
export interface TurnFacts {
  readonly start: EntryOf<"turn_start">;
  readonly end: EntryOf<"turn_end"> | null;
}

export async function readTurnFacts(conversation: Conversation, seq: number): Promise<TurnFacts> {
  const types = ["turn_start", "turn_end"] as const;
  const [last, before] = await conversation.read({ after: seq + 1, limit: 2, newestFirst: true, types });
  if (last?.type === "turn_start") return { start: last, end: null };
  if (last?.type === "turn_end" && before?.type === "turn_start") return { start: before, end: last };
  throw new LogError("damaged", `Entry ${seq} of conversation ${conversation.id} is not part of a turn`, {
    seq,
  });
}

/** Returns the end of a turn, whichever process wrote it; null while it is open. */
export async function readTurnEnd(
  conversation: Conversation,
  { seq: after, turn }: EntryOf<"turn_start">,
): Promise<EntryOf<"turn_end"> | null> {
  const [end] = await conversation.read({ after, limit: 1, types: ["turn_end"] });
  return end?.turn === turn ? end : null;
}

/** Where the batch ends that an entry is in. */
export async function batchEndOf(conversation: Conversation, seq: number): Promise<number> {
  const [end] = await conversation.batchEnds({ after: seq - 1, limit: 1 });
  return end?.seq ?? seq;
}
