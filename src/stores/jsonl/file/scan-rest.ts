import type { DiskFile } from "#stores/jsonl/disk/disk";
import { type BatchPosition, wholeBatches } from "./diagnose.ts";
import { type ScannedBatch, scanBatches } from "./scan-batches.ts";

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
    const before = { at: start, sum: commit.prev, seq: commit.from - 1 };
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
