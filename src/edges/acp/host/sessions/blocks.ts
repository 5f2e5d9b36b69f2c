import type { ContentBlock } from "../../../../log/entry.ts";
import type { Json } from "../../../../log/json-text.ts";
import { fieldsOf, wordsIn } from "../../fields.ts";

type Fields = { readonly [name: string]: Json };

/** A host's content as the log keeps it: words and pictures; of anything else, what a reader needs to know of it. */
export function contentOf(blocks: readonly Json[]): readonly ContentBlock[] {
  return blocks.map((block) => blockOf(fieldsOf(block)));
}

function blockOf(block: Fields): ContentBlock {
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if (type === "image" && typeof data === "string" && typeof mimeType === "string" && mimeType !== "")
    return { type: "image", mediaType: mimeType, data };
  return { type: "text", text: linkText(block) };
}

function linkText(block: Fields): string {
  const { type, uri, name } = block;
  if (type === "resource_link") return `[${wordsIn(name ?? uri)}](${wordsIn(uri)})`;
  const resource = fieldsOf(block["resource"]);
  if (type !== "resource") return `[${wordsIn(type)}]`;
  const words = resource["text"];
  return typeof words === "string"
    ? `${wordsIn(resource["uri"])}\n${words}`
    : `[${wordsIn(resource["uri"])}]`;
}

/** Whether the blocks can be made again from what the log keeps of them. */
export function isPlain(blocks: readonly Json[]): boolean {
  return blocks.every((given) => {
    const block = fieldsOf(given);
    const names = Object.keys(block).toSorted().join();
    const kept = blockOf(block);
    return kept.type === "text"
      ? block["type"] === "text" && names === "text,type"
      : names === "data,mimeType,type";
  });
}

/** A block of the log as a host understands it; null for one it has no word for. */
export function acpBlock(block: ContentBlock): Fields | null {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "thinking") return { type: "text", text: block.thinking };
  if (block.type === "image" && block.data !== undefined)
    return { type: "image", data: block.data, mimeType: block.mediaType };
  return null;
}
