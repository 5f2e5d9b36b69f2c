import { bareOrigin, digestsNamed, planErase } from "#log/plans/plan-erase";
import type { StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId, Digest, EntryId, SpaceId } from "#log/ids";
import type { ForkPoint, Place } from "#log/lineage/head";
import { findVisible } from "#log/lineage/lineage";
import { conversationNotFound } from "#store/lookup-errors";
import { lineageOf, openNow, settled } from "./indexed-lineage.ts";
import type { ForkRemainder, IndexedLog, LogRow, IndexedLogs } from "./indexed-log.ts";
import type { CheckRequest, Finding } from "#store/requests";

const ENTRIES_STEP = 256; // bodies held at once while looking for the blobs they name

/** Erases one conversation, then the parts of erased conversations above that only it needed. */
export async function eraseLog(
  logs: IndexedLogs,
  space: SpaceId,
  conversation: ConversationId,
): Promise<void> {
  const log = await openNow(logs, space, conversation);
  if (log === null || log.erased) throw conversationNotFound(conversation);
  await trimUpwards(logs, space, log);
}

/** From the fork up, always: the rest of a fork must not point at an entry that its source has lost. */
async function trimUpwards(logs: IndexedLogs, space: SpaceId, from: IndexedLog): Promise<void> {
  let log: IndexedLog | null = from;
  while (log !== null) {
    const source: ConversationId | undefined = log.index.head.origin?.source;
    if (log === from || log.erased) await trimOne(logs, space, log.conversation);
    log = source === undefined ? null : await openNow(logs, space, source);
  }
}

/**
 * A fork is made under its source's lock, so none can begin between the count and the cut. One can end, and whoever
 * ended it may have looked here before the cut and gone: so it is counted again after each cut, until nothing changes.
 */
async function trimOne(logs: IndexedLogs, space: SpaceId, conversation: ConversationId): Promise<void> {
  await logs.locked(space, conversation, async () => {
    let log = await openNow(logs, space, conversation);
    while (log !== null) {
      const forkRemainder = await forkRemainderOf(logs, space, log);
      if (forkRemainder !== null && (await isTrimmed(log, forkRemainder))) return;
      await logs.trim(space, conversation, forkRemainder);
      if (forkRemainder === null) return;
      log = await openNow(logs, space, conversation);
    }
  });
}

async function isTrimmed(log: IndexedLog, forkRemainder: ForkRemainder): Promise<boolean> {
  const { head, entries } = log.index;
  const hasNames = head.origin !== null && head.cwd !== null;
  return (
    log.erased &&
    !hasNames &&
    head.origin?.entry === forkRemainder.origin?.entry &&
    entries.length === forkRemainder.entries.length &&
    (await log.blobs()).every((digest) => forkRemainder.blobs.has(digest))
  );
}

/** What must stay of a conversation that was erased, or is about to be; null: nothing. */
async function forkRemainderOf(
  logs: IndexedLogs,
  space: SpaceId,
  log: IndexedLog,
): Promise<ForkRemainder | null> {
  const all = await logs.list(space);
  const needed = await neededOf(logs, space, log, all);
  if (needed === null) return null;
  const { origin, seqs } = needed;
  const rows = await log.fetch([...seqs].toSorted((a, b) => a - b));
  if (rows.length !== seqs.size)
    throw new LogError(
      "damaged",
      `Conversation ${log.conversation} cannot be erased: it lacks entries that its forks share`,
      { conversation: log.conversation },
    );
  const entries = rows.map((entry) =>
    entry.seq === 1 && origin !== null ? bareOrigin(entry, origin) : entry,
  );
  const below = forksBelow(log.conversation, all);
  return { entries, origin, blobs: await blobsNeeded(logs, space, { log, entries, below }) };
}

interface Needed {
  readonly seqs: ReadonlySet<number>;
  /** For one that was itself a fork: its origin, pointing no deeper than its forks look. */
  readonly origin: ForkPoint | null;
}

/** What the rule says must stay, as entries of the log. */
async function neededOf(
  logs: IndexedLogs,
  space: SpaceId,
  log: IndexedLog,
  all: readonly LogRow[],
): Promise<Needed | null> {
  const { conversation, index } = log;
  const { indexes } = await lineageOf(logs, space, log);
  const placeOf = (id: EntryId): Place | null => findVisible(indexes, conversation, id)?.place ?? null;
  const plan = planErase<Place>({
    forks: (await directForks(logs, space, conversation, all)).map(({ entry, head }) => ({
      point: placeOf(entry) ?? lost(conversation, entry),
      head,
    })),
    hides: index.hideFacts.map(({ seq, target }) => ({ seq, target: placeOf(target) })),
    isOwn: (place) => place.conversation === conversation,
    segmentName: (place) => `${place.conversation} ${place.segment}`,
    ancestorOf: (place) => indexes.get(place.conversation)?.ancestorOf(place.segment) ?? null,
  });
  if (plan === null) return null;
  const seqs = new Set([1, ...plan.hides]);
  for (const { seq, place } of index.entries)
    if (place !== null && place.depth <= (plan.depths.get(place.segment) ?? -1)) seqs.add(seq);
  const { origin } = index.head;
  const { above } = plan;
  if (origin === null || above === null) return { seqs, origin: null };
  const entry = indexes.get(above.conversation)?.entryAt(above)?.id ?? lost(conversation, origin.entry);
  return { seqs, origin: { ...above, source: origin.source, entry, head: origin.head } };
}

