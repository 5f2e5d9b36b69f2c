import type {
  LanguageModelV4FilePart,
  LanguageModelV4TextPart,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { isMedia } from "#log/blob-names";
import type { ContentBlock, MediaBlock, ProviderBlock } from "#log/message";
import type { Json } from "#log/json/json-text";
import { readJson } from "#log/json/read-json";

/** How a provider wants requests to be, as far as that is no matter of its package. */
export type Dialect = "anthropic" | "openai" | "openai-compatible" | "google" | "other";

/** By the name that a package gives to the provider of its models: the API stands behind a dot. */
export function dialectOf(provider: string): Dialect {
  if (/(?:^|\.)anthropic(?:\.|$)/.test(provider)) return "anthropic";
  const first = provider.split(".")[0];
  return first === "openai" || first === "openai-compatible" || first === "google" ? first : "other";
}

/** Whether a file of this type can be shown; a package given another one fails as a whole. */
function showsMedia(dialect: Dialect, mediaType: string): boolean {
  if (mediaType.startsWith("image/")) return true;
  if (dialect === "google" || dialect === "other") return true;
  if (mediaType === "application/pdf") return true;
  return dialect === "openai-compatible" && /^audio\/(?:wav|mpeg|mp3)$/.test(mediaType);
}

/** Whether a tool's result may hold one; else it would be sent as text, every byte of it. */
export function showsMediaInResults(dialect: Dialect, mediaType: string): boolean {
  if (dialect === "openai-compatible" || dialect === "other") return false;
  return mediaType.startsWith("image/") || mediaType === "application/pdf";
}

/**
 * What was made of each block for the request before, for as long as the block is held: every step sends all that was said, and
 * only the end of it is new. `way`: all that the parts depend on beside the block.
 */
export class PartsOfBlocks<P> {
  readonly #cache = new WeakMap<ContentBlock, { readonly way: string; readonly parts: readonly P[] }>();

  of(block: ContentBlock, way: string, make: () => readonly P[]): readonly P[] {
    const before = this.#cache.get(block);
    if (before?.way === way) return before.parts;
    const parts = make();
    this.#cache.set(block, { way, parts });
    return parts;
  }
}

export type VisiblePart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** What people and tools show: text, and files as base64, since bytes would not outlive JSON. */
export function visibleParts(content: readonly ContentBlock[], dialect: Dialect): readonly VisiblePart[] {
  return content.flatMap((block) => visibleCache.of(block, dialect, () => partsOf(block, dialect)));
}

const visibleCache = new PartsOfBlocks<VisiblePart>();

function partsOf(block: ContentBlock, dialect: Dialect): readonly VisiblePart[] {
  if (block.type === "text") return isBlank(block.text) ? [] : [textPart(block.text)];
  return isMedia(block) ? [mediaPart(block, dialect)] : [];
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

export function textPart(text: string): LanguageModelV4TextPart {
  return { type: "text", text: safeText(text) };
}

/** A file as a part, or else as the words for it. */
function mediaPart(block: MediaBlock, dialect: Dialect): VisiblePart {
  const { mediaType, data } = block;
  if (data === undefined) return textPart(`[${labelOf(block)}: its bytes are missing]`);
  if (mediaType.startsWith("text/")) return textPart(`[${labelOf(block)}]\n${decoded(data)}`);
  if (!showsMedia(dialect, mediaType)) return textPart(`[${labelOf(block)}: not supported by this model]`);
  const filename =
    "name" in block && typeof block.name === "string" ? { filename: safeText(block.name) } : {};
  return { type: "file", mediaType, data: { type: "data", data }, ...filename };
}

export function labelOf(block: MediaBlock): string {
  const name = "name" in block && typeof block.name === "string" ? ` ${block.name}` : "";
  return `${block.type}${name} (${block.mediaType})`;
}

function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}

/** Blocks that only the provider understands are called by the kind of part they were in the stream. */
export const PART_PREFIX = "part/";

/** A part of a stream that is kept word for word. */
export type StoredPart = Extract<
  LanguageModelV4StreamPart,
  { type: "tool-call" | "tool-result" | "custom" | "reasoning-file" | "source" | "tool-approval-request" }
>;

/** A part as a block, and the part again. */
export function partBlock(part: { readonly type: string }): ProviderBlock {
  const { providerMetadata, ...rest } = readJson(JSON.stringify(part)) as { readonly [name: string]: Json };
  const extras = providerMetadata === undefined ? {} : { providerMetadata };
  return { type: `${PART_PREFIX}${part.type}`, part: rest, ...extras } as ProviderBlock;
}

export function storedPart(block: ContentBlock): StoredPart | null {
  const part: unknown = "part" in block ? block["part"] : null;
  return typeof part === "object" && part !== null && "type" in part ? (part as StoredPart) : null;
}

/** Half a character is no text: services refuse a request that holds one, and with it the whole conversation. */
export function safeText(text: string): string {
  return text.toWellFormed();
}

/** The same for every text in a value. What holds none is handed back as it is. */
export function safeJson(value: Json): Json {
  if (typeof value === "string") return safeText(value);
  if (typeof value !== "object" || value === null) return value;
  // JSON writes half a character as an escape, and a whole one as it is.
  if (!/\\ud[89a-f]/i.test(JSON.stringify(value))) return value;
  return mapped(value);
}

function mapped(value: Json): Json {
  if (typeof value === "string") return safeText(value);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(mapped);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [safeText(name), mapped(member)]));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
