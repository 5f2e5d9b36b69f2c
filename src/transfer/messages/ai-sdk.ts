import type { ContentBlock, Message } from "#log/message";
import type { Json } from "#log/json/json-text";
import { imageData } from "./images.ts";
import {
  groupResults,
  imageFromUrl,
  isGroup,
  readAll,
  type Sayable,
  type Shape,
  textOf,
  toBase64,
  unsaid,
  writeAll,
} from "./original.ts";
import type { Read } from "./openai.ts";

/** A `ModelMessage` of the AI SDK, as far as this reads it; the package's own types fit. */
export interface AiSdkMessageLike {
  readonly role: string;
  readonly content: string | readonly AiSdkPartLike[];
}

interface AiSdkPartLike {
  readonly type: string;
  readonly text?: string;
  readonly image?: unknown;
  readonly data?: unknown;
  readonly mediaType?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly providerOptions?: unknown;
}

type TextPart = { type: "text"; text: string };
type ImagePart = { type: "image"; image: string; mediaType: string };
type MediaPart = { type: "media"; data: string; mediaType: string };
type Output =
  | { type: "text" | "error-text"; value: string }
  | { type: "content"; value: (TextPart | MediaPart)[] };
type ResultPart = { type: "tool-result"; toolCallId: string; toolName: string; output: Output };
type CallPart = { type: "tool-call"; toolCallId: string; toolName: string; input: unknown };
type ReasoningPart = {
  type: "reasoning";
  text: string;
  providerOptions?: { anthropic: { signature: string } };
};

/** A message as it is written; it fits the package's `ModelMessage`. */
export type AiSdkMessage =
  | { role: "user"; content: string | (TextPart | ImagePart)[] }
  | {
      role: "assistant";
      content: string | (TextPart | ReasoningPart | CallPart)[];
    }
  | { role: "tool"; content: ResultPart[] };

const SHAPE: Shape<AiSdkMessageLike> = { name: "aiSdk", read, write };

/** `ModelMessage`s of the AI SDK as messages of a log; a `UIMessage` first goes through its `convertToModelMessages`. */
export function fromAiSdk(messages: readonly AiSdkMessageLike[]): Read {
  const system = messages
    .filter(({ role }) => role === "system")
    .map(({ content }) => (typeof content === "string" ? content : textOf(content.map(blockOf))));
  return { system, messages: readAll(SHAPE, messages) };
}

/** Messages of a log or a context as `ModelMessage`s: results that follow each other are one `tool` message. */
export function toAiSdk(messages: readonly Sayable[]): AiSdkMessage[] {
  return writeAll(SHAPE, named(messages)) as AiSdkMessage[];
}

/** Every result names its tool: from the call it answers, where it does not itself. */
function named(messages: readonly Sayable[]): readonly Sayable[] {
  const names = new Map<string, string>();
  return messages.map((message) => {
    for (const block of message.content) if (block.type === "toolCall") names.set(block.id, block.name);
    if (message.role !== "toolResult" || message.toolName !== undefined) return message;
    const toolName = names.get(message.toolCallId ?? "");
    return toolName === undefined ? message : { ...message, toolName };
  });
}

function read({ role, content }: AiSdkMessageLike): readonly Message[] {
  if (role === "system") return [];
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (role === "tool") return parts.filter((part) => part.type === "tool-result").map(resultOf);
  return [{ role: role === "assistant" ? "assistant" : "user", content: parts.map(blockOf) }];
}

function blockOf(part: AiSdkPartLike): ContentBlock {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text ?? "" };
    case "reasoning":
      return { type: "thinking", thinking: part.text ?? "", ...signatureOf(part) };
    case "tool-call":
      return {
        type: "toolCall",
        id: part.toolCallId ?? "",
        name: part.toolName ?? "",
        input: (part.input === undefined ? {} : part.input) as Json,
      };
    case "image":
      return imageOf(part.image, part.mediaType);
    case "file":
      return part.mediaType?.startsWith("image/") === true
        ? imageOf(part.data, part.mediaType)
        : unsaid(`file ${part.mediaType ?? ""}`.trim());
    default:
      return unsaid(part.type);
  }
}

