import { isLogError, LogError } from "#log/errors";
import { checkJsonObject } from "#log/json/json-text";
import {
  holdfastJsonl,
  type ImportBatch,
  type Importer,
  type ImportHeader,
  type ImportReader,
  sessionLog,
} from "./importers.ts";
import { type Line, readLines } from "./read-lines.ts";
import type { Fields } from "#log/json/json-fields";
import { VENDORS } from "#vendors/known-vendors";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const IMPORTERS: readonly Importer[] = [holdfastJsonl, sessionLog];

/** Bytes that can be read more than once. */
export interface ImportFile {
  readonly name: string;
  chunks(): AsyncIterable<Uint8Array>;
}

/** What one record of a file gives, or why it gives nothing. */
export type ImportStep = {
  /** Line 0 is the end of the file. */
  readonly line: { readonly number: number; readonly offset: number; readonly whole: boolean };
} & (
  | { readonly batch: ImportBatch }
  /** `unread`: not even its text could be had. */
  | { readonly error: LogError; readonly unread: boolean }
);

interface OpenImport {
  /** The name of the shape. */
  readonly format: string;
  readonly header: ImportHeader | null;
  readonly steps: AsyncGenerator<ImportStep>;
}

/** Finds a file's shape by its first record, and reads the others. */
export async function openImport(
  file: ImportFile,
  importers: readonly Importer[] = IMPORTERS,
): Promise<OpenImport> {
  const lines = filled(readLines(file.chunks()));
  const first = await lines.next();
  if (first.done === true)
    throw new LogError("invalid_request", `${file.name} is empty`, { file: file.name, kind: "empty" });
  if (!("text" in first.value)) throw unknownShape(file, await foreignBytes(file), first.value.error);
  try {
    for (const importer of importers) {
      const reader = importer.begin(first.value.text);
      if (reader !== null)
        return { format: importer.name, header: reader.header, steps: stepsOf(lines, reader) };
    }
  } catch (error) {
    if (isLogError(error, "unsupported_version") || isLogError(error, "damaged")) throw error;
    throw unknownShape(file, await foreignBytes(file), error);
  }
  throw unknownShape(file, foreignLine(checkJsonObject(first.value.text).value));
}

function unknownShape(file: ImportFile, fileKind: ForeignFile | null, cause?: unknown): LogError {
  const problem =
    fileKind === null
      ? `Line 1 of ${file.name} is not the header of a bundle or a session log`
      : `${file.name} is ${fileKind.name}, not a bundle or a session log`;
  return new LogError(
    "invalid_request",
    problem,
    { file: file.name, line: 1, byte: 0, ...(fileKind === null ? {} : { kind: fileKind.kind }) },
    { cause },
  );
}

async function* filled(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
  for await (const line of lines) if (!("text" in line) || line.text.trim() !== "") yield line;
}

async function* stepsOf(lines: AsyncIterable<Line>, reader: ImportReader): AsyncGenerator<ImportStep> {
  for await (const line of lines) {
    if ("text" in line) yield stepOf(line, () => reader.read(line.text));
    else yield { line, error: line.error, unread: true };
  }
  yield stepOf({ number: 0, offset: 0, whole: true }, () => reader.end?.() ?? { bodies: [] });
}

function stepOf(line: ImportStep["line"], read: () => ImportBatch): ImportStep {
  try {
    return { line, batch: read() };
  } catch (error) {
    if (!isLogError(error)) throw error;
    return { line, error, unread: false };
  }
}

/** What a file is that is no export: for programs, and in words. */
interface ForeignFile {
  readonly kind: string;
  readonly name: string;
}

interface LineKind extends ForeignFile {
  readonly is: (line: Fields) => boolean;
}

/** Files people have and try first; each is known by what its first line has. */
const LINES: readonly LineKind[] = [
  ...VENDORS.flatMap(({ name, records }) =>
    records === null
      ? []
      : [{ kind: name, name: records.fileName, is: (line: Fields) => records.isRecord(line) }],
  ),
  {
    kind: "jsonl-store",
    name: "a log file of a JSONL store",
    is: (line) => "seq" in line && "id" in line && "type" in line,
  },
  {
    kind: "bodies",
    name: "an entry as used by `append`",
    is: (line) => typeof line["type"] === "string" && ("message" in line || "customType" in line),
  },
];

/** Returns the kind of a file by its first line; null if unknown. */
function foreignLine(line: Fields): ForeignFile | null {
  const kind = LINES.find(({ is }) => is(line));
  return kind === undefined ? null : { kind: kind.kind, name: kind.name };
}

const COMPRESSED = { kind: "compressed", name: "compressed" };

/** Binary files by their first bytes. Archives are not unpacked, because their contents have no size limit. */
const BEGINNINGS: readonly (readonly [string, ForeignFile])[] = [
  ["\u001F\u008B", COMPRESSED],
  ["PK\u0003\u0004", COMPRESSED],
  ["PK\u0005\u0006", COMPRESSED],
  ["BZh", COMPRESSED],
  ["\u00FD7zXZ\u0000", COMPRESSED],
  ["7z\u00BC\u00AF", COMPRESSED],
  ["(\u00B5/\u00FD", COMPRESSED],
  ["SQLite format 3\u0000", { kind: "sqlite", name: "a SQLite database" }],
];
const BEGINNING_BYTES = 4_096;

/** What a file is by its first bytes, where they are no text; null where they may be. */
async function foreignBytes(file: ImportFile): Promise<ForeignFile | null> {
  for await (const chunk of file.chunks()) {
    const begins = Buffer.from(chunk.subarray(0, BEGINNING_BYTES)).toString("latin1");
    const kind = BEGINNINGS.find(([start]) => begins.startsWith(start))?.[1];
    return kind ?? (begins.includes("\u0000") ? { kind: "binary", name: "no text" } : null);
  }
  return null;
}

/** A file on disk, read as often as it is needed and never whole. */
export function bundleFile(path: string): ImportFile {
  return { name: path, chunks: () => createReadStream(path) };
}

export interface SpooledFile extends AsyncDisposable {
  readonly file: ImportFile;
  readonly bytes: number;
}

/** Set down where it can be read twice, as an import does: readable by this user alone, and gone when it is disposed of. */
export async function spooledFile(name: string, bytes: AsyncIterable<Uint8Array>): Promise<SpooledFile> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-import-"));
  const path = join(folder, "input.jsonl");
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const target = createWriteStream(path, { mode: 0o600 });
  try {
    await pipeline(Readable.from(bytes), target);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    file: { ...bundleFile(path), name },
    bytes: target.bytesWritten,
    [Symbol.asyncDispose]: remove,
  };
}
