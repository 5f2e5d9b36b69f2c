const RESERVE_TOKENS = 16_384; // for the next answer and its thinking
const KEEP_TOKENS = 20_000; // what stays word for word: the work at hand

export interface CompactionLimits {
  /** How many tokens the model takes; null when that is not known. */
  readonly window: number | null;
  /** How many of them stay free for the answer. */
  readonly reserve?: number;
  /** How many of the newest stay word for word. */
  readonly keep?: number;
}

/** The same as numbers that fit into each other: a small window is halved rather than always full. */
export function compactionBudget(limits: CompactionLimits): {
  readonly full: number;
  readonly keep: number;
} {
  const { window, reserve = RESERVE_TOKENS, keep = KEEP_TOKENS } = limits;
  if (window === null) return { full: Number.POSITIVE_INFINITY, keep };
  const full = window - Math.min(reserve, Math.floor(window / 2));
  return { full, keep: Math.min(keep, Math.floor(full / 2)) };
}

/** Whether the next request, of `used` tokens, would leave too little room for its answer. */
export function mustCompact({ used, ...limits }: CompactionLimits & { readonly used: number }): boolean {
  return used > compactionBudget(limits).full;
}
