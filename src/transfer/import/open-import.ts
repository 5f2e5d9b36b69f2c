import { isLogError, LogError } from "#log/errors";
import { checkJsonObject } from "#log/json/json-text";
import { holdfastJsonl } from "#transfer/importers/holdfast-jsonl";
import type { ImportBatch, Importer, ImportHeader, ImportReader } from "#transfer/importers/importer";
import { sessionLog } from "#transfer/importers/session-log";
import { type Line, readLines } from "#transfer/lines/read-lines";
import { foreignBytes, type ForeignFile, foreignLine } from "./foreign-files.ts";

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

function unknownShape(file: ImportFile, known: ForeignFile | null, cause?: unknown): LogError {
  const what =
    known === null
      ? `Line 1 of ${file.name} is neither the header of an export nor of a session log`
      : `${file.name} is ${known.name}, and neither an export nor a session log`;
  return new LogError(
    "invalid_request",
    `${what}; nothing was imported`,
    { file: file.name, line: 1, byte: 0, ...(known === null ? {} : { kind: known.kind }) },
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
