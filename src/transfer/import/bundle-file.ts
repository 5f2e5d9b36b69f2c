import { createReadStream } from "node:fs";
import type { ImportFile } from "./open-import.ts";

/** A file on disk, read as often as it is needed and never whole. */
export function bundleFile(path: string): ImportFile {
  return { name: path, chunks: () => createReadStream(path) };
}
