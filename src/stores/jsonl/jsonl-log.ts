import type { StoredEntry } from "#log/entry";
import { isNode } from "#log/entry-types";
import { isLogError, LogError } from "#log/errors";
import { type Lineage, findVisible } from "#log/lineage/lineage";
import type { EntryPosition, Lease, Place } from "#log/lineage/head";
import type { ConversationId, Digest, EntryId } from "#log/ids";
import type { LogIndex } from "#log/lineage/log-index";
import type { Commit, IndexedLog, BatchEndRecord, KeyRecord } from "#stores/indexed/indexed-log";
import type { ReadablePart } from "#stores/indexed/readable-parts";
import { readStoredSummary } from "#log/summary";
import { firstWithin } from "#store/page-bounds";
import { blobsOf, getBlob, putBlob } from "./blob-files.ts";
import { type FileIdentity, type DiskFile, onDisk } from "./disk/disk.ts";
import { type CommitRecord, parseEntry } from "./file/framing.ts";
import { type FileDamage, LogFile } from "./file/log-file.ts";
import {
  FILE_START,
  type ScannedBatch,
  type ScannedEntry,
  scanBatches,
  type Stretch,
} from "./file/scan-batches.ts";
import { type LogLocation, logPath } from "./file-names.ts";
import { SeqIndex, type SeqRequest } from "#log/lineage/seq-index";

/** One conversation: the index of its file, and the way to what the index points at. */
export class JsonlLog implements IndexedLog {
  readonly conversation: ConversationId;
  readonly index: LogIndex;
  readonly source: JsonlLog | null;
  readonly file: LogFile;
  readonly #location: LogLocation;
  readonly #rows = new Map<number, Row>();
  readonly #keys = new Map<string, KeyRecord>();
  #lease: Lease | null = null;
  #erased: boolean = false;
  #replaced: boolean = false;
  #damage: LogError | null;
  #rest: readonly ReadablePart[] = [];
  /** How many bytes its batches take. */
  restBytes: number = 0;

  constructor(
    location: LogLocation,
    file: {
      readonly index: LogIndex;
      readonly source: JsonlLog | null;
      readonly identity: FileIdentity;
      readonly damage: LogError | null;
    },
  ) {
    this.#location = location;
    this.conversation = location.conversation;
    this.index = file.index;
    this.source = file.source;
    this.#damage = file.damage;
    this.file = new LogFile(location, file.identity, {
      add: (batch) => this.#add(batch),
      damaged: (damage) => this.#addRest(damage),
    });
  }

  get lease(): Lease | null {
    return this.#lease;
  }

  get erased(): boolean {
    return this.#erased;
  }

  get damage(): LogError | null {
    return this.#damage;
  }

  get rest(): readonly ReadablePart[] {
    return this.#rest;
  }

  /** Reads what was appended since; false when the file is gone or was replaced. */
  async refresh(): Promise<boolean> {
    const same = await this.file.refresh();
    if (!same) this.#replaced = true;
    return same;
  }

  /** The file of a source is gone or was replaced: inherited entries must be read again. */
  get outdated(): boolean {
    for (let log: JsonlLog | null = this.source; log !== null; log = log.source)
      if (log.#replaced) return true;
    return false;
  }

  seen(key: string): KeyRecord | null {
    return this.#keys.get(key) ?? null;
  }

  #add({ commit, entries }: ScannedBatch): void {
    if (this.#damage !== null) throw this.#damage;
    for (const entry of entries) {
      if (this.index.get(entry.id) !== undefined)
        throw new LogError("damaged", `the entry id ${entry.id} occurs twice`);
      const node = isNode({ type: entry.type, origin: entry.body["origin"] });
      const placing = {
        ...entry,
        node,
        byOwner: commit.by === "owner",
        isForkRemainder: commit.erased === true,
      };
      this.index.apply(placing, (id) => this.#find(id));
      this.#addRow(entry, commit.v);
    }
    this.index.setEpoch(commit.epoch);
    if (commit.link !== undefined) {
      const { ownerLink } = this.index.head;
      this.index.setLinks({ link: commit.link, ownerLink: commit.by === "owner" ? commit.link : ownerLink });
    }
    if (commit.summary !== undefined) this.index.setSummary(readStoredSummary(commit.summary));
    else if (entries.length > 0) this.index.setSummary(null);
    this.#remember(commit, entries.at(-1)?.id);
    if (commit.lease !== undefined) this.#lease = commit.lease;
    if (commit.erased === true) this.#erased = true;
  }

  #remember(commit: Pick<CommitRecord, "key" | "digest" | "from" | "to">, lastId: EntryId | undefined): void {
    const { key, digest, from, to } = commit;
    if (key === null || lastId === undefined) return;
    this.#keys.set(key, { fromSeq: from, toSeq: to, lastId, digest: digest ?? "" });
  }

  #find(id: EntryId): EntryPosition | undefined {
    const own = this.index.find(id);
    if (own !== undefined || this.source === null) return own;
    const { origin } = this.index.head;
    if (origin?.entry === id) return { id, place: placeOf(origin), tip: false };
    return findVisible(lineageOf(this), this.conversation, id);
  }

