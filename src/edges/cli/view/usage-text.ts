import type { UsageTotals } from "#log/summary";
import { isUnpriced } from "#agent/models/model-table";

/** Microdollars as people read them. */
function dollarText(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(micros !== 0 && micros < 10_000 ? 6 : 4)}`;
}

/** A cost of which some, or all, may not be known. */
export function costText(micros: number, isWhole: boolean): string {
  if (isWhole) return dollarText(micros);
  return micros === 0 ? "unknown" : `at least ${dollarText(micros)}`;
}

/** What a conversation used, in one line. */
export function usageText({ inputTokens, outputTokens, byModel, ...more }: UsageTotals): string {
  const cached = more.cacheReadTokens === 0 ? "" : ` (and ${more.cacheReadTokens} from the cache)`;
  const isWhole = !Object.entries(byModel).some(([model, used]) => isUnpriced(model, used));
  return `${inputTokens} tokens in${cached}, ${outputTokens} out; cost ${costText(more.costMicros, isWhole)}`;
}
