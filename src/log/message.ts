import type { Json } from "./json/json-text.ts";
import type { Bodies, EntryBody } from "./entry.ts";
import { fieldsIn } from "./json/json-fields.ts";

type JsonObject = { readonly [name: string]: Json };

/** Members that any block may have. */
export type BlockExtras = {
  /** What the provider wants back with the block, by provider: signatures, ids, phases. */
  readonly providerMetadata?: JsonObject;
};

/** The bytes of a block: the digest of a blob of the conversation, or base64. */
type BlockData = {
  readonly mediaType: string;
  readonly blob?: string;
  readonly data?: string;
} & BlockExtras;

/**
 * A block of which only its provider knows what it means: kept word for word, and left out of what others are shown.
 * Its type may be any text that is none of ours. The type checker is told of those with a separator, which it can tell
 * from ours when it narrows.
 */
export type ProviderBlock = {
  readonly type: `${string}${"_" | "-" | "." | ":" | "/"}${string}`;
  readonly [member: string]: Json;
} & BlockExtras;

export type ContentBlock =
  | ({ readonly type: "text"; readonly text: string } & BlockExtras)
  | ({ readonly type: "thinking"; readonly thinking: string; readonly signature?: string } & BlockExtras)
  /** Thinking that only its provider can read. */
  | ({ readonly type: "redactedThinking"; readonly data: string } & BlockExtras)
  | ({
      readonly type: "toolCall";
      readonly id: string;
      readonly name: string;
      readonly input: Json;
    } & BlockExtras)
  | ({ readonly type: "image" } & BlockData)
  | ({ readonly type: "audio" } & BlockData)
  | ({ readonly type: "file"; readonly name?: string } & BlockData)
  | ProviderBlock;

/** A block of bytes: in the log they would weigh on every read, so they are kept as blobs. */
export type MediaBlock = Extract<ContentBlock, { type: "image" | "audio" | "file" }>;
export type ToolCall = Extract<ContentBlock, { type: "toolCall" }>;

export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly costMicros?: number;
}

export interface MessageExtras {
  /** Any JSON; kept, never sent to the model. */
  readonly details?: Json;
  /** In the log and the context, not in the history people read. */
  readonly internal?: boolean;
}

export interface UserMessage extends MessageExtras {
  readonly role: "user";
  readonly content: readonly ContentBlock[];
}

export interface AssistantMessage extends MessageExtras {
  readonly role: "assistant";
  readonly content: readonly ContentBlock[];
  readonly model?: string;
  readonly stopReason?: string;
  readonly usage?: Usage;
}

export interface ToolResultMessage extends MessageExtras {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName?: string;
  readonly isError?: boolean;
  readonly content: readonly ContentBlock[];
}

export type Role = Message["role"];
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** The text of a message, without calls, thinking and images. */
export function textOfBlocks(content: readonly ContentBlock[], between: string = ""): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(between);
}

/**
 * What is kept with a message and never sent to a model. Its home is the message. Bodies in the manner of format 1 have it
 * beside the message; they are still accepted, and their text stays as it came, so readers ask here.
 * Where both places say something, the message's members count before the others.
 */
export function detailsOf(entry: Bodies["message"]): Json | undefined {
  const { details } = entry.message;
  const beside = besideMessage(entry).details;
  const own = fieldsIn(details);
  return details === undefined || own === null ? (details ?? beside) : { ...fieldsIn(beside), ...own };
}

/** Kept in the log and sent to the model, but not part of what people read; of either home. */
export function isInternal(entry: Bodies["message"]): boolean {
  return entry.message.internal === true || besideMessage(entry).internal === true;
}

function besideMessage(entry: Bodies["message"]): MessageExtras {
  return entry as MessageExtras;
}

/** Content: plain text, or a list of blocks. */
type MessageContent = string | readonly ContentBlock[];

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

/** A body for `append`: the result of a tool call, named by the call's id. */
export function toolResult(
  toolCallId: string,
  content: MessageContent,
  more: Omit<ToolResultMessage, "role" | "toolCallId" | "content"> = {},
): MessageBody {
  return { type: "message", message: { role: "toolResult", toolCallId, content: blocks(content), ...more } };
}
