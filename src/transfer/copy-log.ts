import { entryDigest, LINKED_VERSION } from "#log/batch-links";
import { FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { LogError, isLogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { sha256 } from "#store/sha256";
import { batchesAfter, type BatchStart, type LogBatch } from "#transfer/bundles/export-batches";
import { readLog } from "#conversation/read-log";
import { BATCH_ENTRIES_MAX } from "#log/batch";
import { contentBlobs, possibleBlobs } from "#log/blob-names";
import { parseBody } from "#log/body";
import { bodyLine, decodeEntry } from "#log/codec";
import type { ForkPoint } from "#log/lineage/head";
import type { Durability } from "#log/plans/durability";
import { originBody } from "#log/plans/plan-start";
import { type Prepared, prepare, systemIdsAndTime } from "#store/prepare";
import { Conversation } from "#conversation/conversation";
import { ConversationReader } from "#conversation/conversation-reader";
import { blobOf } from "#transfer/bundles/export-lines";

/** The two sides of a copy, and who is told how it goes. */
export interface CopySides extends WriterOptions {
  /** Fires when no further batch is to be begun. */
  readonly signal: AbortSignal | undefined;
}

export interface LogCopy {
  readonly entries: number;
  readonly blobs: number;
  /** The images that are named and cannot be had. */
  readonly missing: readonly string[];
  /** Up to which entry both are the same now. */
  readonly toSeq: number;
}

/**
 * Brings one log of the target up to what its source is now: the same entries in the same batches by the same kinds of
 * author, so that the target makes the very links that the source has. What is there already is not written again. `known`:
 * up to where both were found to be the same before.
 */
export async function copyLog(
  sides: CopySides,
  conversation: ConversationId,
  sameUpTo: number = 0,
): Promise<LogCopy> {
  const { from, to, signal } = sides;
  // In this order, a concurrent copy never looks as if it were ahead of the source.
  const there = await findHead(to, conversation);
  const head = await from.head(conversation);
  const prefix: SharedPrefix =
    there === null
      ? { seq: 0, exact: true }
      : await sharedPrefix(from, to, { head, there, sameUpTo: Math.min(sameUpTo, there.headSeq) });
  const writer = new LogWriter(sides, head);
  const after = prefix.seq;
  if (after > sameUpTo) await writer.finishFirst(after);
  let [toSeq, exact] = [after, prefix.exact];
  const write = async (batch: LogBatch, durability: "full" | "relaxed"): Promise<void> => {
    const entries = batch.entries.filter(({ seq }) => seq > after);
    exact &&= batch.end !== null && entries.every(({ v }) => v === FORMAT_VERSION);
    await writer.write({ entries, end: batch.end }, durability);
    toSeq = entries.at(-1)?.seq ?? toSeq;
  };
  if (after < head.headSeq) {
    const start = await startBehind(from, head, after);
    let last: LogBatch | null = null;
    const log = new ConversationReader(conversation, from);
    for await (const batch of batchesAfter(log, head, start)) {
      if (signal?.aborted === true) break;
      if ((batch.entries.at(-1)?.seq ?? 0) <= after) continue;
      if (last !== null) await write(last, "relaxed");
      last = batch;
    }
    // With the last batch all are on the disk; until then a copy can be run again.
    if (last !== null) await write(last, "full");
    if (exact && toSeq === head.headSeq) await checkEnd(to, head);
  }
  const { blobs, missing } = writer;
  return { entries: toSeq - after, blobs, missing: [...missing], toSeq };
}

/** Where the source is read from: behind what the target has, or from its first entry where no batch ends there. */
async function startBehind(from: SpaceStore, head: HeadView, after: number): Promise<BatchStart> {
  const { conversation, origin, ownerLink } = head;
  if (after > 0) {
    const [end] = await from.batchEnds({ conversation, after: after - 1, limit: 1 });
    if (end?.seq === after) return { after, start: end.link, ownerLink };
    const last = await entryAt(from, conversation, after);
    if (last !== undefined && last.v < LINKED_VERSION)
      return { after, start: entryDigest(sha256, last), ownerLink };
  }
  const node = origin === null ? null : await from.entry(conversation, origin.entry);
  return { after: 0, start: node === null ? "" : entryDigest(sha256, node), ownerLink: null };
}

async function entryAt(
  space: SpaceStore,
  conversation: ConversationId,
  seq: number,
): Promise<StoredEntry | undefined> {
  const [entry] = await space.read({ conversation, after: seq - 1, limit: 1 });
  return entry;
}

/** The target has made its links from what it was given: where they are the source's, all of it is. */
async function checkEnd(to: SpaceStore, { conversation, headSeq, link }: HeadView): Promise<void> {
  const [end] = await to.batchEnds({ conversation, after: headSeq - 1, limit: 1 });
  if (end?.seq === headSeq && end.link === link) return;
  throw new LogError(
    "diverged",
    `The copy of ${conversation} differs from the original at entry ${headSeq}: another program writes to the copy`,
    { conversation, seq: headSeq },
  );
}

interface SharedPrefix {
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
async function sharedPrefix(
  from: SpaceStore,
  to: SpaceStore,
  of: { readonly head: HeadView; readonly there: HeadView; readonly sameUpTo: number },
): Promise<SharedPrefix> {
  const { head, there, sameUpTo } = of;
  const { conversation, headSeq: seq } = there;
  if (seq <= head.headSeq) {
    const [end] = await from.batchEnds({ conversation, after: seq - 1, limit: 1 });
    // A link holds everything before it.
    if (end?.seq === seq && end.link === there.link) return { seq, exact: true };
    if (seq === sameUpTo) return { seq, exact: false };
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

function diverged(conversation: ConversationId, seq: number): LogError {
  return new LogError(
    "diverged",
    `Conversation ${conversation} in the target differs from entry ${seq} onwards, so it was changed or is not a copy. It was not modified.`,
    { conversation, seq },
  );
}

interface WriterOptions {
  readonly from: SpaceStore;
  readonly to: SpaceStore;
  /** So many entries more are in the target. */
  readonly onEntries: (entries: number) => void;
}

/** Writes batches of one log into the target, and the blobs that they name. */
class LogWriter {
  readonly #options: WriterOptions;
  readonly #head: HeadView;
  readonly #looked: Set<string> = new Set();
  blobs: number = 0;
  /** The images that are named and cannot be had. */
  readonly missing: Set<string> = new Set();

  constructor(options: WriterOptions, head: HeadView) {
    this.#options = options;
    this.#head = head;
  }

  /** The next batch. Its key makes it happen once, whoever copies it and however often. */
  async write({ entries, end }: LogBatch, durability: Durability): Promise<void> {
    const [first, ...others] = entries;
    if (first === undefined) return;
    const { origin } = this.#head;
    if (first.seq > 1) await this.#append({ entries, end }, durability);
    else if (origin === null) await this.#create(entries);
    else {
      await this.#fork(first, origin);
      if (others.length > 0) await this.#append({ entries: others, end }, durability);
    }
    this.#options.onEntries(entries.length);
  }

  /** A log is there before the blobs of its first batch are: a copy that was cut off in between brings them now. */
  async finishFirst(after: number): Promise<void> {
    const { conversation, origin } = this.#head;
    if (origin !== null || after > BATCH_ENTRIES_MAX) return;
    const { from } = this.#options;
    const [end] = await from.batchEnds({ conversation, after: 0, limit: 1 });
    if (end !== undefined && end.seq < after) return;
    for await (const entry of readLog(from, conversation, { upTo: after })) await this.#putBlobs([entry]);
  }

  async #create(entries: readonly StoredEntry[]): Promise<void> {
    const { conversation } = this.#head;
    const { differs } = await this.#options.to.create({ conversation, ...prepared(entries) });
    if (differs) throw diverged(conversation, 1);
    await this.#putBlobs(entries);
  }

  async #fork(first: StoredEntry, origin: ForkPoint): Promise<void> {
    const { conversation, headSeq } = this.#head;
    const { cwd, title = null } = decodeEntry(first) as { readonly cwd?: string; readonly title?: string };
    const { source, entry, head } = origin;
    const { id, time, payload } = first;
    if (parseBody(originBody(origin, { cwd, title })).payload !== payload)
      throw new LogError(
        "invalid_request",
        `The first entry of fork ${conversation} is invalid, so the fork was not copied`,
        { conversation, headSeq },
      );
    const key = copyKey(first);
    const within = cwd === undefined ? { title } : { cwd, title };
    await this.#options.to.fork({ source, entry, head, conversation, ...within, time, id, key });
  }

  async #append({ entries, end }: LogBatch, durability: Durability): Promise<void> {
    const { conversation } = this.#head;
    // Blobs come before the entries that name them, so that every entry of the target can be read.
    await this.#putBlobs(entries);
    const { fromSeq, differs } = await this.#options.to.append({
      conversation,
      author: end?.byOwner === false ? { kind: "outside" } : { kind: "once" },
      ...prepared(entries),
      durability,
    });
    const seq = entries[0]?.seq ?? 0;
    if (differs || fromSeq !== seq) throw diverged(conversation, Math.min(fromSeq, seq));
  }

  async #putBlobs(entries: readonly StoredEntry[]): Promise<void> {
    for (const entry of entries) {
      const images = new Set(contentBlobs(decodeEntry(entry)));
      for (const digest of [...images, ...possibleBlobs(entry.payload)]) {
        if (this.#looked.has(digest)) continue;
        this.#looked.add(digest);
        if (!(await this.#putBlob(digest)) && images.has(digest)) this.missing.add(digest);
      }
    }
  }

  /** Whether the target has it now. */
  async #putBlob(digest: string): Promise<boolean> {
    const { from, to } = this.#options;
    const { conversation } = this.#head;
    const bytes = await blobOf(handle(from, conversation), digest);
    if (bytes === null) return false;
    if ((await blobOf(handle(to, conversation), digest)) !== null) return true;
    await to.putBlob(conversation, bytes);
    this.blobs++;
    return true;
  }
}

function handle(space: SpaceStore, conversation: ConversationId): Conversation {
  return new Conversation(conversation, space, systemIdsAndTime);
}

function prepared(entries: readonly StoredEntry[]): Prepared {
  const [first] = entries;
  return prepare(
    entries.map((entry) => bodyLine(entry)),
    systemIdsAndTime,
    first === undefined ? null : copyKey(first),
  );
}

/** Named by the entry, which is the same wherever it is copied from. */
export function copyKey({ id }: StoredEntry): string {
  return `copied/${id}`;
}
