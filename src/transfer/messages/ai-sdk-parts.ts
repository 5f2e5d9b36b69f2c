import type { BlockExtras, ContentBlock } from "#log/message";
import type { Json } from "#log/json/json-text";
import { mediaData } from "./images.ts";
import {
  asFields,
  type Fields,
  foreignBlock,
  fromDataUrl,
  named,
  optionsOf,
  toBase64,
  withRest,
} from "./shape.ts";

export interface AiSdkPartLike {
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
export type TextPart = { type: "text"; text: string } & WithOptions;
export type ImagePart = { type: "image"; image: string; mediaType: string } & WithOptions;
export type FilePart = { type: "file"; data: string; mediaType: string; filename?: string } & WithOptions;
export type MediaPart = { type: "media"; data: string; mediaType: string };
export type Output =
  | { type: "text" | "error-text"; value: string }
  | { type: "json" | "error-json"; value: Json }
  | { type: "content"; value: (TextPart | MediaPart)[] };
export type ResultPart = {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: Output;
} & WithOptions;
export type CallPart = {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
} & WithOptions;
export type ReasoningPart = { type: "reasoning"; text: string } & WithOptions;
export type Part = TextPart | ImagePart | FilePart | CallPart | ReasoningPart;

export const SHAPE = "aiSdk";

export function blockOf(given: AiSdkPartLike): ContentBlock {
  const part = asImage(given);
  const known = knownBlock(part);
  if (known !== null) {
    const options = part.providerOptions == null ? {} : asFields(part.providerOptions);
    const providerMetadata = Object.keys(options).length === 0 ? {} : { providerMetadata: options };
    const block = { ...known, ...providerMetadata } as ContentBlock;
    return withRest(SHAPE, block, { part: asBase64(part), written: partOf(block) });
  }
  const data = part.image ?? part.data;
  const address = data instanceof URL ? data.href : data;
  if (part.type !== "image" && part.type !== "file") return foreignBlock(SHAPE, part);
  const name = typeof address === "string" ? `${part.type} ${address}` : part.type;
  return withRest(SHAPE, named(name), { part: given, written: null });
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

/** Base64 of what is given by its bytes; null for an address, which only its own side can follow. */
export function bytesIn(given: unknown): { readonly data: string; readonly mediaType?: string } | null {
  if (given instanceof Uint8Array) return { data: toBase64(given) };
  if (given instanceof ArrayBuffer) return { data: toBase64(new Uint8Array(given)) };
  const text = given instanceof URL ? given.href : given;
  if (typeof text !== "string") return null;
  return fromDataUrl(text) ?? (/^[a-z]+:/i.test(text) ? null : { data: text });
}

export function asBase64(part: AiSdkPartLike): AiSdkPartLike {
  const bytes = bytesIn(part.image ?? part.data);
  if (bytes === null) return part;
  return part.type === "image" ? { ...part, image: bytes.data } : { ...part, data: bytes.data };
}

/** The part that a block makes by itself; null where there is none for it. */
export function partOf(block: ContentBlock): Part | null {
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