function lost(conversation: ConversationId, entry: EntryId): never {
  throw new LogError(
    "damaged",
    `Conversation ${conversation} cannot be erased: it lacks entry ${entry}, which its forks share`,
    { conversation, entry },
  );
}

/** Where the forks right below grow from. An erased one names the deepest node that its own forks still look at. */
async function directForks(
  logs: IndexedLogs,
  space: SpaceId,
  source: ConversationId,
  all: readonly LogRow[],
): Promise<readonly ForkPoint[]> {
  const forks: ForkPoint[] = [];
  for (const listed of all) {
    if (listed.conversation === source) continue;
    if (listed.unread === true) throw mayBeFork(source, listed.conversation, listed.damage ?? "");
    if (listed.origin?.conversation !== source) continue;
    const fork = await openNow(logs, space, listed.conversation);
    if (fork === null) continue;
    const { origin, headSeq } = fork.index.head;
    if (headSeq === 0) throw mayBeFork(source, listed.conversation, fork.damage?.message ?? "");
    // Erased and created again since it was listed: now it is a fork of another conversation, or of none.
    if (origin?.source !== source) continue;
    forks.push(origin);
  }
  return forks;
}

function mayBeFork(source: ConversationId, fork: ConversationId, why: string): LogError {
  return new LogError(
    "damaged",
    `Conversation ${source} cannot be erased: ${fork} may be a fork of it and cannot be read (${why}). Repair, move or erase ${fork} first.`,
    { conversation: fork },
  );
}

/** Everything that was forked from a conversation, near and far, erased or not. */
function forksBelow(conversation: ConversationId, all: readonly LogRow[]): ReadonlySet<ConversationId> {
  const forks = Map.groupBy(all, ({ origin }) => origin?.conversation);
  const below = new Set<ConversationId>();
  const ahead: ConversationId[] = [conversation];
  for (let source = ahead.pop(); source !== undefined; source = ahead.pop())
    for (const fork of forks.get(source) ?? []) {
      // Damaged files may name each other as source.
      if (fork.conversation === conversation || below.has(fork.conversation)) continue;
      below.add(fork.conversation);
      ahead.push(fork.conversation);
    }
  return below;
}

/** The blobs that kept entries name, or entries of any conversation that inherits them. */
async function blobsNeeded(
  logs: IndexedLogs,
  space: SpaceId,
  of: {
    readonly log: IndexedLog;
    readonly entries: readonly StoredEntry[];
    readonly below: ReadonlySet<ConversationId>;
  },
): Promise<ReadonlySet<Digest>> {
  const blobs = await of.log.blobs();
  const digests = new Set<string>(blobs);
  const named = new Set<Digest>();
  const look = (entries: readonly StoredEntry[]): void => {
    for (const { payload } of entries) for (const digest of digestsNamed(payload, digests)) named.add(digest);
  };
  look(of.entries);
  for (const conversation of digests.size === 0 ? [] : of.below) {
    const whole = await settled(async () => {
      const fork = await logs.open(space, conversation);
      const seqs = fork?.index.entries.map((entry) => entry.seq) ?? [];
      for (let from = 0; from < seqs.length; from += ENTRIES_STEP)
        look((await fork?.fetch(seqs.slice(from, from + ENTRIES_STEP))) ?? []);
      return !fork?.damage;
    });
    // What lies behind a damage may name any of them.
    if (!whole) return new Set(blobs);
  }
  return named;
}

/** Erased conversations that hold more than anyone needs: an erase was cut off before it came to them. */
export async function checkNeededByForks(
  logs: IndexedLogs,
  space: SpaceId,
  request: CheckRequest,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { conversation, erased } of await logs.list(space)) {
    if (!erased) continue;
    try {
      const log = await openNow(logs, space, conversation);
      if (log === null || !log.erased) continue;
      const forkRemainder = await forkRemainderOf(logs, space, log);
      if (forkRemainder !== null && (await isTrimmed(log, forkRemainder))) continue;
      if (request.repair) await trimUpwards(logs, space, log);
      findings.push({
        conversation,
        severity: "note",
        message: `Conversation ${conversation} was erased, but more entries remain than its forks need`,
        position: null,
        reachableSeq: null,
        repaired: request.repair,
      });
    } catch (error) {
      // The damage is reported already, and none of its bytes may be removed.
      if (!isLogError(error, "damaged")) throw error;
    }
  }
  return findings;
}
