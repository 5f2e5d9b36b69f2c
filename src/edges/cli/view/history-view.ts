import type { EntryOf, Entry } from "#log/entry";
import type { ToolCall } from "#log/message";

export type BranchEntry = Entry & { readonly hidden: boolean };
type MessageEntry = EntryOf<"message"> & { readonly hidden: boolean };

/** For each tool call on a branch the result that answers it: call ids may come again, so the nearest before counts. */
export function resultsByCall(branch: readonly BranchEntry[]): {
  readonly of: ReadonlyMap<ToolCall, MessageEntry>;
  readonly paired: ReadonlySet<Entry>;
} {
  const open = new Map<string, ToolCall>();
  const of = new Map<ToolCall, MessageEntry>();
  for (const entry of branch) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "assistant")
      for (const block of message.content) if (block.type === "toolCall") open.set(block.id, block);
    if (message.role !== "toolResult") continue;
    const call = open.get(message.toolCallId);
    if (call === undefined || of.has(call)) continue;
    of.set(call, entry);
  }
  return { of, paired: new Set<Entry>(of.values()) };
}
