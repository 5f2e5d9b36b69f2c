import type { ContentBlock } from "#log/message";

/** The words in a message, without what it called, thought or showed. */
export function wordsOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
}
