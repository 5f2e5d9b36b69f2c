import type { Usage } from "#log/message";
import type { Line } from "./replies.ts";

// As models with a prompt cache count: nearly everything was read before, and is counted apart from the few new tokens.
const UNCACHED_TOKENS = 3;
const SYSTEM_TOKENS = 21_000;
const CHARS_PER_TOKEN = 4;

/** What an agent counts for an answer it did not compute. */
export const REPLAYED: Usage = { inputTokens: UNCACHED_TOKENS, outputTokens: 10, costMicros: 0 };

/** What it counts for an answer to all that its session holds. */
export function computedUsage(context: readonly Line[], answer: string): Usage {
  const heldChars = context.reduce((sum, line) => sum + line.text.length, 0);
  return {
    inputTokens: UNCACHED_TOKENS,
    cacheReadTokens: SYSTEM_TOKENS + Math.ceil(heldChars / CHARS_PER_TOKEN),
    cacheWriteTokens: 0,
    outputTokens: Math.ceil(answer.length / CHARS_PER_TOKEN),
    costMicros: 0,
  };
}
