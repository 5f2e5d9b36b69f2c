import { entryDigest } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { sha256 } from "#store/sha256";
import { readLog } from "#conversation/read-log";

export interface SharedPrefix {
  /** The target's last entry: up to it both are the same. */
  readonly seq: number;
  /** Their links are, too. */
  readonly exact: boolean;
}

/** Where a log is that may not be there. */
export async function findHead(space: SpaceStore, conversation: ConversationId): Promise<HeadView | null> {
  try {
    return await space.head(conversation);
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}

/** That what the target has is how the source begins; anything else is refused. `known`: as was found before. */
export async function sharedPrefix(
  from: SpaceStore,
  to: SpaceStore,
  of: { readonly head: HeadView; readonly there: HeadView; readonly known: number },
): Promise<SharedPrefix> {
  const { head, there, known } = of;
  const { conversation, headSeq: seq } = there;
  if (seq <= head.headSeq) {
    const [end] = await from.batchEnds({ conversation, after: seq - 1, limit: 1 });
    // A link holds everything before it.
    if (end?.seq === seq && end.link === there.link) return { seq, exact: true };
    if (seq === known) return { seq, exact: false };
  }
  const other = await firstDifference(from, to, conversation);
  if (other === null && seq <= head.headSeq) return { seq, exact: false };
  throw diverged(conversation, other ?? head.headSeq + 1);
}

/** The first entry that both have and that is not the same in both; null: there is none. */
async function firstDifference(
  from: SpaceStore,
  to: SpaceStore,
  conversation: ConversationId,
): Promise<number | null> {
  const copies = readLog(to, conversation)[Symbol.asyncIterator]();
  try {
    for await (const entry of readLog(from, conversation)) {
      const copy = await copies.next();
      if (copy.done === true) return null;
      if (!isSame(entry, copy.value)) return entry.seq;
    }
    return null;
  } finally {
    await copies.return?.(undefined);
  }
}

function isSame(one: StoredEntry, other: StoredEntry): boolean {
  return one.parentId === other.parentId && entryDigest(sha256, one) === entryDigest(sha256, other);
}

export function diverged(conversation: ConversationId, seq: number): LogError {
  return new LogError(
    "diverged",
    `The conversation ${conversation} of the target is another one from entry ${seq} on: it was written to, or is not a copy of this one. It is left as it is`,
    { conversation, seq },
  );
}
