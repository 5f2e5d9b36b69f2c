import type { ContentBlock, Message, ToolCall } from "#log/message";
import type { Json } from "#log/json/json-text";
import { ASSISTANT_FIRST, openedByUser } from "#log/projections/pairs";
import { mediaData } from "./images.ts";
import {
  type Fields,
  foreignBlock,
  groupResults,
  isGroup,
  messageRestOf,
  placeholderBlock,
  type OnOmit,
  optionsOf,
  type Outgoing,
  outgoing,
  plain,
  restOf,
  type Sayable,
  sentPart,
  withMessageRest,
  withMetadata,
  withRest,
  type WriteOptions,
} from "./shape.ts";

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
  readonly title?: string | null;
  readonly cache_control?: unknown;
}

type Cached = { cache_control?: { type: "ephemeral" } };
type TextPart = { type: "text"; text: string } & Cached;
type MediaType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";
type ImagePart = { type: "image"; source: { type: "base64"; media_type: MediaType; data: string } } & Cached;
type DocumentSource =
  | { type: "base64"; media_type: "application/pdf"; data: string }
  | { type: "text"; media_type: "text/plain"; data: string };
type DocumentPart = { type: "document"; source: DocumentSource; title?: string } & Cached;
type VisiblePart = TextPart | ImagePart | DocumentPart;
type ResultPart = {
  type: "tool_result";
  tool_use_id: string;
  content: string | VisiblePart[];
  is_error?: boolean;
} & Cached;

type ReplyPart =
  | TextPart
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | ({ type: "tool_use"; id: string; name: string; input: unknown } & Cached);
type Part = VisiblePart | ResultPart | ReplyPart;

/** A message as it is written; it fits the package's `MessageParam`. */
export type AnthropicMessage =
  | { role: "user"; content: string | (VisiblePart | ResultPart)[] }
  | { role: "assistant"; content: string | ReplyPart[] };

const SHAPE = "anthropic";

/** Messages of a Messages API request as messages of a log: results become messages of their own. */
export function fromAnthropic(messages: readonly AnthropicMessageLike[]): readonly Message[] {
  return messages.flatMap(read);
}

/**
 * Messages of a log or a context as those of a Messages API request, as the API accepts them: the user comes first, roles
 * alternate, results come first in their message, no text is blank. What it has no place for is left out and reported.
 */
export function toAnthropic(messages: readonly Sayable[], options: WriteOptions = {}): AnthropicMessage[] {
  const opening: MessageDraft = { role: "user", parts: [...ASSISTANT_FIRST.content] };
  const written = merged(openedByUser(writtenOf(messages, options), opening));
  const last = written.at(-1);
  const text = last?.role === "assistant" ? last.parts.at(-1) : undefined;
  if (text?.type === "text") last?.parts.splice(-1, 1, { ...text, text: text.text.trimEnd() });
  return written.map(asMessage);
}

/** The same for a piece of a conversation: it may begin with the assistant. */
export function pieceToAnthropic(messages: readonly Sayable[]): AnthropicMessage[] {
  return merged(writtenOf(messages, {})).map(asMessage);
}

function writtenOf(messages: readonly Sayable[], options: WriteOptions): readonly MessageDraft[] {
  return groupResults(outgoing(messages, options)).flatMap(write);
}

function asMessage({ role, parts }: MessageDraft): AnthropicMessage {
  return { role, content: plain(parts) } as AnthropicMessage;
}

function read({ role, content }: AnthropicMessageLike): readonly Message[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (role === "assistant") return [{ role, content: blocks.map(blockOf) }];
  const results = blocks.filter((block) => block.type === "tool_result").map(resultOf);
  const rest = blocks.filter((block) => block.type !== "tool_result").map(blockOf);
  return rest.length === 0 && results.length > 0 ? results : [...results, { role: "user", content: rest }];
}

function resultOf(block: AnthropicBlockLike): Message {
  const { content, is_error: isError } = block;
  const inner: readonly AnthropicBlockLike[] =
    typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  const message: Message = {
    role: "toolResult",
    toolCallId: block.tool_use_id ?? "",
    content: inner.map(blockOf),
    ...(isError === undefined ? {} : { isError }),
  };
  return withMessageRest(SHAPE, message, restOf(block, ["type", "tool_use_id", "content", "is_error"]));
}

function blockOf(part: AnthropicBlockLike): ContentBlock {
  const plainBlock = knownBlock(part);
  if (plainBlock !== null) {
    const { cache_control: mark } = part;
    const marked = mark == null ? {} : { cacheControl: mark as Json };
    const block = withMetadata(plainBlock, "anthropic", marked);
    const written = partOf(block);
    return written === null ? block : withRest(SHAPE, block, { part, written });
  }
  const { url } = (part.source ?? {}) as { readonly url?: unknown };
  const isFile = part.type === "image" || part.type === "document";
  if (!isFile) return foreignBlock(SHAPE, part);
  const name = typeof url === "string" ? `${part.type} ${url}` : (part.title ?? part.type);
  return withRest(SHAPE, placeholderBlock(name), { part, written: null });
}