  /** Entries after a damage are found by their numbers alone: their place on a branch may depend on lost entries. */
  #addRest({ position, reason, rest }: FileDamage): void {
    const stretches = rest.map((batches) => {
      for (const { commit, entries, start, end } of batches) {
        this.restBytes += end - start;
        for (const entry of entries) this.#addRow(entry, commit.v);
      }
      return restPart(batches);
    });
    const parts = [{ firstSeq: 1, lastSeq: this.index.head.headSeq }, ...stretches];
    this.#damage ??= damageAfter(this.conversation, parts, { position, reason });
    this.#rest = stretches.map(({ firstSeq, lastSeq, seqs }, nth) => {
      const gapAt = rest[nth - 1]?.at(-1)?.end;
      const damage =
        gapAt === undefined
          ? this.#damage
          : damageAfter(this.conversation, parts.slice(nth), { position: gapAt, reason });
      return { firstSeq, lastSeq, seqs, damage };
    });
  }

  #addRow({ seq, id, offset, bytes }: ScannedEntry, v: number): void {
    this.#rows.set(seq, { seq, id, offset, bytes, v });
  }

  async write(commit: Commit): Promise<void> {
    const { entries, key, digest, epoch, head, lease } = commit;
    const by = commit.byOwner ? "owner" : "outside";
    const record = {
      from: entries[0]?.seq ?? head.headSeq + 1,
      to: head.headSeq,
      by,
      epoch,
      key,
      digest,
      ...(head.link === null ? {} : { link: head.link }),
      ...(lease === undefined ? {} : { lease }),
    } as const;
    const written = await this.file.append(entries, record, head, commit.durability === "full");
    let { offset } = written;
    for (const [nth, entry] of entries.entries()) {
      const bytes = written.lengths[nth] ?? 0;
      this.#rows.set(entry.seq, { seq: entry.seq, id: entry.id, offset, bytes, v: entry.v });
      offset += bytes + 1;
    }
    this.#remember(record, entries.at(-1)?.id);
    if (lease !== undefined) this.#lease = lease;
  }

  async writeOwner(epoch: number, lease: Lease | null): Promise<void> {
    const head = { ...this.index.head, epoch };
    const { headSeq } = head;
    const record = {
      from: headSeq + 1,
      to: headSeq,
      by: "owner",
      epoch,
      key: null,
      digest: null,
      lease,
    } as const;
    // A lease only saves work, so a renewed one need not survive the power; an epoch must.
    await this.file.append([], record, head, epoch !== this.index.head.epoch);
    this.index.setEpoch(epoch);
    this.#lease = lease;
  }

  async fetch(seqs: readonly number[], bytes?: number): Promise<readonly StoredEntry[]> {
    const matches = seqs.flatMap((seq) => this.#rows.get(seq) ?? []);
    const rows = firstWithin(matches, bytes, (row) => row.bytes);
    try {
      return await fetchRows(this.#location, this.file.identity, rows);
    } catch (error) {
      if (isLogError(error, "store_gone")) this.#replaced = true;
      throw error;
    }
  }

  /** Read from the file: the index has no use for them. */
  async ends(): Promise<ReadonlyMap<number, BatchEndRecord>> {
    const ends = new Map<number, BatchEndRecord>();
    await using file = await this.#location.disk.open(logPath(this.#location), "read");
    await scanBatches(file, this.file.end, FILE_START, ({ commit, start }) => {
      const { link, to, by } = commit;
      if (link !== undefined) ends.set(to, { link, byOwner: by === "owner", position: start });
    });
    return ends;
  }

  putBlob(digest: Digest, bytes: Uint8Array): Promise<void> {
    return putBlob(this.#location, digest, bytes);
  }

  getBlob(digest: Digest): Promise<Uint8Array | null> {
    return getBlob(this.#location, digest);
  }

  blobs(): Promise<readonly Digest[]> {
    return blobsOf(this.#location);
  }
}

function placeOf({ conversation, segment, depth }: Place): Place {
  return { conversation, segment, depth };
}

/** The indexes of a conversation and of everything it was forked from. */
export function lineageOf(log: JsonlLog): Lineage {
  const lineage = new Map<ConversationId, LogIndex>();
  for (let holder: JsonlLog | null = log; holder !== null; holder = holder.source)
    lineage.set(holder.conversation, holder.index);
  return lineage;
}

/** Where an entry's line is. */
interface Row {
  readonly seq: number;
  readonly id: EntryId;
  readonly offset: number;
  readonly bytes: number;
  readonly v: number;
}

const GAP_BYTES_MAX = 16_384; // reading over a gap this small is cheaper than another read
const READ_BYTES_MAX = 4_194_304; // a long stretch is read in steps

/** The entries of these rows, in the order given, in as few reads as their places allow. */
function fetchRows(
  location: LogLocation,
  identity: FileIdentity,
  rows: readonly Row[],
): Promise<readonly StoredEntry[]> {
  if (rows.length === 0) return Promise.resolve([]);
  return onDisk(`reading conversation ${location.conversation}`, async () => {
    await using file = await location.disk.open(logPath(location), "read");
    if ((await file.stat()).identity !== identity) throw replaced(location);
    const bySeq = new Map<number, StoredEntry>();
    try {
      for (const stretch of stretchesOf(rows))
        await readStretch(file, stretch, (entry) => bySeq.set(entry.seq, entry));
    } catch (error) {
      // An erase writes zeros over the file it has replaced, also while someone reads it.
      const erased =
        isLogError(error, "damaged") && (await location.disk.stat(logPath(location)))?.identity !== identity;
      throw erased ? replaced(location) : error;
    }
    return rows.flatMap((row) => bySeq.get(row.seq) ?? []);
  });
}

function replaced({ conversation }: LogLocation): LogError {
  return new LogError(
    "store_gone",
    `Conversation ${conversation} was erased or replaced during the read. Read it again.`,
    { conversation },
  );
}

function stretchesOf(rows: readonly Row[]): readonly (readonly Row[])[] {
  const stretches: Row[][] = [];
  let start = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const row of rows.toSorted((a, b) => a.offset - b.offset)) {
    const joins = row.offset - end <= GAP_BYTES_MAX && row.offset + row.bytes - start <= READ_BYTES_MAX;
    if (joins) stretches.at(-1)?.push(row);
    else {
      stretches.push([row]);
      start = row.offset;
    }
    end = row.offset + row.bytes;
  }
  return stretches;
}

async function readStretch(
  file: DiskFile,
  rows: readonly Row[],
  add: (entry: StoredEntry) => void,
): Promise<void> {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return;
  const bytes = await file.read(first.offset, last.offset + last.bytes - first.offset);
  const stretch = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const row of rows) {
    const from = row.offset - first.offset;
    const entry = entryOf(stretch.subarray(from, from + row.bytes), row);
    if (entry?.id !== row.id || entry.seq !== row.seq) {
      throw new LogError("damaged", `Entry ${row.seq} at byte ${row.offset} of its file cannot be read`, {
        seq: row.seq,
        position: row.offset,
      });
    }
    add(entry);
  }
}

function entryOf(line: Buffer, row: Row): StoredEntry | null {
  try {
    return parseEntry(line, row.v);
  } catch {
    return null; // not UTF-8
  }
}

type Numbers = Pick<ReadablePart, "firstSeq" | "lastSeq">;

/** The entries of batches that follow each other, found by their numbers. */
function restPart(batches: Stretch): Omit<ReadablePart, "damage"> {
  const entries = batches.flatMap((batch) => batch.entries);
  const index = new SeqIndex();
  for (const entry of entries) index.add(entry);
  return {
    firstSeq: entries[0]?.seq ?? 0,
    lastSeq: entries.at(-1)?.seq ?? 0,
    seqs: (request: SeqRequest) => index.find(request, entries),
  };
}

/** The damage that follows the first of these parts of a log. */
function damageAfter(
  conversation: ConversationId,
  [before, next, ...others]: readonly Numbers[],
  damage: { readonly position: number; readonly reason: string },
): LogError {
  const reachable = before?.lastSeq ?? 0;
  const readable = [before, next, ...others].flatMap((part) =>
    part && part.lastSeq > 0 ? [named(part)] : [],
  );
  const rest = readable.length === 0 ? "no entries" : readable.join(" and ");
  return new LogError(
    "damaged",
    `Conversation ${conversation} is damaged at byte ${damage.position} of its file: ${damage.reason}. Readable: ${rest}.`,
    { conversation, position: damage.position, reachableSeq: reachable, resumesSeq: next?.firstSeq ?? null },
  );
}

function named({ firstSeq, lastSeq }: Numbers): string {
  return firstSeq === lastSeq ? `entry ${firstSeq}` : `entries ${firstSeq} to ${lastSeq}`;
}
