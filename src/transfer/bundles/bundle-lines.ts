import type { BatchEndAt } from "#log/batch-links";
import { LogError } from "#log/errors";
import { createHash, type Hash, hash } from "node:crypto";
import { FORMAT_VERSION } from "#log/entry";
import { checkJsonObject, type Json } from "#log/json/json-text";
import { checkVersion } from "#log/codec";

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
  if (whole === undefined) throw new LogError("damaged", "This line does not state where its batch ends");
  return { seq: Number(seq), link, byOwner: byOwner === "true", unproven: unproven !== undefined };
}

const BATCH_ENTRIES = 1_000;
const BATCH_CHARS = 2_097_152; // a batch of large messages must not fill the memory

/** Limits batches of entries that had none where they come from. */
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

const PIECE_BYTES = 786_432; // a line of 1 Mi characters: far below what a line may have
const OPENING = '{"type":"blob",';
const PIECE = /^\{"type":"blob","digest":"([0-9a-f]{64})","size":(\d{1,15}),"offset":(\d{1,15}),"data":"/;
const CLOSING = '"}';
const BLOB_BYTES_MAX = 1_073_741_824; // 1 GiB: a blob is put together in memory

/** A piece of a blob; those of one blob follow each other, from its first byte to its last. */
export interface BlobPiece {
  readonly digest: string;
  readonly size: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface BlobLine {
  readonly text: string;
  /** It is the first of its blob. */
  readonly first: boolean;
}

/** A blob as lines of an export, none of them too long to be read. */
export function* blobLines(digest: string, bytes: Uint8Array): Generator<BlobLine> {
  for (let offset = 0; offset === 0 || offset < bytes.length; offset += PIECE_BYTES) {
    const piece = bytes.subarray(offset, offset + PIECE_BYTES);
    const data = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("base64");
    const text = `${OPENING}${JSON.stringify({ digest, size: bytes.length, offset, data }).slice(1)}`;
    yield { text, first: offset === 0 };
  }
}

/** The piece a line holds; null when it is a line of another kind. */
export function blobPiece(line: string): BlobPiece | null {
  if (!line.startsWith(OPENING)) return null;
  const bare = bareLine(line);
  const [opening = "", digest = "", size, offset] = PIECE.exec(bare) ?? [];
  if (opening === "" || !bare.endsWith(CLOSING))
    throw new LogError("damaged", "This line of a blob does not state its digest or position");
  if (Number(size) > BLOB_BYTES_MAX)
    throw new LogError("too_large", `The blob has ${size} bytes. The limit is ${BLOB_BYTES_MAX}.`, {
      limit: BLOB_BYTES_MAX,
    });
  const bytes = Buffer.from(bare.slice(opening.length, -CLOSING.length), "base64");
  return { digest, size: Number(size), offset: Number(offset), bytes };
}

/** Judges the blobs of a file piece by piece, without holding one. */
export class BlobCheck {
  /** The digests of those that are there, whole and unaltered. */
  readonly whole: Set<string> = new Set();
  /** What the entries count on. */
  readonly expected: Set<string> = new Set();
  #open: { readonly digest: string; readonly size: number; readonly hash: Hash; position: number } | null =
    null;

  /** The next piece; what is wrong with it or with the one before is thrown. */
  add(piece: BlobPiece): void {
    const { digest, size, offset, bytes } = piece;
    const before = this.#open;
    if (offset === 0) this.#open = { digest, size, hash: createHash("sha256"), position: 0 };
    const open = this.#open;
    if (before !== null && offset === 0) throw cutOff(before.digest);
    if (open === null || open.digest !== digest || open.position !== offset || open.size !== size) {
      this.#open = null;
      throw new LogError("damaged", `A part of blob ${digest} is missing before this line`);
    }
    open.hash.update(bytes);
    open.position += bytes.length;
    if (open.position < size) return;
    this.#open = null;
    if (open.position > size || open.hash.digest("hex") !== digest)
      throw new LogError("damaged", `Blob ${digest} was changed: its bytes do not match the digest`);
    this.whole.add(digest);
  }

  /** Whether the file ended in the middle of one. */
  end(): void {
    if (this.#open !== null) throw cutOff(this.#open.digest);
  }
}

function cutOff(digest: string): LogError {
  return new LogError("damaged", `Blob ${digest} is incomplete`);
}

/** Puts blobs together again, one at a time. */
export class BlobAssembly {
  #pieces: Uint8Array[] = [];
  #bytes: number = 0;

  /** The whole blob with its last piece, else null. */
  add({ size, offset, bytes }: BlobPiece): Uint8Array | null {
    if (offset === 0) [this.#pieces, this.#bytes] = [[], 0];
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes < size) return null;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return whole;
  }
}

/** A reader keeps some data of each conversation of a file in memory. */
export const CONVERSATIONS_MAX = 10_000;

const LOG_OPENING = '{"type":"log",';

/** How the entries of one conversation begin in a file: the header itself, or a line of a bundle of several. */
export interface LogStart {
  readonly conversation: string;
  readonly title: string | null;
  readonly entries: number;
  /** Whether the links are those of the log itself, or made for the file. */
  readonly links: "own" | "made";
  /** For a fork that is written with all it inherited: where it was forked from. */
  readonly origin?: object;
}

/** The export time of a file, and whether it is redacted. A redacted file cannot be continued. */
interface FileOptions {
  readonly exportedAt: string;
  readonly redacted: boolean;
}

/** The first line of a file with one conversation. */
export function fileHeader({ exportedAt, redacted }: FileOptions, start: LogStart): string {
  const { conversation, ...more } = start;
  const opening = { type: "holdfast", v: FORMAT_VERSION, conversation, exportedAt, ...more };
  return JSON.stringify({ ...opening, ...redactedMember(redacted) });
}

function redactedMember(redacted: boolean): { readonly redacted?: true } {
  return redacted ? { redacted } : {};
}

/** The first line of a file with several. */
export function bundleHeader({ exportedAt, redacted }: FileOptions, conversations: number): string {
  const opening = { type: "holdfast", v: FORMAT_VERSION, exportedAt, conversations };
  return JSON.stringify({ ...opening, ...redactedMember(redacted) });
}

/** The line that stands before the entries of each of several conversations. */
export function logLine(start: LogStart): string {
  return JSON.stringify({ type: "log", ...start });
}

export interface FileHeader {
  readonly v: number;
  /** How many conversations the file says it has. */
  readonly conversations: number;
  /** Null where each has a line of its own. */
  readonly first: FileStart | null;
}

/** The beginning of a conversation as a file says it. */
export interface FileStart {
  readonly conversation: string;
  /** How many entries it says it has. */
  readonly entries: number | null;
  readonly linked: boolean;
  /** As text. */
  readonly origin: string | null;
}

/** What the first line of a file says; null when it is none of ours. */
export function headerIn(line: string): FileHeader | null {
  const { value } = checkJsonObject(line);
  if (value["type"] !== "holdfast") return null;
  const v = checkVersion(value["v"]);
  const { conversations } = value;
  if (conversations === undefined) return { v, conversations: 1, first: startOf(value) };
  if (typeof conversations !== "number" || !Number.isSafeInteger(conversations) || conversations < 1)
    throw new LogError("damaged", "The header does not state the number of conversations");
  return { v, conversations, first: null };
}

/** The conversation that begins with a line; null when it is a line of another kind. */
export function logStartIn(line: string): FileStart | null {
  return line.startsWith(LOG_OPENING) ? startOf(checkJsonObject(line).value) : null;
}

function startOf(value: { readonly [name: string]: Json }): FileStart {
  const { conversation, entries, links } = value;
  if (typeof conversation !== "string") throw new LogError("damaged", "The header contains no conversation");
  const origin = isOrigin(value["origin"]) ? JSON.stringify(value["origin"]) : null;
  return {
    conversation,
    entries: typeof entries === "number" ? entries : null,
    linked: links !== undefined,
    origin,
  };
}

function isOrigin(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { conversation, entry, head } = value as { readonly [name: string]: Json };
  return typeof conversation === "string" && typeof entry === "string" && Number.isSafeInteger(head);
}

const END_OPENING = '{"type":"end",';
const END =
  /^\{"type":"end","header":"([0-9a-f]{64})"(?:,"conversations":(\d{1,15}),"entries":(\d{1,15}),"blobs":(\d{1,15}),"digest":"([0-9a-f]{64})")?\}$/;

interface FileCounts {
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
function bareLine(line: string): string {
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
  if (!line.startsWith(END_OPENING)) return null;
  const [, header, conversations, entries, blobs, digest] = END.exec(bareLine(line)) ?? [];
  if (header === undefined) throw new LogError("damaged", "The last line of the file is not readable");
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
