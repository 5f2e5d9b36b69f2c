import type { ContentBlock, MediaBlock, Message, ToolResultMessage, BlockExtras } from "#log/message";
import { readJson } from "#log/json/read-json";
import { mediaData } from "./images.ts";
import type { OpenAIRead } from "./openai.ts";
import {
  asFields,
  type Fields,
  foreignBlock,
  groupResults,
  isGroup,
  messageRestOf,
  type OnOmit,
  type Outgoing,
  outgoing,
  plain,
  restOf,
  type Sayable,
  sentPart,
  withMessageRest,
  withRest,
  type WriteOptions,
  fromDataUrl,
  placeholderBlock,
  optionsOf,
  toBase64,
} from "./shape.ts";
import type { Json } from "#log/json/json-text";

/** A `ModelMessage` of the AI SDK, as far as this reads it; the package's own types fit. */
export interface AiSdkMessageLike {
  readonly role: string;
  readonly content: string | readonly AiSdkPartLike[];
}

/** A message as it is written; it fits the package's `ModelMessage`. */
export type AiSdkMessage =
  | { role: "user"; content: string | (TextPart | ImagePart | FilePart)[] }
  | { role: "assistant"; content: string | (TextPart | FilePart | ReasoningPart | CallPart)[] }
  | { role: "tool"; content: ResultPart[] };

/** `ModelMessage`s of the AI SDK as messages of a log; a `UIMessage` first goes through its `convertToModelMessages`. */
export function fromAiSdk(messages: readonly AiSdkMessageLike[]): OpenAIRead {
  const system = messages
    .filter(({ role }) => role === "system")
    .map(({ content }) => (typeof content === "string" ? content : content.map(({ text }) => text).join("")));
  return { system, messages: messages.flatMap(read) };
}

/** Messages of a log or a context as `ModelMessage`s: results that follow each other are one `tool` message. */
export function toAiSdk(messages: readonly Sayable[], options: WriteOptions = {}): AiSdkMessage[] {
  return groupResults(outgoing(withToolNames(messages), options)).flatMap(write);
}

/** Every result names its tool: from the call it answers, where it does not itself. */
function withToolNames(messages: readonly Sayable[]): readonly Sayable[] {
  const names = new Map<string, string>();
  return messages.map((message) => {
    for (const block of message.content) if (block.type === "toolCall") names.set(block.id, block.name);
    if (message.role !== "toolResult" || message.toolName !== undefined) return message;
    const toolName = names.get(message.toolCallId ?? "");
    return toolName === undefined ? message : { ...message, toolName };
  });
}

function read(wire: AiSdkMessageLike): readonly Message[] {
  const { role, content } = wire;
  if (role === "system") return [];
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (role === "tool") return parts.filter((part) => part.type === "tool-result").map(resultOf);
  const message: Message = { role: role === "assistant" ? role : "user", content: parts.map(blockOf) };
  return [withMessageRest(SHAPE, message, restOf(wire, ["role", "content"]))];
}

function resultOf(part: AiSdkPartLike): Message {
  const { type, value } = (part.output ?? {}) as { readonly type?: string; readonly value?: unknown };
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: part.toolCallId ?? "",
    ...(part.toolName === undefined ? {} : { toolName: part.toolName }),
    ...(type?.startsWith("error") === true ? { isError: true } : {}),
    content: type === "content" && Array.isArray(value) ? value.map(outputBlock) : [outputText(value)],
  };
  const { output: _, ...rest } = restOf(part, ["type", "toolCallId", "toolName"]);
  const { value: __, ...outputRest } = asFields(part.output ?? {});
  // The value is the text of the message already, unless it reads otherwise there.
  const output = typeof value === "string" ? { ...outputRest, value } : outputRest;
  const extras = type === "text" || type === "content" || type === "error-text" ? {} : { output };
  return withMessageRest(SHAPE, message, { ...rest, ...extras });
}

function outputText(value: unknown): ContentBlock {
  return { type: "text", text: typeof value === "string" ? value : (JSON.stringify(value) ?? "") };
}

