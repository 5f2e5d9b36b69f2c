import type { DiskFile } from "#stores/jsonl/disk/disk";
import {
  type CommitRecord,
  isCommitLine,
  parseCommit,
  parseLine,
  RunningSum,
  summedPart,
} from "./framing.ts";
import { CHUNK_BYTES, Lines } from "./file-lines.ts";

const COMMIT_BYTES_MAX = 65_536; // title, cwd and key are bounded, so a commit line stays far below this
const COMMIT_MARK = '\n{"commit":{"v":';

/** The first line of a stretch that is not UTF-8 or not JSON; null when all of them are. */
export async function firstBadLine(file: DiskFile, from: number, to: number): Promise<number | null> {
  const lines = new Lines(file, from, to);
  while (lines.offset < to) {
    const { offset } = lines;
    const line = lines.next() ?? (await lines.read());
    if (line === null || parseLine(line) === null) return offset;
  }
  return null;
}

/**
 * Whether the file proves that the bytes at `position` were once safely on the disk: a whole later batch says it
 * was written after they were synced. Without such a proof they are what a power cut left of unsynced writes,
 * where a later batch may have reached the disk and an earlier one not.
 */
export async function wasSynced(file: DiskFile, position: number, size: number): Promise<boolean> {
  for await (const { commit } of wholeBatches(file, position, size))
    if (commit.synced > position) return true;
  return false;
}

/** Where a batch is, and how its commit describes it. */
export interface BatchPosition {
  readonly start: number;
  readonly end: number;
  readonly commit: CommitRecord;
}

/** The batches from a byte on that match their own sums, whatever lies between them. */
export async function* wholeBatches(
  file: DiskFile,
  position: number,
  size: number,
): AsyncGenerator<BatchPosition> {
  let offset = position;
  while (offset < size) {
    const bytes = await file.read(offset, Math.min(CHUNK_BYTES + COMMIT_BYTES_MAX, size - offset));
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (
      let hit = chunk.indexOf(COMMIT_MARK);
      hit !== -1 && hit < CHUNK_BYTES;
      hit = chunk.indexOf(COMMIT_MARK, hit + 1)
    ) {
      const lf = chunk.indexOf(10, hit + 1);
      if (lf === -1) break;
      const line = chunk.subarray(hit + 1, lf);
      const [commit, commitAt] = [parseCommit(line), offset + hit + 1];
      if (commit !== null && (await isWhole(file, commitAt, line, commit)))
        yield { start: commitAt - commit.bytes, end: offset + lf + 1, commit };
    }
    offset += CHUNK_BYTES;
  }
}

/** Whether a commit line and the entry lines before it are what its sum says, whatever else the file holds. */
export async function isWhole(
  file: Pick<DiskFile, "read">,
  commitAt: number,
  line: Buffer,
  commit: CommitRecord,
): Promise<boolean> {
  if (!isCommitLine(line) || commit.bytes > commitAt) return false;
  const sum = new RunningSum();
  for (let offset = commitAt - commit.bytes; offset < commitAt; offset += CHUNK_BYTES) {
    sum.add(await file.read(offset, Math.min(CHUNK_BYTES, commitAt - offset)));
  }
  sum.add(summedPart(line));
  return sum.finish() === commit.sum;
}
