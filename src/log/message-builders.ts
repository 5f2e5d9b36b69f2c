import type { EntryBody } from "./entry.ts";
import type { AssistantMessage, ContentBlock, MessageExtras, ToolResultMessage } from "./message.ts";

/** What is said: plain text, or blocks of content. */
export type MessageContent = string | readonly ContentBlock[];

type MessageBody = Extract<EntryBody, { type: "message" }>;

function blocks(content: MessageContent): readonly ContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** A body for `append`: what a person says. */
export function user(content: MessageContent, more: MessageExtras = {}): MessageBody {
  return { type: "message", message: { role: "user", content: blocks(content), ...more } };
}

/** A body for `append`: what the model says. */
export function assistant(
  content: MessageContent,
  more: Omit<AssistantMessage, "role" | "content"> = {},
): MessageBody {
  return { type: "message", message: { role: "assistant", content: blocks(content), ...more } };
}

/** A body for `append`: what came of a tool call, named by the call's id. */
export function toolResult(
  toolCallId: string,
  content: MessageContent,
  more: Omit<ToolResultMessage, "role" | "toolCallId" | "content"> = {},
): MessageBody {
  return { type: "message", message: { role: "toolResult", toolCallId, content: blocks(content), ...more } };
}
