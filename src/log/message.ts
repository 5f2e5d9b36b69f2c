import type { Json } from "./json/json-text.ts";

type JsonObject = { readonly [name: string]: Json };

/** What any block may have besides what it says. */
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

/** The text of a message, without what it called, thought or showed. */
export function textOfBlocks(content: readonly ContentBlock[], between: string = ""): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(between);
}
