import { type Dirent } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { type Fields, parseFields } from "#log/json/json-fields";

const CHUNK_BYTES = 1_048_576; // few reads for a long transcript, little memory for a short one
const LINE_BYTES_MAX = 268_435_456; // a longer line could not become a string; it is passed over as damaged
const EDGE_BYTES = 65_536; // what agents themselves read of each end of a transcript to list it
const NEWLINE = 10;

/** Gives every record of a file of JSON lines. Damaged lines are passed over, so is a torn last one. */
export async function eachRecord(path: string, visit: (record: Fields) => void): Promise<void> {
  await using file = await open(path, "r");
  let parts: Buffer[] = [];
  let length = 0;
  const end = (): void => {
    const record = length > LINE_BYTES_MAX ? null : parseFields(Buffer.concat(parts).toString("utf8"));
    parts = [];
    length = 0;
    if (record !== null) visit(record);
  };
  const keep = (part: Buffer): void => {
    length += part.length;
    // A copy, because the chunk is read into again.
    if (length <= LINE_BYTES_MAX) parts.push(Buffer.from(part));
  };
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES);
    if (bytesRead === 0) break;
    let start = 0;
    for (
      let stop = chunk.indexOf(NEWLINE);
      stop >= 0 && stop < bytesRead;
      stop = chunk.indexOf(NEWLINE, start)
    ) {
      keep(chunk.subarray(start, stop));
      end();
      start = stop + 1;
    }
    if (start < bytesRead) keep(chunk.subarray(start, bytesRead));
  }
  if (length > 0) end();
}

export interface Edges {
  readonly head: readonly Fields[];
  readonly tail: readonly Fields[];
  readonly updatedAt: string;
}

/** The first and the last records of a file; the same ones when it is short. Null when it cannot be read. */
export async function readEdges(path: string): Promise<Edges | null> {
  try {
    await using file = await open(path, "r");
    const { size, mtime } = await file.stat();
    const updatedAt = mtime.toISOString();
    const head = await readPart(file, 0, EDGE_BYTES);
    if (size <= EDGE_BYTES) {
      const records = recordsIn(head.split("\n"));
      return { head: records, tail: records, updatedAt };
    }
    const tail = await readPart(file, size - EDGE_BYTES, EDGE_BYTES);
    // The line at the edge is incomplete.
    return {
      head: recordsIn(head.split("\n").slice(0, -1)),
      tail: recordsIn(tail.split("\n").slice(1)),
      updatedAt,
    };
  } catch {
    return null;
  }
}

/** The first record of a file, however long it is. */
export async function readFirst(path: string): Promise<Fields | null> {
  try {
    await using file = await open(path, "r");
    let text = "";
    for (let offset = 0; offset < LINE_BYTES_MAX; offset += CHUNK_BYTES) {
      const part = await readPart(file, offset, CHUNK_BYTES);
      const stop = part.indexOf("\n");
      if (stop >= 0) return parseFields(text + part.slice(0, stop));
      text += part;
      if (part === "") return parseFields(text);
    }
    return null;
  } catch {
    return null;
  }
}

async function readPart(file: FileHandle, offset: number, length: number): Promise<string> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.toString("utf8", 0, bytesRead);
}

function recordsIn(lines: readonly string[]): readonly Fields[] {
  return lines.map(parseFields).filter((record) => record !== null);
}

/** The entries of a folder; empty when it cannot be read. */
export async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Changes whenever the file does; null when there is none. */
export async function stampOf(path: string): Promise<string | null> {
  try {
    const { size, mtimeNs, ino } = await stat(path, { bigint: true });
    return `${size}-${mtimeNs}-${ino}`;
  } catch {
    return null;
  }
}
