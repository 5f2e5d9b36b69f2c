import { wordSpans } from "#log/search";

const BEFORE_CHARS = 40;
const SNIPPET_CHARS = 160;

/** The part of the text around the first word found. */
export function snippetOf(text: string, words: readonly string[]): string {
  const [found = 0] = wordSpans(text, words)[0] ?? [];
  const from = Math.max(0, found - BEFORE_CHARS);
  const part = text.slice(from, from + SNIPPET_CHARS).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + SNIPPET_CHARS < text.length ? "…" : ""}`;
}
