import { isUnpriced } from "#agent/models/model-table";
import type { Summary, UsageTotals } from "#log/summary";
import type { Listed } from "#store/requests";

/** Totals in which the cost is null where nobody knows it, and said not to be whole where some of it is not known. */
type KnownUsage = Omit<UsageTotals, "costMicros"> & {
  readonly costMicros: number | null;
  readonly costIsWhole: boolean;
};

/** A conversation as programs are shown it in a list. */
export type ListedView = Omit<Listed, "summary"> & {
  readonly summary: (Omit<Summary, "usage"> & { readonly usage: KnownUsage }) | null;
};

/** What nobody knows the price of has not cost nothing. */
export function withKnownCost(listed: Listed): ListedView {
  const { summary } = listed;
  if (summary === null) return { ...listed, summary };
  const { usage } = summary;
  const costIsWhole = !Object.entries(usage.byModel).some(([model, used]) => isUnpriced(model, used));
  const costMicros = !costIsWhole && usage.costMicros === 0 ? null : usage.costMicros;
  return { ...listed, summary: { ...summary, usage: { ...usage, costMicros, costIsWhole } } };
}
