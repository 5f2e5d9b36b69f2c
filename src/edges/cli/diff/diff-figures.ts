import type { DiffTotals } from "#log/diff/diff-totals";
import type { DiffItem } from "#log/diff/diff-item";
import type { Divergence } from "#log/diff/diff-branches";
import { costText } from "#edges/cli/view/usage-text";

const [SECOND_MS, MINUTE_MS] = [1_000, 60_000];

/** Figures of a branch as people read them. */
export function tokensText({ usage }: DiffTotals): string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  if (tokens < 1_000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function costOf(totals: DiffTotals): string {
  return costText(totals.usage);
}

export function wallText({ wallMs }: DiffTotals): string {
  if (wallMs < SECOND_MS) return `${wallMs} ms`;
  if (wallMs < MINUTE_MS) return `${(wallMs / SECOND_MS).toFixed(1)} s`;
  const seconds = Math.round(wallMs / SECOND_MS);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Which turn it is, of both where they do not agree. */
export function turnText({ a, b }: { readonly a: DiffItem | null; readonly b: DiffItem | null }): string {
  if (a === null || b === null || a.turn === b.turn) return `turn ${(a ?? b)?.turn ?? 1}`;
  return `turn ${a.turn} of A, ${b.turn} of B`;
}

/** Where two part, in a few words. */
export function divergenceText(divergence: Divergence | null): string {
  if (divergence === null) return "none";
  const { kind, a, b } = divergence;
  const turn = turnText(divergence);
  if (kind === "text") return `${turn}: text only`;
  if (kind === "result") return `${turn}: what a call gave`;
  const [one, other] = [a, b].map((item) => (item === null ? "nothing" : nameOf(item)));
  return one === other ? `${turn}: ${one}` : `${turn}: ${one} → ${other}`;
}

function nameOf(item: DiffItem): string {
  return item.kind === "call" ? item.name : item.kind;
}
