import type { ContentBlock, Message } from "#log/message";
import type { Json } from "#log/json/json-text";
import { ASSISTANT_FIRST, openedByUser } from "#log/projections/pairs";
import { imageData } from "./images.ts";
import { groupResults, isGroup, readAll, type Sayable, type Shape, unsaid, writeAll } from "./original.ts";

/** A message of Anthropic's Messages API, as far as this reads it; the package's own types fit. */
export interface AnthropicMessageLike {
  readonly role: string;
  readonly content: string | readonly AnthropicBlockLike[];
}

interface AnthropicBlockLike {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: unknown;
  readonly source?: unknown;
}

type TextPart = { type: "text"; text: string };
type MediaType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";
type ImagePart = { type: "image"; source: { type: "base64"; media_type: MediaType; data: string } };
type ResultPart = {
  type: "tool_result";
  tool_use_id: string;
  content: string | (TextPart | ImagePart)[];
  is_error?: boolean;
};

/** A message as it is written; it fits the package's `MessageParam`. */
export type AnthropicMessage =
  | { role: "user"; content: string | (TextPart | ImagePart | ResultPart)[] }
  | { role: "assistant"; content: string | ReplyPart[] };

type ReplyPart =
  | TextPart
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: unknown };

export const ANTHROPIC: Shape<AnthropicMessageLike> = { name: "anthropic", read, write };

/** Messages of a Messages API request as messages of a log: results become messages of their own. */
export function fromAnthropic(messages: readonly AnthropicMessageLike[]): readonly Message[] {
  return readAll(ANTHROPIC, messages);
}

/**
 * Messages of a log or a context as those of a Messages API request, as the API accepts them: the user comes first, no text
 * is blank, results that follow each other are one message. Thinking without a signature is left out.
 */
export function toAnthropic(messages: readonly Sayable[]): AnthropicMessage[] {
  const written = writeAll(ANTHROPIC, messages) as AnthropicMessage[];
  const opening: AnthropicMessage = { ...ASSISTANT_FIRST, content: [...ASSISTANT_FIRST.content] };
  return [...openedByUser(written.flatMap(accepted), opening)].map(withoutTrailingSpace);
}

/** Without blank texts; a message of nothing else is none. */
function accepted(message: AnthropicMessage): readonly AnthropicMessage[] {
  const { content } = message;
  if (typeof content === "string") return content.trim() === "" ? [] : [message];
  const parts = content.filter((part) => part.type !== "text" || part.text.trim() !== "");
  return parts.length === 0 ? [] : [{ ...message, content: parts } as AnthropicMessage];
}

function withoutTrailingSpace(
  message: AnthropicMessage,
  at: number,
  all: readonly AnthropicMessage[],
): AnthropicMessage {
  const { role, content } = message;
  if (at < all.length - 1 || role !== "assistant") return message;
  if (typeof content === "string") return { role, content: content.trimEnd() };
  const last = content.at(-1);
  if (last?.type !== "text") return message;
  return { role, content: [...content.slice(0, -1), { ...last, text: last.text.trimEnd() }] };
}

function read({ role, content }: AnthropicMessageLike): readonly Message[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (role === "assistant") return [{ role, content: blocks.map(blockOf) }];
  const results = blocks.filter((block) => block.type === "tool_result").map(resultOf);
  const rest = blocks.filter((block) => block.type !== "tool_result").map(blockOf);
  return rest.length === 0 && results.length > 0 ? results : [...results, { role: "user", content: rest }];
}

function resultOf(block: AnthropicBlockLike): Message {
  const { content } = block;
  const inner: readonly AnthropicBlockLike[] =
    typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  return {
    role: "toolResult",
    toolCallId: block.tool_use_id ?? "",
    content: inner.map(blockOf),
    ...(block.is_error === undefined ? {} : { isError: block.is_error }),
  };
}

function blockOf(block: AnthropicBlockLike): ContentBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text ?? "" };
    case "thinking":
      return {
        type: "thinking",
        thinking: block.thinking ?? "",
        ...(block.signature === undefined ? {} : { signature: block.signature }),
      };
    case "redacted_thinking":
      return { type: "redactedThinking", data: block.data ?? "" };
    case "tool_use":
      return {
        type: "toolCall",
        id: block.id ?? "",
        name: block.name ?? "",
        input: (block.input === undefined ? {} : block.input) as Json,
      };
    case "image":
      return imageOf(block);
    default:
      return unsaid(block.type);
  }
}

function imageOf({ source }: AnthropicBlockLike): ContentBlock {
  const { type, media_type: mediaType, data, url } = (source ?? {}) as { [name: string]: unknown };
  if (type === "base64" && typeof mediaType === "string" && typeof data === "string")
    return { type: "image", mediaType, data };
  return unsaid(typeof url === "string" ? `image ${url}` : "image");
}

function write(messages: readonly Sayable[]): AnthropicMessage[] {
  return groupResults(messages).map((one): AnthropicMessage => {
    if (isGroup(one)) return { role: "user", content: one.map(resultPart) };
    return one.role === "user" ? userMessage(one) : assistantMessage(one);
  });
}

function resultPart({ toolCallId = "", content, isError }: Sayable): ResultPart {
  return {
    type: "tool_result",
    tool_use_id: toolCallId,
    content: partsOf(content),
    ...(isError === undefined ? {} : { is_error: isError }),
  };
}

function userMessage({ content }: Sayable): AnthropicMessage {
  return { role: "user", content: partsOf(content) };
}

/** Plain text is written as such. */
function partsOf(content: readonly ContentBlock[]): string | (TextPart | ImagePart)[] {
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return only.text;
  return content.flatMap((block): (TextPart | ImagePart)[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }];
    if (block.type !== "image") return [];
    const source = {
      type: "base64",
      media_type: block.mediaType as MediaType,
      data: imageData(block),
    } as const;
    return [{ type: "image", source }];
  });
}

function assistantMessage({ content }: Sayable): AnthropicMessage {
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return { role: "assistant", content: only.text };
  return {
    role: "assistant",
    content: content.flatMap((block): ReplyPart[] => {
      if (block.type === "text") return [{ type: "text", text: block.text }];
      if (block.type === "toolCall")
        return [{ type: "tool_use", id: block.id, name: block.name, input: block.input }];
      if (block.type === "thinking" && block.signature !== undefined)
        return [{ type: "thinking", thinking: block.thinking, signature: block.signature }];
      if (block.type === "redactedThinking") return [{ type: "redacted_thinking", data: block.data }];
      return [];
    }),
  };
}