function outputBlock(part: AiSdkPartLike): ContentBlock {
  if (part.type === "text") return blockOf(part);
  const bytes = part.mediaType === undefined ? null : bytesIn(part.data);
  if (bytes === null) return foreignBlock(SHAPE, part);
  const { mediaType = "", filename } = part;
  const name = filename === undefined ? {} : { name: filename };
  const block: ContentBlock = mediaType.startsWith("image/")
    ? { type: "image", mediaType, data: bytes.data }
    : { type: "file", mediaType, data: bytes.data, ...name };
  return withRest(SHAPE, block, { part: asBase64(part), written: mediaPart(block) });
}

function write(one: Outgoing | readonly Outgoing[]): readonly AiSdkMessage[] {
  if (isGroup(one)) return [{ role: "tool", content: one.map(resultPart) }];
  const { message, omit } = one;
  const role = message.role === "user" ? "user" : "assistant";
  const parts = message.content.flatMap((block) => partsOf(block, role, omit));
  if (parts.length === 0 && message.content.length > 0) return [];
  return [{ role, content: plain(parts), ...messageRestOf(SHAPE, message) } as AiSdkMessage];
}

function partsOf(block: ContentBlock, role: "user" | "assistant", omit: OnOmit): readonly Part[] {
  const parts = sentPart<Part>(SHAPE, block, partOf(block), omit);
  return role === "user" ? parts : parts.map(asFile);
}

/** Only a user's message has images. */
function asFile(part: Part): Part {
  if (part.type !== "image") return part;
  const { image: data, ...rest } = part;
  return { ...rest, type: "file", data };
}

function resultPart({ message, omit }: Outgoing): ResultPart {
  const { toolCallId = "", toolName = "unknown", content, isError } = message;
  const { output, ...rest } = messageRestOf(SHAPE, message);
  const part = outputOf(content, isError === true, omit);
  return {
    type: "tool-result",
    toolCallId,
    toolName,
    output: output === undefined ? part : valued(output as Fields, part),
    ...rest,
  };
}

/** The output in the kind that it came in, if its text still is of that kind. */
function valued(kind: Fields, part: Output): Output {
  const { value } = part;
  if (value === "" || "value" in kind) return kind as Output;
  try {
    return typeof value === "string" ? ({ ...kind, value: readJson(value) } as Output) : part;
  } catch {
    return part;
  }
}

