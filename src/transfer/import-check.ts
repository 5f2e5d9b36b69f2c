import { createHash } from "node:crypto";
import { isLogError, LogError } from "#log/errors";
import { parseConversationId, parseSpaceId } from "#log/ids";
import { prepare, systemIdsAndTime } from "#store/prepare";
import type { SpaceStore } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";
import type { BlobPiece } from "./importers/blob-lines.ts";
import { checkJsonObject } from "#log/json/json-text";
import { foreignFile } from "./importers/foreign-files.ts";
import { contentBlobs } from "#log/blob-names";
import { BlobCheck } from "./import-blobs.ts";
import { FORMATS, type ImportFormat, type ImportHeader } from "./import-format.ts";
import { type Line, readLines } from "./read-lines.ts";

const TRIAL = parseConversationId("trial");

/** Bytes that can be read more than once. */
export interface ImportFile {
  readonly name: string;
  chunks(): AsyncIterable<Uint8Array>;
}

interface Problem {
  readonly line: number;
  readonly byte: number;
  readonly code: string;
  readonly message: string;
}

/** What a file holds and what is wrong with it, learned without writing anything. */
export interface Checked {
  readonly format: ImportFormat;
  readonly header: ImportHeader;
  readonly digest: string;
  readonly entries: number;
  readonly problems: readonly Problem[];
  /** The numbers of the lines that cannot come along. */
  readonly unusable: ReadonlySet<number>;
  /** The digests of the blobs that come along. */
  readonly blobs: ReadonlySet<string>;
  /** Those that entries name and the file does not have: nothing is wrong with the entries themselves. */
  readonly missing: readonly string[];
}

/** Finds the format by the first line and gives the others; the header is not among them. */
export async function openImport(
  file: ImportFile,
): Promise<{ format: ImportFormat; header: ImportHeader; lines: AsyncGenerator<Line> }> {
  const lines = filled(readLines(file.chunks()));
  const first = await lines.next();
  if (first.done === true) throw new LogError("invalid_request", `${file.name} is empty`);
  if (!("text" in first.value)) throw unknownShape(file, first.value.error);
  try {
    for (const format of FORMATS) {
      const header = format.header(first.value.text);
      if (header !== null) return { format, header, lines };
    }
  } catch (error) {
    if (isLogError(error, "unsupported_version") || isLogError(error, "damaged")) throw error;
    throw unknownShape(file, error);
  }
  throw unknownShape(file, undefined, foreignFile(checkJsonObject(first.value.text).value));
}

function unknownShape(
  file: ImportFile,
  cause: unknown,
  known: ReturnType<typeof foreignFile> = null,
): LogError {
  const more = known === null ? "" : `: ${known.advice}`;
  return new LogError(
    "invalid_request",
    `Line 1 of ${file.name} is neither the header of an export nor of a session log; nothing was imported${more}`,
    { file: file.name, line: 1, byte: 0, ...(known === null ? {} : { kind: known.kind }) },
    { cause },
  );
}

async function* filled(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
  for await (const line of lines) if (!("text" in line) || line.text.trim() !== "") yield line;
}

/** Imports the file into memory, entry by entry: the rules that judge it are the ones every append goes through. */
export async function checkImport(file: ImportFile, onLine: (line: number) => void): Promise<Checked> {
  const hash = createHash("sha256");
  const { format, header, lines } = await openImport({
    name: file.name,
    chunks: () => hashed(file.chunks(), hash),
  });
  await using store = inMemoryStore();
  const trial = new Trial(store.space(parseSpaceId("import")));
  if (header.root !== null) await trial.take(header.root);
  const problems: Problem[] = [];
  const unusable = new Set<number>();
  const blobs = new BlobCheck();
  let expected: number | null = 1;
  for await (const line of lines) {
    onLine(line.number);
    const place = { line: line.number, byte: line.offset };
    try {
      const piece = pieceOf(line, format);
      if (piece !== null) {
        blobs.take(piece);
        continue;
      }
      const { body, seq } = textOf(line, format);
      if (seq !== null && expected !== null && seq !== expected) {
        problems.push({
          ...place,
          code: "damaged",
          message: jump(expected, seq),
        });
      }
      expected = seq === null ? null : seq + 1;
      for (const digest of await trial.take(body)) blobs.named.add(digest);
    } catch (error) {
      if (!isLogError(error)) throw error;
      const torn = line.whole ? "" : "The file was cut off in this line. ";
      problems.push({ ...place, code: error.code, message: `${torn}${error.message}` });
      unusable.add(line.number);
      // How many entries a bad line stood for is not known, so the count starts anew behind it.
      if (!("text" in line) || error.code === "invalid_entry") expected = null;
    }
  }
  problems.push(...cutOffBlob(blobs));
  const ended = expected === null ? null : expected - 1;
  if (header.entries !== null && ended !== null && ended !== header.entries && problems.length === 0) {
    problems.push({
      line: 0,
      byte: 0,
      code: "damaged",
      message: `The file ends after entry ${ended} of ${header.entries}`,
    });
  }
  const { entries } = trial;
  const { whole, missing } = blobs;
  return { format, header, digest: hash.digest("hex"), entries, problems, unusable, blobs: whole, missing };
}

function cutOffBlob(blobs: BlobCheck): readonly Problem[] {
  try {
    blobs.end();
    return [];
  } catch (error) {
    if (!isLogError(error)) throw error;
    return [{ line: 0, byte: 0, code: error.code, message: error.message }];
  }
}

export function pieceOf(line: Line, format: ImportFormat): BlobPiece | null {
  return "text" in line ? (format.blob?.(line.text) ?? null) : null;
}

function jump(expected: number, seq: number): string {
  if (seq < expected) return `Entry ${seq} stands here where entry ${expected} belongs`;
  return seq === expected + 1
    ? `Entry ${expected} is missing before this line`
    : `Entries ${expected} to ${seq - 1} are missing before this line`;
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

export function textOf(
  line: Line,
  format: ImportFormat,
): { readonly body: string; readonly seq: number | null } {
  if (!("text" in line)) throw line.error;
  return format.entry(line.text);
}

/** A log in memory that takes one entry at a time. */
class Trial {
  readonly #space: SpaceStore;
  entries: number = 0;

  constructor(space: SpaceStore) {
    this.#space = space;
  }

  /** Gives the blobs the entry's images name. */
  async take(body: string): Promise<readonly string[]> {
    const prepared = prepare([body], systemIdsAndTime);
    if (this.entries === 0) await this.#space.create({ conversation: TRIAL, ...prepared });
    else
      await this.#space.append({
        conversation: TRIAL,
        author: { kind: "once" },
        ...prepared,
        durability: "relaxed",
      });
    this.entries++;
    return prepared.drafts.flatMap(({ draft }) => contentBlobs(draft.body));
  }
}
