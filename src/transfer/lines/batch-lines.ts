import type { BatchEndAt } from "#log/batch-links";
import { LogError } from "#log/errors";
import { bareLine } from "./file-end.ts";

const BATCH_OPENING = '{"type":"batch",';
const BATCH =
  /^\{"type":"batch","seq":(\d{1,15}),"link":"([0-9a-f]{64})","byOwner":(true|false)(,"unproven":true)?\}$/;

/** Where a batch ends in a file: behind its last entry. */
export interface FileBatchEnd extends BatchEndAt {
  /** Where these entries come from no link held them. */
  readonly unproven: boolean;
}

export function batchLine({ seq, link, byOwner, unproven }: FileBatchEnd): string {
  return JSON.stringify({ type: "batch", seq, link, byOwner, ...(unproven ? { unproven } : {}) });
}

/** The end of a batch that a line says; null when it is a line of another kind. */
export function batchEndIn(line: string): FileBatchEnd | null {
  if (!line.startsWith(BATCH_OPENING)) return null;
  const [whole, seq, link = "", byOwner, unproven] = BATCH.exec(bareLine(line)) ?? [];
  if (whole === undefined) throw new LogError("damaged", "This line does not say where its batch ends");
  return { seq: Number(seq), link, byOwner: byOwner === "true", unproven: unproven !== undefined };
}

const BATCH_ENTRIES = 1_000;
const BATCH_CHARS = 2_097_152; // a batch of large messages must not fill the memory

/** How much goes into a batch that nobody has cut before. */
export class BatchSize {
  #entries: number = 0;
  #chars: number = 0;

  /** Whether more may join. A compaction is judged by the entries before it, which must be in the log by then. */
  fits(more: { readonly chars: number; readonly compaction: boolean }): boolean {
    if (this.#entries === 0) return true;
    return this.#entries < BATCH_ENTRIES && this.#chars + more.chars <= BATCH_CHARS && !more.compaction;
  }

  add(chars: number, entries: number = 1): void {
    this.#chars += chars;
    this.#entries += entries;
  }

  clear(): void {
    [this.#entries, this.#chars] = [0, 0];
  }
}
