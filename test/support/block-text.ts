import type { ContentBlock } from "#log/message";

/** The text of blocks, one behind the other. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