function signatureOf({ providerOptions }: AiSdkPartLike): { readonly signature?: string } {
  const { anthropic } = (providerOptions ?? {}) as { anthropic?: { signature?: unknown } };
  return typeof anthropic?.signature === "string" ? { signature: anthropic.signature } : {};
}

function imageOf(data: unknown, mediaType: string = "image/png"): ContentBlock {
  if (data instanceof Uint8Array) return { type: "image", mediaType, data: toBase64(data) };
  if (data instanceof ArrayBuffer) return { type: "image", mediaType, data: toBase64(new Uint8Array(data)) };
  const text = data instanceof URL ? data.href : typeof data === "string" ? data : "";
  if (/^https?:/.test(text)) return unsaid(`image ${text}`);
  return imageFromUrl(text) ?? { type: "image", mediaType, data: text };
}

function resultOf(part: AiSdkPartLike): Message {
  const { type, value } = (part.output ?? {}) as { type?: string; value?: unknown };
  const isError = type?.startsWith("error") === true;
  return {
    role: "toolResult",
    toolCallId: part.toolCallId ?? "",
    ...(part.toolName === undefined ? {} : { toolName: part.toolName }),
    ...(isError ? { isError } : {}),
    content: type === "content" && Array.isArray(value) ? value.map(outputBlock) : [outputText(value)],
  };
}

function outputText(value: unknown): ContentBlock {
  return { type: "text", text: typeof value === "string" ? value : (JSON.stringify(value) ?? "") };
}

function outputBlock(part: AiSdkPartLike): ContentBlock {
  if (part.type === "text") return { type: "text", text: part.text ?? "" };
  return part.mediaType?.startsWith("image/") === true
    ? imageOf(part.data, part.mediaType)
    : unsaid(part.type);
}

function write(messages: readonly Sayable[]): AiSdkMessage[] {
  return groupResults(messages).map((one): AiSdkMessage => {
    if (isGroup(one)) return { role: "tool", content: one.map(resultPart) };
    return one.role === "user" ? userMessage(one) : assistantMessage(one);
  });
}

function resultPart(message: Sayable): ResultPart {
  const { toolCallId = "", toolName = "unknown" } = message;
  return { type: "tool-result", toolCallId, toolName, output: outputOf(message) };
}

function outputOf({ content, isError }: Sayable): Output {
  const [only] = content;
  if (isError === true) return { type: "error-text", value: textOf(content) };
  if (content.length === 1 && only?.type === "text") return { type: "text", value: only.text };
  return {
    type: "content",
    value: content.flatMap((block): (TextPart | MediaPart)[] => {
      if (block.type === "text") return [{ type: "text", text: block.text }];
      if (block.type !== "image") return [];
      return [{ type: "media", data: imageData(block), mediaType: block.mediaType }];
    }),
  };
}

function userMessage({ content }: Sayable): AiSdkMessage {
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return { role: "user", content: only.text };
  return {
    role: "user",
    content: content.flatMap((block): (TextPart | ImagePart)[] => {
      if (block.type === "text") return [{ type: "text", text: block.text }];
      if (block.type !== "image") return [];
      return [{ type: "image", image: imageData(block), mediaType: block.mediaType }];
    }),
  };
}

function assistantMessage({ content }: Sayable): AiSdkMessage {
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return { role: "assistant", content: only.text };
  return {
    role: "assistant",
    content: content.flatMap((block): (TextPart | ReasoningPart | CallPart)[] => {
      if (block.type === "text") return [{ type: "text", text: block.text }];
      if (block.type === "thinking") return [reasoningPart(block)];
      if (block.type !== "toolCall") return [];
      return [{ type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.input }];
    }),
  };
}

function reasoningPart({ thinking, signature }: Extract<ContentBlock, { type: "thinking" }>): ReasoningPart {
  if (signature === undefined) return { type: "reasoning", text: thinking };
  return { type: "reasoning", text: thinking, providerOptions: { anthropic: { signature } } };
}
