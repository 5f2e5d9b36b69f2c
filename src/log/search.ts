import type { ContentBlock } from "./message.ts";

const BEYOND_ASCII = /[\u0080-\uffff]/;
// The accents of Latin, Greek and Cyrillic letters. The marks of other scripts make other letters: か is not が.
const ACCENTS = /[\u0300-\u036f]+/g;

/** Text as it is compared: case and accents do not matter, nor whether an accent is a character of its own. */
export function foldText(text: string): string {
  const lower = text.toLowerCase();
  return BEYOND_ASCII.test(lower) ? lower.normalize("NFD").replaceAll(ACCENTS, "").normalize("NFC") : lower;
}

/** The words of a query. Each must occur, as a part of a word too: scripts without spaces search the same way. */
export function queryWords(query: string): readonly string[] {
  return foldText(query).split(/\s+/u).filter(Boolean);
}

export function matchesQuery(text: string, words: readonly string[]): boolean {
  const folded = foldText(text);
  return words.length > 0 && words.every((word) => folded.includes(word));
}

/** Where words of a query stand in a text as it was written, in order and without overlaps: for those who show it. */
export function wordSpans(
  text: string,
  words: readonly string[],
): readonly (readonly [from: number, to: number])[] {
  let folded = "";
  const starts: number[] = []; // for each letter of the folded text, where it comes from
  let offset = 0;
  for (const letter of text) {
    const part = foldText(letter);
    folded += part;
    for (let n = 0; n < part.length; n++) starts.push(offset);
    offset += letter.length;
  }
  const matches = words.flatMap((word) => occurrences(folded, word)).toSorted(([a], [b]) => a - b);
  const spans: (readonly [number, number])[] = [];
  for (const [from, to] of matches) {
    const start = starts[from] ?? 0;
    // Accents that follow as characters of their own belong to the letter before them.
    if (start >= (spans.at(-1)?.[1] ?? 0)) spans.push([start, starts[to] ?? text.length]);
  }
  return spans;
}

/** Words are never empty. */
function occurrences(text: string, word: string): readonly (readonly [from: number, to: number])[] {
  const spans: (readonly [number, number])[] = [];
  for (let from = text.indexOf(word); from !== -1; from = text.indexOf(word, from + word.length))
    spans.push([from, from + word.length]);
  return spans;
}

/** The words of a block that people search for. */
export function blockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking;
    case "toolCall":
      return `${block.name} ${JSON.stringify(block.input)}`;
    case "file":
      return block.name ?? "";
    default:
      return "";
  }
}
