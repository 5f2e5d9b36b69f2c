import { createHash, hash } from "node:crypto";
import { LogError } from "#log/errors";

const OPENING = '{"type":"end",';
const END =
  /^\{"type":"end","header":"([0-9a-f]{64})"(?:,"conversations":(\d{1,15}),"entries":(\d{1,15}),"blobs":(\d{1,15}),"digest":"([0-9a-f]{64})")?\}$/;

export interface FileCounts {
  readonly conversations: number;
  readonly entries: number;
  readonly blobs: number;
}

/** The last line of a file: without it the file was cut off. */
export interface FileEnd {
  /** The digest of the header, which no link holds. */
  readonly header: string;
  /** What stands before this line; null in files of before. */
  readonly whole: (FileCounts & { readonly digest: string }) | null;
}

/** A line as it was written, whatever a program on its way has made of its end. */
export function bareLine(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** The digest of all lines of a file, as they pass. */
export class FileDigest {
  readonly #hash = createHash("sha256");
  #header: string | null = null;

  add(line: string): void {
    const bare = bareLine(line);
    this.#header ??= hash("sha256", bare);
    this.#hash.update(bare).update("\n");
  }

  /** That of the first line alone. */
  get header(): string {
    return this.#header ?? "";
  }

  /** That of all; asked for once. */
  digest(): string {
    return this.#hash.digest("hex");
  }
}

export function endLine(passed: FileDigest, counts: FileCounts): string {
  const { conversations, entries, blobs } = counts;
  const { header } = passed;
  return JSON.stringify({ type: "end", header, conversations, entries, blobs, digest: passed.digest() });
}

/** The end that a line says; null when it is a line of another kind. */
export function fileEndIn(line: string): FileEnd | null {
  if (!line.startsWith(OPENING)) return null;
  const [, header, conversations, entries, blobs, digest] = END.exec(bareLine(line)) ?? [];
  if (header === undefined) throw new LogError("damaged", "The line at the end of the file cannot be read");
  if (digest === undefined) return { header, whole: null };
  return {
    header,
    whole: {
      conversations: Number(conversations),
      entries: Number(entries),
      blobs: Number(blobs),
      digest,
    },
  };
}
