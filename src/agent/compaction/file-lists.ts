import type { Entry } from "#log/entry";
import type { ToolCall } from "#log/message";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

const PATHS_MAX = 1_000; // of each list; the ones touched last are kept

/** Which files a conversation has read and changed, oldest first; a changed one is not told as read, too. */
export interface FileLists {
  readonly read: readonly string[];
  readonly changed: readonly string[];
}

/** Which tools read and which change the file that their argument `path` names. */
export interface FileTools {
  readonly read: readonly string[];
  readonly change: readonly string[];
}

const SHIPPED_FILE_TOOLS: FileTools = { read: ["read"], change: ["write", "edit"] };

/** The lists of entries, oldest first, behind those that an earlier compaction told. A call that failed touched nothing. */
export function fileLists(
  entries: readonly Entry[],
  before: FileLists,
  tools: FileTools = SHIPPED_FILE_TOOLS,
): FileLists {
  const failed = failedCalls(entries);
  const read = new Set(before.read);
  const changed = new Set(before.changed);
  for (const entry of entries) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    for (const block of entry.message.content) {
      if (block.type !== "toolCall" || failed.has(block)) continue;
      const path = pathIn(block.input);
      if (path === null) continue;
      if (tools.read.includes(block.name)) touch(read, path);
      else if (tools.change.includes(block.name)) touch(changed, path);
    }
  }
  return {
    read: [...read].filter((path) => !changed.has(path)).slice(-PATHS_MAX),
    changed: [...changed].slice(-PATHS_MAX),
  };
}

/** What an earlier compaction told; its details may be anybody's. */
export function storedFileLists(details: Json | undefined): FileLists {
  const files = fieldsOf(fieldsOf(details)["files"]);
  return { read: pathsIn(files["read"]), changed: pathsIn(files["changed"]) };
}

function pathsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((path) => typeof path === "string") : [];
}

function pathIn(input: Json): string | null {
  const { path } = fieldsOf(input);
  return typeof path === "string" && path !== "" ? path : null;
}

function touch(paths: Set<string>, path: string): void {
  paths.delete(path);
  paths.add(path);
}

/** Ids come again: a result belongs to the latest call before it. */
function failedCalls(entries: readonly Entry[]): ReadonlySet<ToolCall> {
  const latest = new Map<string, ToolCall>();
  const failed = new Set<ToolCall>();
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    if (entry.message.role === "assistant") {
      for (const block of entry.message.content) if (block.type === "toolCall") latest.set(block.id, block);
    } else if (entry.message.role === "toolResult" && entry.message.isError === true) {
      const call = latest.get(entry.message.toolCallId);
      if (call !== undefined) failed.add(call);
    }
  }
  return failed;
}
