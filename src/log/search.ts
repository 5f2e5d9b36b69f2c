import type { ContentBlock, Entry } from "./entry.ts";

/** The words of an entry that people search for; empty for entries that are bookkeeping. */
export function searchText(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return entry.message.content.map(blockText).filter(Boolean).join("\n");
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "title":
      return entry.title;
    case "label":
      return entry.label ?? "";
    case "custom":
      return typeof entry.data === "string" ? entry.data : "";
    default:
      return "";
  }
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking;
    case "toolCall":
      return `${block.name} ${JSON.stringify(block.input)}`;
    case "image":
      return "";
  }
}

/** The words of a query. Each must occur, as a part of a word too: scripts without spaces search the same way. */
export function queryWords(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/u).filter(Boolean);
}

export function matchesQuery(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.length > 0 && words.every((word) => lower.includes(word));
}
