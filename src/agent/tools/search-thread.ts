import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { parentPort, workerData } from "node:worker_threads";

export interface SearchTask {
  readonly folder: string;
  readonly path: string;
  readonly pattern: string;
  readonly matchesMax: number;
}

export interface SearchProgress {
  readonly lines: readonly string[];
  readonly files: number;
  readonly skipped: number;
  /** There were more matches than are told. */
  readonly more: boolean;
}

const LEFT_OUT = new Set([".git", "node_modules"]);
const FILES_MAX = 100_000;
const FILE_BYTES_MAX = 4_194_304;
const BINARY_BYTES = 8_192;
const LINE_CHARS_MAX = 4_000; // of a line, what is looked at: minified files are one
const SHOWN_CHARS_MAX = 300;

/** The files below a path; links are not followed, so there is an end. */
function* filesBelow(path: string): Generator<string> {
  if (statSync(path).isFile()) {
    yield path;
    return;
  }
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const inside: string[] = [];
    for (const entry of entriesOf(folder)) {
      if (LEFT_OUT.has(entry.name)) continue;
      const whole = join(folder, entry.name);
      if (entry.isDirectory()) inside.push(whole);
      else if (entry.isFile()) yield whole;
    }
    folders.push(...inside.toReversed());
  }
}

function entriesOf(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch {
    return [];
  }
}

function readEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true }).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
}

const bytes = Buffer.alloc(FILE_BYTES_MAX + 1);

/** Returns null for files that are not searched. */
function textOf(path: string): string | null {
  try {
    const file = openSync(path, "r");
    try {
      const length = readSync(file, bytes, 0, bytes.length, 0);
      if (length > FILE_BYTES_MAX || bytes.subarray(0, Math.min(length, BINARY_BYTES)).includes(0))
        return null;
      return bytes.toString("utf8", 0, length);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

function search({ folder, path, pattern, matchesMax }: SearchTask): void {
  const expression = new RegExp(pattern);
  let [files, skipped, matches] = [0, 0, 0];
  const tell = (lines: readonly string[], done: boolean): void => {
    const message: SearchProgress & { readonly done: boolean } = {
      lines,
      files,
      skipped,
      more: matches > matchesMax || files >= FILES_MAX,
      done,
    };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads has none
    parentPort?.postMessage(message);
  };
  for (const file of filesBelow(path)) {
    if (matches > matchesMax || files >= FILES_MAX) break;
    files++;
    const text = textOf(file);
    if (text === null) skipped++;
    const lines: string[] = [];
    for (const [index, line] of (text ?? "").split("\n").entries()) {
      if (!expression.test(line.slice(0, LINE_CHARS_MAX)) || ++matches > matchesMax) continue;
      lines.push(`${relative(folder, file)}:${index + 1}: ${line.slice(0, SHOWN_CHARS_MAX).trimEnd()}`);
    }
    // Report matches at once: a file that never ends does not lose earlier matches.
    if (lines.length > 0) tell(lines, false);
  }
  tell([], true);
}

search(workerData as SearchTask);
