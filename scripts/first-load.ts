/** What a browser loads before it shows the history: the size of the built UI that a first visit waits for. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

export interface FirstLoad {
  readonly files: readonly string[];
  readonly gzipBytes: number;
}

export function firstLoad(folder: string): FirstLoad {
  const manifest = JSON.parse(readFileSync(join(folder, ".vite", "manifest.json"), "utf8")) as Record<
    string,
    Chunk
  >;
  const files = new Set<string>(["index.html"]);
  const visit = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || files.has(chunk.file)) return;
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const other of chunk.imports ?? []) visit(other);
  };
  visit("index.html");
  visit("src/pages/history/history-page.tsx");
  const sizes = [...files].map((file) => gzipSync(readFileSync(join(folder, file))).length);
  return { files: [...files], gzipBytes: sizes.reduce((sum, one) => sum + one, 0) };
}
