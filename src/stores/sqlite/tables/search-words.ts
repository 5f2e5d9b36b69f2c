import { SEARCHED_TYPES } from "#log/entry-types";
import { foldText } from "#log/search";

const TRIGRAMS_MAX = 24; // a long word is found by its beginning; what remains is checked on the text itself

/** Text as the index holds it. Folded here, as matchesQuery does it, SQLite's own rules stay out of the answer. */
export function indexable(text: string): string {
  // The tokenizer stops at a NUL.
  return foldText(text).replaceAll("\0", " ");
}

/** The index's question for these words: their trigrams. Null when no word is long enough to have one. */
export function matchOf(words: readonly string[]): string | null {
  const grams = new Set<string>();
  for (const word of words) {
    if (!word.isWellFormed()) continue;
    const letters = Array.from(indexable(word));
    for (let index = 0; index + 3 <= letters.length && index < TRIGRAMS_MAX; index++)
      grams.add(letters.slice(index, index + 3).join(""));
  }
  return grams.size === 0 ? null : [...grams].map((gram) => `"${gram.replaceAll('"', '""')}"`).join(" AND ");
}

/** The types with text people search for, as a list in SQL. */
export const SEARCHED: string = SEARCHED_TYPES.map((type) => `'${type}'`).join(", ");
