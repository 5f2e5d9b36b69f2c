import { createHash } from "node:crypto";
import { checkVersion, entryLine } from "#log/codec";
import { type EntryType, FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { Head, Lease } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { ENTRY_CHARS_MAX } from "#log/json/json-text";
import { storeSummary, type StoredSummary, type Summary } from "#log/summary";
import { readJson } from "#log/json/read-json";

// docs/reference/format.md is the truth about these bytes.

export const LINE_BYTES_MAX: number = 6 * ENTRY_CHARS_MAX + 4_096; // a lone surrogate takes 6 bytes; an envelope under 4 KiB
const BATCH_BYTES_MAX = 536_870_912; // 512 MiB: a batch is put together in memory before it is written
const LISTED_CHARS_MAX = 1_024; // every commit repeats title and cwd for lists; the entries keep them whole
export const SUMMARY_CHARS_MAX = 16_384; // the same for what appends count; a longer one is counted by whoever needs it
const SUM_CHARS = 32; // 128 bits: accidents, not attackers
const COMMIT_START = '{"commit":{"v":';
const SUM_END = /,"sum":"([0-9a-f]{32})"\}\}$/;
const SUM_END_BYTES = ',"sum":""}}'.length + SUM_CHARS;
const ENVELOPE =
  /^\{"id":"([^"\\]+)","seq":(\d{1,15}),"parentId":(?:null|"([^"\\]+)"),"time":"([^"\\]+)","type":"([a-z_]+)"([,}])/;
const ENVELOPE_BYTES_MAX = 512; // two ids of 128 characters, a time and a type

/** What a batch's last line says: that the batch counts, and what the conversation is from then on. */
export interface CommitRecord {
  readonly v: number;
  readonly from: number;
  /** The last seq of the log once the batch counts; below `from` when the batch has no entries. */
  readonly to: number;
  readonly by: "owner" | "outside";
  readonly epoch: number;
  readonly key: string | null;
  readonly digest: string | null;
  /** Holds the batch and the link before it; absent where the batch has no entries, and before version 2. */
  readonly link?: string;
  readonly lease?: Lease | null;
  readonly erased?: boolean;
  readonly leaf: EntryId;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly origin: { readonly conversation: ConversationId; readonly entry: EntryId } | null;
  /** What lists show beyond these; absent where it was not counted, or is too long to be repeated. */
  readonly summary?: StoredSummary;
  /** How many bytes of entry lines stand before this line and belong to it. */
  readonly bytes: number;
  /** Up to here the file was known to be on the disk when this batch was written. */
  readonly synced: number;
  /** The sum of the commit before this one; empty in a file's first. */
  readonly prev: string;
  readonly sum: string;
}

export type CommitFields = Omit<
  CommitRecord,
  "v" | "bytes" | "sum" | "leaf" | "title" | "cwd" | "createdAt" | "updatedAt" | "origin" | "summary"
>;

/** The part of the head that lists show, as each commit repeats it. */
export function headSummary(
  head: Head,
): Pick<CommitRecord, "leaf" | "title" | "cwd" | "createdAt" | "updatedAt" | "origin" | "summary"> {
  const { leaf, title, cwd, createdAt, updatedAt, origin, summary } = head;
  return {
    leaf: leaf.id,
    title: cut(title),
    cwd: cut(cwd),
    createdAt,
    updatedAt,
    origin: origin === null ? null : { conversation: origin.source, entry: origin.entry },
    ...shortSummary(summary),
  };
}

function shortSummary(summary: Summary | null): Pick<CommitRecord, "summary"> {
  const stored = summary && storeSummary(summary);
  return stored === null || JSON.stringify(stored).length > SUMMARY_CHARS_MAX ? {} : { summary: stored };
}

function cut(text: string | null): string | null {
  return text === null || text.length <= LISTED_CHARS_MAX
    ? text
    : text.slice(0, LISTED_CHARS_MAX).toWellFormed();
}

export interface EncodedBatch {
  readonly bytes: Uint8Array;
  /** How long each entry's line is, its line break not counted. */
  readonly lengths: readonly number[];
  readonly sum: string;
}

