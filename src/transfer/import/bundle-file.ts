import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ImportFile } from "./open-import.ts";

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
