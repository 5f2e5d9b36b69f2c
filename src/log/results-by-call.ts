import type { Entry, EntryOf } from "./entry.ts";
import type { ToolCall } from "./message.ts";

/** For each tool call on a branch the result that answers it: call ids may come again, so the nearest before counts. */
export function resultsByCall<E extends Entry>(
  branch: readonly E[],
): {
  readonly of: ReadonlyMap<ToolCall, E & EntryOf<"message">>;
  readonly paired: ReadonlySet<Entry>;
} {
  const open = new Map<string, ToolCall>();
  const of = new Map<ToolCall, E & EntryOf<"message">>();
  for (const entry of branch) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "assistant")
      for (const block of message.content) if (block.type === "toolCall") open.set(block.id, block);
    if (message.role !== "toolResult") continue;
    const call = open.get(message.toolCallId);
    if (call === undefined || of.has(call)) continue;
    of.set(call, entry as E & EntryOf<"message">);
  }
  return { of, paired: new Set<Entry>(of.values()) };
}
