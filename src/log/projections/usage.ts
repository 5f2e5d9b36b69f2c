import type { Entry, Usage } from "../entry.ts";

const COUNTERS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "costMicros",
] as const;

export interface UsageTotals extends Required<Usage> {
  readonly byModel: { readonly [model: string]: Required<Usage> };
}

const NONE: Required<Usage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
};

/**
 * Totals over a conversation's own entries, on every branch: what a fork inherited was paid by its source.
 * A failed attempt left no message, so its usage stands on the attempt or the turn's end and counts too.
 */
export function usageOf(entries: Iterable<Entry>): UsageTotals {
  let total = NONE;
  const byModel: { [model: string]: Required<Usage> } = {};
  for (const entry of entries) {
    const { usage, model } = spent(entry);
    if (usage === undefined) continue;
    total = add(total, usage);
    byModel[model] = add(Object.hasOwn(byModel, model) ? (byModel[model] ?? NONE) : NONE, usage);
  }
  return { ...total, byModel };
}

function spent(entry: Entry): { readonly usage: Usage | undefined; readonly model: string } {
  if (entry.type === "message") {
    const { message } = entry;
    return message.role === "assistant"
      ? { usage: message.usage, model: message.model ?? "unknown" }
      : { usage: undefined, model: "" };
  }
  return "usage" in entry ? { usage: entry.usage, model: "unknown" } : { usage: undefined, model: "" };
}

function add(total: Required<Usage>, usage: Usage): Required<Usage> {
  const sum = { ...total };
  for (const counter of COUNTERS) sum[counter] += usage[counter] ?? 0;
  return sum;
}
