import type { Usage } from "./message.ts";

export const COUNTERS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "costMicros",
] as const;

/** What several answers used. */
export interface UsageSum extends Omit<Required<Usage>, "costMicros"> {
  /** The known cost; null: none of it is known. */
  readonly costMicros: number | null;
  /** How many answers used tokens whose price is unknown: they are in no cost. */
  readonly unpricedAnswers: number;
}

export const NO_USAGE: UsageSum = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
  unpricedAnswers: 0,
};

/** One answer, or a sum; one that older programs stored has no count of answers. */
export type UsagePart = Omit<Usage, "costMicros"> & Partial<Pick<UsageSum, "costMicros" | "unpricedAnswers">>;

/** Member by member: it is done for every reply, and a loop over names takes ten times as long. */
export function addUsage(sum: UsageSum, usage: UsagePart): UsageSum {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const unpriced = usage.unpricedAnswers ?? (usage.costMicros === undefined && tokens > 0 ? 1 : 0);
  const costMicros = (sum.costMicros ?? 0) + (usage.costMicros ?? 0);
  const unpricedAnswers = sum.unpricedAnswers + unpriced;
  return {
    inputTokens: sum.inputTokens + inputTokens,
    outputTokens: sum.outputTokens + outputTokens,
    cacheReadTokens: sum.cacheReadTokens + cacheReadTokens,
    cacheWriteTokens: sum.cacheWriteTokens + cacheWriteTokens,
    costMicros: unpricedAnswers > 0 && costMicros === 0 ? null : costMicros,
    unpricedAnswers,
  };
}
