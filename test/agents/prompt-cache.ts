import type { Reading } from "./wire.ts";

/** What a model counts of a request: what it had read before, what it keeps for the next one, and the rest. */
export interface Counted {
  readonly fresh: number;
  readonly read: number;
  readonly written: number;
}

const FRESH_TOKENS = 3; // the last words of a request are not kept
const UNSAID_TOKENS = 21_000; // tools, and what else an agent sends along with every request
const CHARS_PER_TOKEN = 4;

export const UNCACHED: Counted = { fresh: FRESH_TOKENS, read: UNSAID_TOKENS, written: 0 };

/** Counts as models do that keep what they have read: the longest beginning that an earlier request had is not read again. */
export class PromptCache {
  readonly #seen: (readonly string[])[] = [];

  count({ said }: Reading): Counted {
    const known = Math.max(0, ...this.#seen.map((earlier) => sharedChars(earlier, said)));
    const all = said.reduce((sum, text) => sum + text.length, 0);
    const unsaid =
      this.#seen.length === 0 ? { read: 0, written: UNSAID_TOKENS } : { read: UNSAID_TOKENS, written: 0 };
    this.#seen.push(said);
    return {
      fresh: FRESH_TOKENS,
      read: unsaid.read + Math.floor(known / CHARS_PER_TOKEN),
      written: unsaid.written + Math.floor((all - known) / CHARS_PER_TOKEN),
    };
  }
}

/** Whole texts only: a cache is kept in blocks. */
function sharedChars(earlier: readonly string[], now: readonly string[]): number {
  const end = now.findIndex((text, at) => text !== earlier[at]);
  return now.slice(0, end === -1 ? now.length : end).reduce((sum, text) => sum + text.length, 0);
}
