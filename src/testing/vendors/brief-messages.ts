import type { ContentBlock } from "#log/message";
import type { NativeMessage } from "#upstream/upstream";

/** One line per message: who said what. */
export function briefMessages(messages: readonly NativeMessage[] | null): readonly string[] {
  return (messages ?? []).map(({ message }) => {
    const text = message.content.map(briefBlock).join(" + ");
    if (message.role !== "toolResult") return `${message.role}: ${text}`;
    return `${message.isError === true ? "error" : "result"} of ${message.toolCallId}: ${text}`;
  });
}

function briefBlock(block: ContentBlock): string {
  if (block.type === "text") return block.text.slice(0, 40);
  if (block.type === "thinking") return `(${block.thinking})`;
  if (block.type === "toolCall") return `${block.name} ${block.id}`;
  return block.type === "image" ? block.mediaType : `[${block.type}]`;
}
