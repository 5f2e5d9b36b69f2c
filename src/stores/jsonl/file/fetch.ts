import type { StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import { type DiskFile, type FileIdentity, onDisk } from "#stores/jsonl/disk/disk";
import { parseEntry } from "./framing.ts";
import { type LogLocation, logPath } from "#stores/jsonl/log-location";
import { SeqIndex, type SeqRequest } from "#log/lineage/seq-index";
import type { ReadablePart } from "#stores/indexed/readable-parts";
import type { Stretch } from "./scan-rest.ts";

/** Where an entry's line is. */
export interface Row {
  readonly seq: number;
  readonly id: EntryId;
  readonly at: number;
  readonly bytes: number;
  readonly v: number;
}

const GAP_BYTES_MAX = 16_384; // reading over a gap this small is cheaper than another read
const READ_BYTES_MAX = 4_194_304; // a long stretch is read in steps

/** The entries of these rows, in the order given, in as few reads as their places allow. */
export function fetchRows(
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
    `Conversation ${conversation} was erased or replaced while it was read; read it again`,
    { conversation },
  );
}

function stretchesOf(rows: readonly Row[]): readonly (readonly Row[])[] {
  const stretches: Row[][] = [];
  let start = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const row of rows.toSorted((a, b) => a.at - b.at)) {
    const joins = row.at - end <= GAP_BYTES_MAX && row.at + row.bytes - start <= READ_BYTES_MAX;
    if (joins) stretches.at(-1)?.push(row);
    else {
      stretches.push([row]);
      start = row.at;
    }
    end = row.at + row.bytes;
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
  const bytes = await file.read(first.at, last.at + last.bytes - first.at);
  const stretch = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const row of rows) {
    const from = row.at - first.at;
    const entry = entryOf(stretch.subarray(from, from + row.bytes), row);
    if (entry?.id !== row.id || entry.seq !== row.seq) {
      throw new LogError("damaged", `Entry ${row.seq} at byte ${row.at} of its file cannot be read`, {
        seq: row.seq,
        position: row.at,
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
export function restPart(batches: Stretch): Omit<ReadablePart, "damage"> {
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
export function damageAfter(
  conversation: ConversationId,
  [before, next, ...others]: readonly Numbers[],
  at: { readonly position: number; readonly reason: string },
): LogError {
  const reachable = before?.lastSeq ?? 0;
  const readable = [before, next, ...others].flatMap((part) =>
    part && part.lastSeq > 0 ? [named(part)] : [],
  );
  const rest = readable.length === 0 ? "no entry can be read" : `${readable.join(" and ")} can be read`;
  return new LogError(
    "damaged",
    `Conversation ${conversation} is damaged at byte ${at.position} of its file: ${at.reason}; ${rest}, and nothing was changed`,
    { conversation, position: at.position, reachableSeq: reachable, resumesSeq: next?.firstSeq ?? null },
  );
}

function named({ firstSeq, lastSeq }: Numbers): string {
  return firstSeq === lastSeq ? `entry ${firstSeq}` : `entries ${firstSeq} to ${lastSeq}`;
}
