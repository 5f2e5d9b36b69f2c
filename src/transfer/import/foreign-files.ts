import type { Fields } from "#log/json/json-fields";
import { VENDORS } from "#vendors/known-vendors";
import type { ImportFile } from "./open-import.ts";

/** What a file is that is no export: for programs, and in words. */
export interface ForeignFile {
  readonly kind: string;
  readonly name: string;
}

interface KnownLine extends ForeignFile {
  readonly is: (line: Fields) => boolean;
}

/** Files people have and try first; each is known by what its first line has. */
const LINES: readonly KnownLine[] = [
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
    name: "a body as `append` takes it",
    is: (line) => typeof line["type"] === "string" && ("message" in line || "customType" in line),
  },
];

/** What a file is by its first line; null when nobody knows. */
export function foreignLine(line: Fields): ForeignFile | null {
  const found = LINES.find(({ is }) => is(line));
  return found === undefined ? null : { kind: found.kind, name: found.name };
}

const COMPRESSED = { kind: "compressed", name: "compressed" };

/** What is no text, by how its bytes begin. Nothing is ever unpacked: what a packed file may become has no bound. */
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
export async function foreignBytes(file: ImportFile): Promise<ForeignFile | null> {
  for await (const chunk of file.chunks()) {
    const begins = Buffer.from(chunk.subarray(0, BEGINNING_BYTES)).toString("latin1");
    const found = BEGINNINGS.find(([start]) => begins.startsWith(start))?.[1];
    return found ?? (begins.includes("\u0000") ? { kind: "binary", name: "no text" } : null);
  }
  return null;
}
