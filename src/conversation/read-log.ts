import { decodeEntry } from "#log/codec";
import type { Entry, EntryType, StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { ForkPoint } from "#log/lineage/head";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";

export const SCAN_ENTRIES = 512; // of all at once: decoded within a few milliseconds
const DIRECT_ENTRIES = 2_048; // what is longer than this is read from another thread, where the store has one

/** Gives whatever else waits in this process its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Reads a stretch after another. What is long is read ahead, from another thread where the store has one, and between
 * two stretches everyone else has a turn: a whole log may take its time, the event loop may not.
 */
export async function* stretches<F, S extends { readonly size: number; readonly next: F | null }>(
  read: (from: F | null, scan: boolean) => Promise<S>,
): AsyncGenerator<S> {
  let entries = 0;
  let ahead: Promise<S> | null = null;
  for (let from: F | null = null, first = true; first || from !== null; first = false) {
    const stretch: S = await (ahead ?? read(from, false));
    entries += stretch.size;
    from = stretch.next;
    ahead = from !== null && entries >= DIRECT_ENTRIES ? read(from, true) : null;
    ahead?.catch(() => undefined); // whoever stops early does not ask for it
    yield stretch;
    if (from !== null) await nextTurn();
  }
}

interface LogWanted {
  readonly after?: number;
  readonly types?: readonly EntryType[];
  readonly upTo?: number;
}

/** A conversation's own entries in order, a stretch at a time. */
export async function* readLog(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: LogWanted = {},
): AsyncGenerator<StoredEntry> {
  for await (const { entries } of readStretches(space, conversation, wanted)) yield* entries;
}

interface LogStretch {
  readonly entries: readonly StoredEntry[];
  readonly size: number;
  readonly next: number | null;
}

async function* readStretches(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: LogWanted,
): AsyncGenerator<LogStretch> {
  const { types, upTo = Number.POSITIVE_INFINITY } = wanted;
  let after = Math.max(0, wanted.after ?? 0);
  // Only a reader of everything can tell a lost entry from one it did not ask for.
  const end = types === undefined ? Math.min(upTo, (await space.head(conversation)).headSeq) : 0;
  const read = async (from: number | null, scan: boolean): Promise<LogStretch> => {
    const entries = await space.read({
      conversation,
      after: from ?? after,
      limit: SCAN_ENTRIES,
      scan,
      ...(types === undefined ? {} : { types }),
      ...(wanted.upTo === undefined ? {} : { until: wanted.upTo }),
    });
    const next = entries.length < SCAN_ENTRIES ? null : (entries.at(-1)?.seq ?? null);
    return { entries, size: entries.length, next };
  };
  for await (const stretch of stretches<number, LogStretch>(read)) {
    for (const stored of types === undefined ? stretch.entries : []) {
      if (stored.seq !== after + 1) throw lostEntry(conversation, after + 1, stored.seq);
      after = stored.seq;
    }
    yield stretch;
  }
  if (after < end) throw lostEntry(conversation, after + 1, null);
}

function lostEntry(conversation: ConversationId, seq: number, resumesSeq: number | null): LogError {
  return new LogError("damaged", `Conversation ${conversation} is damaged: entry ${seq} is missing`, {
    conversation,
    seq,
    reachableSeq: seq - 1,
    resumesSeq,
  });
}

/** Entries that are lost, where a damaged log is read on past them. */
export interface LostEntries {
  readonly fromSeq: number;
  /** Null: all that follows. */
  readonly toSeq: number | null;
}

/** The entries of a damaged log that can be read, and in their order the gaps between them. */
export async function* readDamaged(
  space: SpaceStore,
  conversation: ConversationId,
  from: number,
): AsyncGenerator<StoredEntry | LostEntries> {
  let after = from;
  let until: number | undefined;
  for (;;) {
    try {
      const limit = SCAN_ENTRIES;
      const part = { conversation, after, limit, ...(until === undefined ? {} : { until }) };
      const entries = await space.read(part);
      for (const entry of entries) {
        if (entry.seq > after + 1) yield { fromSeq: after + 1, toSeq: entry.seq - 1 };
        after = entry.seq;
        yield entry;
      }
      if (entries.length < limit && until === undefined) return;
      if (entries.length < limit || after === until) until = undefined;
    } catch (error) {
      const gap = gapIn(error);
      if (gap === null) throw error;
      if (gap.reachableSeq > after) until = gap.reachableSeq;
      else {
        yield { fromSeq: after + 1, toSeq: gap.resumesSeq === null ? null : gap.resumesSeq - 1 };
        if (gap.resumesSeq === null) return;
        after = Math.max(after, gap.resumesSeq - 1);
      }
    }
  }
}

function gapIn(error: unknown): { readonly reachableSeq: number; readonly resumesSeq: number | null } | null {
  if (!isLogError(error, "damaged")) return null;
  const { reachableSeq, resumesSeq } = error.details;
  if (typeof reachableSeq !== "number") return null;
  return { reachableSeq, resumesSeq: typeof resumesSeq === "number" ? resumesSeq : null };
}

export async function readEntries(
  space: SpaceStore,
  conversation: ConversationId,
  types?: readonly EntryType[],
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  await eachEntry(space, conversation, {
    ...(types === undefined ? {} : { types }),
    onEntry: (entry) => entries.push(entry),
  });
  return entries;
}

/** Hands over a conversation's own entries in order, as they are read. */
export function eachEntry(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: LogWanted & { readonly onEntry: (entry: Entry) => unknown },
): Promise<void> {
  return eachStored(space, conversation, {
    ...wanted,
    onStored: (stored) => wanted.onEntry(decodeEntry(stored)),
  });
}

/** The same as they are stored, for those who need not look into all of them. */
export async function eachStored(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: LogWanted & { readonly onStored: (stored: StoredEntry) => unknown },
): Promise<void> {
  for await (const { entries } of readStretches(space, conversation, wanted))
    for (const stored of entries) wanted.onStored(stored);
}

/** Where a fork was taken, where its source was, and so on, the oldest first: of each source it sees what lies before `head`. */
export async function inheritedLogs(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<readonly ForkPoint[]> {
  const points: ForkPoint[] = [];
  let { origin } = await space.head(conversation);
  while (origin !== null) {
    const above: HeadView | null = await space.head(origin.source).catch(ifErased);
    if (above === null) break;
    points.unshift(origin);
    origin = above.origin;
  }
  return points;
}

/** The same as far as the fork's own branch goes: entries that a source wrote after the node it was forked at are not of it. */
export async function inheritedBranch(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<readonly { readonly source: ConversationId; readonly upTo: number }[]> {
  const logs: { source: ConversationId; upTo: number }[] = [];
  let at: ForkPoint | null = null;
  for (const point of (await inheritedLogs(space, conversation)).toReversed()) {
    at ??= point;
    const { source } = point;
    // A fork at a node that its source has inherited saw nothing of that source itself.
    if (at.conversation !== source) continue;
    logs.unshift({ source, upTo: (await space.entry(source, at.entry)).seq });
    at = null;
  }
  return logs;
}

/** An erased source has no records left to show; what the fork stands on is read by path. */
function ifErased(error: unknown): null {
  if (!isLogError(error, "conversation_not_found")) throw error;
  return null;
}

/** The entries of the logs above a fork, as far as it sees them. */
export async function readInherited(
  space: SpaceStore,
  conversation: ConversationId,
  types: readonly EntryType[],
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const { source, head: upTo } of await inheritedLogs(space, conversation))
    await eachEntry(space, source, { types, upTo, onEntry: (entry) => entries.push(entry) });
  return entries;
}