function knownBlock(part: AnthropicBlockLike): ContentBlock | null {
  const { type, text = "", thinking = "", signature, data = "", id = "", name = "", input = {} } = part;
  switch (type) {
    case "text":
      return { type, text };
    case "thinking":
      return { type, thinking, ...(signature === undefined ? {} : { signature }) };
    case "redacted_thinking":
      return { type: "redactedThinking", data };
    case "tool_use":
      return { type: "toolCall", id, name, input: input as Json };
    case "image":
    case "document":
      return mediaBlock(part);
    default:
      return null;
  }
}

function mediaBlock({ type, source, title }: AnthropicBlockLike): ContentBlock | null {
  const { type: kind, media_type: mediaType, data } = (source ?? {}) as { readonly [name: string]: unknown };
  if (typeof mediaType !== "string" || typeof data !== "string") return null;
  if (type === "image") return kind === "base64" ? { type, mediaType, data } : null;
  const name = title == null ? {} : { name: title };
  if (kind === "base64") return { type: "file", mediaType, data, ...name };
  if (kind !== "text" || !data.isWellFormed()) return null;
  return { type: "file", mediaType, data: Buffer.from(data, "utf8").toString("base64"), ...name };
}

/** The part that a block makes by itself; null where the API has none for it, or would refuse it. */
function partOf(block: ContentBlock): Part | null {
  const { cacheControl, signature } = (optionsOf(block)["anthropic"] ?? {}) as Fields;
  const mark = (cacheControl === undefined ? {} : { cache_control: cacheControl }) as Cached;
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, ...mark };
    case "thinking": {
      const signed = block.signature ?? signature;
      return typeof signed === "string"
        ? { type: "thinking", thinking: block.thinking, signature: signed }
        : null;
    }
    case "redactedThinking":
      return { type: "redacted_thinking", data: block.data };
    case "toolCall":
      return { type: "tool_use", id: block.id, name: block.name, input: objectInput(block), ...mark };
    case "image": {
      const source = {
        type: "base64",
        media_type: block.mediaType as MediaType,
        data: mediaData(block),
      } as const;
      return { type: "image", source, ...mark };
    }
    case "file": {
      const title = block.name === undefined ? {} : { title: block.name };
      const source = documentSource(block.mediaType, mediaData(block));
      return source === null ? null : { type: "document", source, ...title, ...mark };
    }
    default:
      return null;
  }
}

function documentSource(mediaType: string, data: string): DocumentSource | null {
  if (mediaType === "application/pdf") return { type: "base64", media_type: mediaType, data };
  if (!mediaType.startsWith("text/")) return null;
  return { type: "text", media_type: "text/plain", data: Buffer.from(data, "base64").toString("utf8") };
}

/** The API wants an object, also in the place of what a model has wrongly written. */
function objectInput({ input }: ToolCall): unknown {
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? input
    : { invalid_input: input };
}

interface MessageDraft {
  readonly role: "user" | "assistant";
  readonly parts: Part[];
}

function write(one: Outgoing | readonly Outgoing[]): readonly MessageDraft[] {
  if (isGroup(one)) return [{ role: "user", parts: one.map(resultPart) }];
  const { message, omit } = one;
  const parts = message.content.flatMap((block) => partsOf(block, omit));
  return parts.length === 0 ? [] : [{ role: message.role === "user" ? "user" : "assistant", parts }];
}

/** Neighbours of one role are one message, with results in front. */
function merged(messages: readonly MessageDraft[]): readonly MessageDraft[] {
  const all: MessageDraft[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role === message.role) last.parts.push(...message.parts);
    else all.push({ role: message.role, parts: [...message.parts] });
  }
  return all;
}

function resultPart({ message, omit }: Outgoing): ResultPart {
  const { toolCallId = "", content, isError } = message;
  return {
    type: "tool_result",
    tool_use_id: toolCallId,
    content: plain(content.flatMap((block) => partsOf(block, omit) as VisiblePart[])),
    ...(isError === undefined ? {} : { is_error: isError }),
    ...messageRestOf(SHAPE, message),
  };
}

/** Blank texts are refused. */
function partsOf(block: ContentBlock, omit: OnOmit): readonly Part[] {
  const parts: readonly Part[] = sentPart<Part>(SHAPE, block, partOf(block), omit);
  return parts.filter((part) => part.type !== "text" || part.text.trim() !== "");
}
