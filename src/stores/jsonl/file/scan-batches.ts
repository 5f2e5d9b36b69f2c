import { plannedMembers } from "#log/entry-types";
import type { DiskFile } from "#stores/jsonl/disk/disk";
import {
  type CommitRecord,
  type Envelope,
  isCommitLine,
  parseCommit,
  parseEnvelope,
  parseLine,
  RunningSum,
  summedPart,
} from "./framing.ts";
import { Lines } from "./file-lines.ts";
import { firstBadLine, type BatchPosition, wholeBatches } from "./diagnose.ts";

/** Where the last whole batch ends, and what the next one must join on to. */
export interface Cursor {
  readonly offset: number;
  readonly sum: string;
  readonly seq: number;
}

export const FILE_START: Cursor = { offset: 0, sum: "", seq: 0 };

export interface ScannedEntry extends Envelope {
  readonly offset: number;
  readonly bytes: number;
  /** Parsed for the types whose place or meaning lies in their payload; empty for all others. */
  readonly body: { readonly [name: string]: unknown };
}

export interface ScannedBatch {
  readonly commit: CommitRecord;
  readonly entries: readonly ScannedEntry[];
  readonly start: number;
  readonly end: number;
}

/** Where a scan stopped: the batch, the first wrong byte, and why. */
export interface Stop {
  readonly start: number;
  readonly position: number;
  readonly reason: string;
}

/** Hands over every whole batch from the cursor on; null when the file ends with one. */
export async function scanBatches(
  file: DiskFile,
  size: number,
  cursor: Cursor,
  onBatch: (batch: ScannedBatch) => void,
): Promise<Stop | null> {
  const lines = new Lines(file, cursor.offset, size);
  const sum = new RunningSum();
  let entries: ScannedEntry[] = [];
  let last = cursor;
  for (;;) {
    const { offset } = lines;
    if (offset === size && offset === last.offset && offset > 0) return null;
    const line = lines.next() ?? (await lines.read());
    const stop = (reason: string, position: number = offset): Stop => ({
      start: last.offset,
      position,
      reason,
    });
    if (line === null)
      return stop(size === 0 ? "the file is empty" : "the batch has no commit line", last.offset);
    if (!isCommitLine(line)) {
      const entry = entryIn(line, offset);
      if (entry === null) return stop("a line is not an entry or a commit");
      entries.push(entry);
      sum.add(line);
      sum.add(LINE_BREAK);
      continue;
    }
    const commit = parseCommit(line);
    if (commit === null) return stop("a commit line cannot be read");
    sum.add(summedPart(line));
    if (sum.finish() !== commit.sum) {
      return stop(
        "the bytes of a batch do not match its checksum",
        (await firstBadLine(file, last.offset, offset)) ?? last.offset,
      );
    }
    const wrong = misfit(commit, entries, { last, offset });
    if (wrong !== null) return stop(wrong, last.offset);
    const end = lines.offset;
    onBatch({ commit, entries, start: last.offset, end });
    last = { offset: end, sum: commit.sum, seq: commit.to };
    entries = [];
  }
}

const LINE_BREAK: Uint8Array = Uint8Array.of(10);

function entryIn(line: Buffer, offset: number): ScannedEntry | null {
  const envelope = parseEnvelope(line);
  if (envelope === null) return null;
  const body = plannedMembers(envelope.type).length > 0 ? parseLine(line) : {};
  return body === null
    ? null
    : { ...envelope, offset, bytes: line.length, body: body as ScannedEntry["body"] };
}

/** What keeps a batch, whole in itself, from following the one before it; null when it does. */
function misfit(
  commit: CommitRecord,
  entries: readonly ScannedEntry[],
  { last, offset }: { readonly last: Cursor; readonly offset: number },
): string | null {
  if (commit.prev !== last.sum) return "a batch does not follow the one before it";
  if (commit.bytes !== offset - last.offset) return "the length of a batch changed";
  if (commit.to !== (entries.at(-1)?.seq ?? last.seq))
    return "a batch does not end with the entry in its commit line";
  let seq = last.seq;
  for (const entry of entries) {
    // What an erase left has gaps; a living log has none.
    if (commit.erased === true ? entry.seq <= seq : entry.seq !== seq + 1)
      return `expected entry ${seq + 1}, but found entry ${entry.seq}`;
    seq = entry.seq;
  }
  return null;
}

/** Batches that follow each other without damage. */
export type Stretch = readonly ScannedBatch[];

/**
 * The whole batches after a damage, in stretches that further damage separates. What the damage took is unknown, so nothing
 * says what the first batch of a stretch follows: its own sum and the numbers of its entries must do.
 */
export async function scanRest(
  file: DiskFile,
  size: number,
  from: { readonly position: number; readonly seq: number },
): Promise<readonly Stretch[]> {
  const stretches: Stretch[] = [];
  let { position, seq } = from;
  for (;;) {
    const first = await nextBatch(file, size, { position, seq });
    if (first === null) return stretches;
    const { start, commit } = first;
    const stretch: ScannedBatch[] = [];
    const before = { offset: start, sum: commit.prev, seq: commit.from - 1 };
    const stop = await scanBatches(file, size, before, (batch) => stretch.push(batch));
    if (stretch.some(({ entries }) => entries.length > 0)) stretches.push(stretch);
    const last = stretch.at(-1);
    // Numbers that do not follow each other, in a batch that matches its sum: the next one may be good.
    [position, seq] = last === undefined ? [first.end - 1, seq] : [last.end - 1, last.commit.to];
    if (stop === null) return stretches;
  }
}

async function nextBatch(
  file: DiskFile,
  size: number,
  { position, seq }: { readonly position: number; readonly seq: number },
): Promise<BatchPosition | null> {
  for await (const batch of wholeBatches(file, Math.max(0, position - 1), size))
    if (batch.start >= position && batch.commit.from > seq) return batch;
  return null;
}
