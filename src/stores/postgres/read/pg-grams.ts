import { foldText } from "#log/search";

const GRAMS_MAX = 24; // a long word is found by its beginning; what remains is checked on the text itself

/** Text as the index holds it. */
export function indexable(text: string): string {
  return foldText(text).replaceAll("\0", " ").toWellFormed();
}

/** The parts of three letters that every hit has. */
export function wordGrams(words: readonly string[]): readonly string[] {
  const grams = new Set<string>();
  for (const word of words) {
    if (!word.isWellFormed()) continue;
    for (const gram of trigrams(indexable(word).slice(0, GRAMS_MAX * 2), GRAMS_MAX)) grams.add(gram);
  }
  return [...grams];
}

export function trigrams(text: string, most: number = Number.POSITIVE_INFINITY): ReadonlySet<string> {
  const letters = Array.from(text);
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= letters.length && at < most; at++) grams.add(letters.slice(at, at + 3).join(""));
  return grams;
}