function outputOf(content: readonly ContentBlock[], isError: boolean, omit: OnOmit): Output {
  const parts = content.flatMap((block) => outputPart(block, omit));
  const texts = parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`));
  if (isError) return { type: "error-text", value: texts.join("") };
  const value = plain(parts);
  return typeof value === "string" ? { type: "text", value } : { type: "content", value };
}

function outputPart(block: ContentBlock, omit: OnOmit): readonly (TextPart | MediaPart)[] {
  const part = block.type === "text" ? (partOf(block) as TextPart) : isFile(block) ? mediaPart(block) : null;
  return sentPart<TextPart | MediaPart>(SHAPE, block, part, omit);
}

function isFile({ type }: ContentBlock): boolean {
  return type === "image" || type === "audio" || type === "file";
}

function mediaPart(block: ContentBlock): MediaPart {
  const media = block as MediaBlock;
  return { type: "media", data: mediaData(media), mediaType: media.mediaType };
}

interface AiSdkPartLike {
  readonly type: string;
  readonly text?: string;
  readonly image?: unknown;
  readonly data?: unknown;
  readonly mediaType?: string;
  readonly filename?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly providerOptions?: unknown;
}

/** By provider, as `providerMetadata` of a block. */
type WithOptions = { providerOptions?: { [provider: string]: { [name: string]: Json } } };
type TextPart = { type: "text"; text: string } & WithOptions;
type ImagePart = { type: "image"; image: string; mediaType: string } & WithOptions;
type FilePart = { type: "file"; data: string; mediaType: string; filename?: string } & WithOptions;
type MediaPart = { type: "media"; data: string; mediaType: string };
type Output =
  | { type: "text" | "error-text"; value: string }
  | { type: "json" | "error-json"; value: Json }
  | { type: "content"; value: (TextPart | MediaPart)[] };
type ResultPart = {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: Output;
} & WithOptions;
type CallPart = {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
} & WithOptions;
type ReasoningPart = { type: "reasoning"; text: string } & WithOptions;
type Part = TextPart | ImagePart | FilePart | CallPart | ReasoningPart;

const SHAPE = "aiSdk";

function blockOf(input: AiSdkPartLike): ContentBlock {
  const part = asImage(input);
  const plainBlock = knownBlock(part);
  if (plainBlock !== null) {
    const options = part.providerOptions == null ? {} : asFields(part.providerOptions);
    const providerMetadata = Object.keys(options).length === 0 ? {} : { providerMetadata: options };
    const block = { ...plainBlock, ...providerMetadata } as ContentBlock;
    return withRest(SHAPE, block, { part: asBase64(part), written: partOf(block) });
  }
  const data = part.image ?? part.data;
  const address = data instanceof URL ? data.href : data;
  if (part.type !== "image" && part.type !== "file") return foreignBlock(SHAPE, part);
  const name = typeof address === "string" ? `${part.type} ${address}` : part.type;
  return withRest(SHAPE, placeholderBlock(name), { part: input, written: null });
}

/** An image may come as a file, which means the same. */
function asImage(part: AiSdkPartLike): AiSdkPartLike {
  if (part.type !== "file" || part.mediaType?.startsWith("image/") !== true) return part;
  const { data, ...rest } = part;
  return { ...rest, type: "image", image: data };
}

function knownBlock(part: AiSdkPartLike): ContentBlock | null {
  const { type, text = "", toolCallId: id = "", toolName: name = "", input = {} } = part;
  switch (type) {
    case "text":
      return { type, text };
    case "reasoning":
      return { type: "thinking", thinking: text };
    case "tool-call":
      return { type: "toolCall", id, name, input: input as Json };
    case "image":
    case "file":
      return mediaBlock(part);
    default:
      return null;
  }
}

function mediaBlock({ type, image, data, mediaType, filename }: AiSdkPartLike): ContentBlock | null {
  const bytes = bytesIn(type === "image" ? image : data);
  if (bytes === null) return null;
  const kind = bytes.mediaType ?? mediaType ?? (type === "image" ? "image/png" : "application/octet-stream");
  if (type === "image") return { type, mediaType: kind, data: bytes.data };
  const name = filename === undefined ? {} : { name: filename };
  return { type: "file", mediaType: kind, data: bytes.data, ...name };
}

/** Returns bytes as base64; null for a URL, which only the provider can follow. */
function bytesIn(input: unknown): { readonly data: string; readonly mediaType?: string } | null {
  if (input instanceof Uint8Array) return { data: toBase64(input) };
  if (input instanceof ArrayBuffer) return { data: toBase64(new Uint8Array(input)) };
  const text = input instanceof URL ? input.href : input;
  if (typeof text !== "string") return null;
  return fromDataUrl(text) ?? (/^[a-z]+:/i.test(text) ? null : { data: text });
}

function asBase64(part: AiSdkPartLike): AiSdkPartLike {
  const bytes = bytesIn(part.image ?? part.data);
  if (bytes === null) return part;
  return part.type === "image" ? { ...part, image: bytes.data } : { ...part, data: bytes.data };
}

/** The part that a block makes by itself; null where there is none for it. */
function partOf(block: ContentBlock): Part | null {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, ...providerOptions(block) };
    case "thinking": {
      const signed = block.signature === undefined ? {} : { signature: block.signature };
      return { type: "reasoning", text: block.thinking, ...providerOptions(block, signed) };
    }
    case "redactedThinking":
      return { type: "reasoning", text: "", ...providerOptions(block, { redactedData: block.data }) };
    case "toolCall": {
      const { id: toolCallId, name: toolName, input } = block;
      return { type: "tool-call", toolCallId, toolName, input, ...providerOptions(block) };
    }
    case "image":
      return {
        type: "image",
        image: mediaData(block),
        mediaType: block.mediaType,
        ...providerOptions(block),
      };
    case "audio":
    case "file": {
      const name = "name" in block && typeof block.name === "string" ? { filename: block.name } : {};
      const data = mediaData(block);
      return { type: "file", data, mediaType: block.mediaType, ...name, ...providerOptions(block) };
    }
    default:
      return null;
  }
}

function providerOptions(block: BlockExtras, anthropic: Fields = {}): WithOptions {
  const options = optionsOf(block) as NonNullable<WithOptions["providerOptions"]>;
  const all =
    Object.keys(anthropic).length === 0
      ? options
      : { ...options, anthropic: { ...options["anthropic"], ...anthropic } };
  return Object.keys(all).length === 0 ? {} : { providerOptions: all };
}
