import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ContentBlock, ProviderBlock } from "#log/message";
import type { Json } from "#log/json/json-text";
import { readJson } from "#log/json/read-json";

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
