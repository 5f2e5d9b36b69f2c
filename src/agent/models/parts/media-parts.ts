import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider";
import { isMedia } from "#log/blob-names";
import type { ContentBlock, MediaBlock } from "#log/message";
import { type Dialect, showsMedia } from "./dialect.ts";
import { PartsOfBlocks } from "./parts-of-blocks.ts";
import { safeText } from "./safe-text.ts";

export type ShownPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** What people and tools show: text, and files as base64, since bytes would not outlive JSON. */
export function shownParts(content: readonly ContentBlock[], dialect: Dialect): readonly ShownPart[] {
  return content.flatMap((block) => shown.of(block, dialect, () => partsOf(block, dialect)));
}

const shown = new PartsOfBlocks<ShownPart>();

function partsOf(block: ContentBlock, dialect: Dialect): readonly ShownPart[] {
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
function mediaPart(block: MediaBlock, dialect: Dialect): ShownPart {
  const { mediaType, data } = block;
  if (data === undefined) return textPart(`[${labelOf(block)}: its bytes are missing]`);
  if (mediaType.startsWith("text/")) return textPart(`[${labelOf(block)}]\n${decoded(data)}`);
  if (!showsMedia(dialect, mediaType)) return textPart(`[${labelOf(block)}: this model cannot be shown it]`);
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
