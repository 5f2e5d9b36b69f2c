import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Tool } from "#turn/effects/tool";
import type { SearchProgress, SearchTask } from "./search-thread.ts";

const TIMEOUT_MS = 20_000;
const MATCHES_MAX = 200;

/** Searches files by a regular expression, in a thread of its own: one that never ends is ended by its time limit. */
export function searchTool(cwd: string, timeoutMs: number = TIMEOUT_MS): Tool {
  return {
    name: "search",
    description:
      "Search the lines of files with a JavaScript regular expression. `path` is a file or folder (default: the working directory). Skips .git, node_modules, binary files and very large files.",
    input: {
      type: "object",
      properties: { pattern: { type: "string" }, path: { type: "string" } },
      required: ["pattern"],
      additionalProperties: false,
    },
    effect: "none",
    timeoutMs,
    run: async (input, { signal }) => {
      const pattern = wordsIn(fieldsOf(input)["pattern"]);
      const target = wordsIn(fieldsOf(input)["path"]) || ".";
      const path = resolve(cwd, target);
      checkPattern(pattern);
      if ((await stat(path).catch(() => null)) === null)
        throw new Error(`File or folder not found: ${target}`);
      return outputOf(await searchAside({ folder: cwd, path, pattern, matchesMax: MATCHES_MAX }, signal));
    },
  };
}

function checkPattern(pattern: string): void {
  try {
    // oxlint-disable-next-line no-new -- it is made to see whether it can be
    new RegExp(pattern);
  } catch (error) {
    throw new Error(`Invalid regular expression: ${(error as Error).message}`, { cause: error });
  }
}

interface SearchResult extends SearchProgress {
  readonly isWhole: boolean;
}

async function searchAside(task: SearchTask, signal: AbortSignal): Promise<SearchResult> {
  const file = import.meta.url.endsWith(".ts") ? "./search-thread.ts" : "./search-thread.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: task,
    name: "holdfast-search",
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const { promise, resolve: end, reject } = Promise.withResolvers<boolean>();
  let progress: SearchProgress = { lines: [], files: 0, skipped: 0, more: false };
  worker.on("message", (now: SearchProgress & { readonly done: boolean }) => {
    progress = { ...now, lines: [...progress.lines, ...now.lines] };
    if (now.done) end(true);
  });
  worker.on("error", reject);
  worker.on("exit", () => end(false));
  const stop = (): void => end(false);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return { isWhole: await promise, ...progress };
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

function outputOf({ lines, files, skipped, more, isWhole }: SearchResult): {
  readonly content: string;
  readonly isError: boolean;
} {
  const notes = [
    lines.length === 0 ? `No matches in ${files} files` : null,
    more ? `Stopped after ${MATCHES_MAX} matches. Use a narrower pattern or path.` : null,
    skipped > 0 ? `Skipped ${skipped} files: binary, very large or unreadable` : null,
    isWhole ? null : "Stopped early: the pattern is too slow, or there are too many files",
  ];
  const noteLines = notes.filter((note) => note !== null).map((note) => `[${note}]`);
  return { content: [...lines, ...noteLines].join("\n"), isError: !isWhole };
}
