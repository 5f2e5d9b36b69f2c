import { hash } from "node:crypto";
import type { BatchEndAt } from "#log/batch-links";
import { LogError } from "#log/errors";

const BATCH_OPENING = '{"type":"batch",';
const BATCH =
  /^\{"type":"batch","seq":(\d{1,15}),"link":"([0-9a-f]{64})","byOwner":(true|false)(,"unproven":true)?\}$/;
const END_OPENING = '{"type":"end",';
const END = /^\{"type":"end","header":"([0-9a-f]{64})"\}$/;

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
  const [whole, seq, link = "", byOwner, unproven] = BATCH.exec(bare(line)) ?? [];
  if (whole === undefined) throw new LogError("damaged", "This line does not say where its batch ends");
  return { seq: Number(seq), link, byOwner: byOwner === "true", unproven: unproven !== undefined };
}

/** The last line of a file: without it the file was cut off. It holds the header, which no link does. */
export function endLine(header: string): string {
  return JSON.stringify({ type: "end", header: headerDigest(header) });
}

/** The digest of the header that the last line names; null when it is a line of another kind. */
export function headerDigestIn(line: string): string | null {
  if (!line.startsWith(END_OPENING)) return null;
  const [, digest] = END.exec(bare(line)) ?? [];
  if (digest === undefined) throw new LogError("damaged", "The line at the end of the file cannot be read");
  return digest;
}

/** A line as it was written, whatever a program on its way has made of its end. */
function bare(line: string): string {
  return line.replace(/\r$/, "");
}

export function headerDigest(header: string): string {
  return hash("sha256", bare(header));
}

const BATCH_ENTRIES = 1_000;
const BATCH_CHARS = 8_388_608; // a batch of large messages must not fill the memory

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