/** A batch as it stands in the file. All its entries are in the version of the first. */
export function encodeBatch(entries: readonly StoredEntry[], commit: CommitFields, head: Head): EncodedBatch {
  const lines = entries.map((entry) => Buffer.from(`${entryLine(entry)}\n`));
  const bytes = lines.reduce((total, line) => total + line.length, 0);
  if (bytes > BATCH_BYTES_MAX) {
    throw new LogError("too_large", `The batch has ${bytes} bytes. The limit is ${BATCH_BYTES_MAX}.`, {
      limit: BATCH_BYTES_MAX,
    });
  }
  const v = entries[0]?.v ?? FORMAT_VERSION;
  const { synced, prev, ...fields } = commit;
  const record = JSON.stringify({
    commit: { v, ...fields, ...headSummary(head), bytes, synced, prev },
  }).slice(0, -2);
  const sum = sumOf(...lines, Buffer.from(record));
  return {
    bytes: Buffer.concat([...lines, Buffer.from(`${record},"sum":"${sum}"}}\n`)]),
    lengths: lines.map((line) => line.length - 1),
    sum,
  };
}

function sumOf(...parts: readonly Uint8Array[]): string {
  const running = new RunningSum();
  for (const part of parts) running.add(part);
  return running.finish();
}

/** A batch's checksum, taken while its lines go by. */
export class RunningSum {
  #hash = createHash("sha256");

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  finish(): string {
    const sum = this.#hash.digest("hex").slice(0, SUM_CHARS);
    this.#hash = createHash("sha256");
    return sum;
  }
}

export function isCommitLine(line: Buffer): boolean {
  return (
    line.length > COMMIT_START.length && line.toString("latin1", 0, COMMIT_START.length) === COMMIT_START
  );
}

/** The part of a commit line that its sum covers. */
export function summedPart(line: Buffer): Buffer {
  return line.subarray(0, line.length - SUM_END_BYTES);
}

/** Reads a commit line; null when it is none that this version could have written. Refuses newer versions. */
export function parseCommit(line: Buffer): CommitRecord | null {
  const record = parseLine(line) as { commit?: CommitRecord } | null;
  const commit = record?.commit;
  if (typeof commit !== "object" || commit === null) return null;
  checkVersion(commit.v);
  const numbers = [commit.from, commit.to, commit.epoch, commit.bytes, commit.synced];
  const whole = numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
  return whole &&
    typeof commit.prev === "string" &&
    SUM_END.test(line.toString("latin1", line.length - SUM_END_BYTES))
    ? commit
    : null;
}

/** A line as JSON; null when it is not JSON, or not UTF-8. */
export function parseLine(line: Uint8Array): unknown {
  try {
    return readJson(textOf(line));
  } catch {
    return null;
  }
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(line: Uint8Array): string {
  return STRICT.decode(line);
}

export interface Envelope {
  readonly id: EntryId;
  readonly seq: number;
  readonly parentId: EntryId | null;
  readonly time: string;
  readonly type: EntryType;
  /** How many characters, which are bytes here, it takes at the start of the line. */
  readonly length: number;
  readonly empty: boolean;
}

/** The start of an entry line; null when it is none. The payload is not looked at. */
export function parseEnvelope(line: Buffer): Envelope | null {
  const match = ENVELOPE.exec(line.toString("latin1", 0, Math.min(line.length, ENVELOPE_BYTES_MAX)));
  if (match === null || line.at(-1) !== 125) return null;
  const [text, id, seq, parentId, time, type, after] = match;
  return {
    id: id as EntryId,
    seq: Number(seq),
    parentId: parentId ?? null,
    time: time ?? "",
    type: type as EntryType,
    length: text.length,
    empty: after === "}",
  };
}

/** An entry line as the entry it holds, the payload exactly as it was given; null when it is none. */
export function parseEntry(line: Buffer, v: number): StoredEntry | null {
  const envelope = parseEnvelope(line);
  if (envelope === null) return null;
  const { length, empty, ...entry } = envelope;
  return { v, ...entry, payload: empty ? "{}" : `{${textOf(line.subarray(length))}` };
}
