import type { Usage } from "#log/entry";
import { addUsage, NO_USAGE } from "#log/projections/usage";

/** What an attempt used that left no message. */
export interface Spent {
  readonly usage: Usage;
  readonly model: string | null;
}

/** The same as it stands at the end of the turn, with the model where it was one. */
export function spentIn(spent: readonly Spent[]): { readonly usage?: Usage; readonly model?: string } {
  if (spent.length === 0) return {};
  const total = spent.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  const usage = Object.fromEntries(Object.entries(total).filter(([, count]) => count > 0));
  const [model, ...others] = new Set(spent.map((one) => one.model));
  return { usage, ...(typeof model === "string" && others.length === 0 ? { model } : {}) };
}
