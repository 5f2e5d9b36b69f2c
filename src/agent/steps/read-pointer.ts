import type { Conversation } from "#conversation/conversation";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryOf } from "#log/entry";
import { LogError } from "#log/errors";
import { stepOutcome, type TurnPointer } from "./turn-pointer.ts";

const PAGE_ENTRIES = 64;

/**
 * The pointer to a step that is in the log, made from the log alone. `fromSeq`: where the batch that ended it begins, unless
 * nothing ended it. It covers what came after the answer before, or after the turn's start. `end`: of the log, by whoever wrote it.
 */
export async function readPointer(
  conversation: Conversation,
  at: { readonly fromSeq?: number; readonly toSeq: number },
  end: StepEnd | null = null,
): Promise<TurnPointer> {
  const { toSeq } = at;
  const { entries, from } = await readStep(conversation, at.fromSeq ?? toSeq + 1, toSeq);
  const { lastId, link } = end ?? (await endAt(conversation, toSeq));
  if (lastId === null) throw diverged(conversation, toSeq, "it is not there");
  return { v: 1, fromSeq: Math.min(from, toSeq), toSeq, lastId, link, ...stepOutcome(entries) };
}

/** The last entry of a step, and the hash of the batch that ends with it. */
interface StepEnd {
  readonly lastId: string | null;
  readonly link: string | null;
}

/** What a step is told from, oldest first, and where it begins: behind the answer, or the turn's start, that comes last before a seq. */
async function readStep(
  { space, id: conversation }: Conversation,
  before: number,
  toSeq: number,
): Promise<{ readonly entries: readonly Entry[]; readonly from: number }> {
  const types = ["message", "turn_start", "attempt_end", "turn_end"] as const;
  const entries: Entry[] = [];
  let after = toSeq + 1;
  for (let limit = 4; ; limit = PAGE_ENTRIES) {
    const page = await space.read({ conversation, after, limit, newestFirst: true, types });
    for (const stored of page) {
      const entry = decodeEntry(stored);
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

async function endAt({ space, id: conversation }: Conversation, seq: number): Promise<StepEnd> {
  const [entry] = await space.read({ conversation, after: seq - 1, until: seq, limit: 1 });
  const [end] = await space.batchEnds({ conversation, after: seq - 1, limit: 1 });
  return { lastId: entry?.id ?? null, link: end?.seq === seq ? end.link : null };
}

/** Refuses a pointer to something that the log does not have, or has other words for. */
export async function checkPointer(conversation: Conversation, pointer: TurnPointer): Promise<void> {
  const { toSeq, lastId, link } = pointer;
  const found = await endAt(conversation, toSeq);
  if (found.lastId !== lastId)
    throw diverged(
      conversation,
      toSeq,
      found.lastId === null ? "the log ends before it" : "it is another entry now",
    );
  if (found.link !== link) throw diverged(conversation, toSeq, "what was written up to it is not the same");
}

function diverged({ id }: Conversation, seq: number, how: string): LogError {
  return new LogError(
    "diverged",
    `The engine has a step that ends with entry ${seq} of conversation ${id}, and ${how}: the store is not the one that step wrote to. A copy may have been restored, or a standby that had lost what was acknowledged. Nothing was written; bring back the newer store, or begin a new task`,
    { conversation: id, seq },
  );
}

/** The turn that an entry belongs to, and its end if it had come by then. */
export interface TurnAt {
  readonly start: EntryOf<"turn_start">;
  readonly end: EntryOf<"turn_end"> | null;
}

export async function readTurnAt({ space, id }: Conversation, seq: number): Promise<TurnAt> {
  const types = ["turn_start", "turn_end"] as const;
  const newest = await space.read({ conversation: id, after: seq + 1, limit: 2, newestFirst: true, types });
  const [last, before] = newest.map((stored) => decodeEntry(stored));
  if (last?.type === "turn_start") return { start: last, end: null };
  if (last?.type === "turn_end" && before?.type === "turn_start") return { start: before, end: last };
  throw new LogError("damaged", `Entry ${seq} of conversation ${id} belongs to no turn`, { seq });
}

/** How a turn ended, by whomever; null when it has not. */
export async function readTurnEnd(
  { space, id: conversation }: Conversation,
  { seq: after, turn }: EntryOf<"turn_start">,
): Promise<EntryOf<"turn_end"> | null> {
  const [stored] = await space.read({ conversation, after, limit: 1, types: ["turn_end"] });
  const end = stored === undefined ? null : decodeEntry(stored);
  return end?.type === "turn_end" && end.turn === turn ? end : null;
}

/** Where the batch ends that an entry is in. */
export async function batchEndOf({ space, id: conversation }: Conversation, seq: number): Promise<number> {
  const [end] = await space.batchEnds({ conversation, after: seq - 1, limit: 1 });
  return end?.seq ?? seq;
}
