import type { UsageSum } from "#log/add-usage";

/** Microdollars as people read them. */
export function dollarText(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(micros !== 0 && micros < 10_000 ? 6 : 4)}`;
}

/** A cost of which some, or all, may be unknown. */
export function costText({ costMicros, unpricedAnswers }: UsageSum): string {
  if (costMicros === null) return "unknown";
  if (unpricedAnswers === 0) return dollarText(costMicros);
  const answers = unpricedAnswers === 1 ? "1 answer" : `${unpricedAnswers} answers`;
  return `at least ${dollarText(costMicros)}, ${answers} without a known price`;
}

/** What a conversation used, in one line. */
export function usageText(usage: UsageSum): string {
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  const cached = cacheReadTokens === 0 ? "" : ` (and ${cacheReadTokens} from the cache)`;
  return `${inputTokens} tokens in${cached}, ${outputTokens} out; cost ${costText(usage)}`;
}
