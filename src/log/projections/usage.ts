import type { Entry, Usage } from "#log/entry";
import type { EntryId } from "#log/ids";

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

const NO_USAGE: Required<Usage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
};

/**
 * Totals over a conversation's own entries, on every branch: what a fork inherited was paid by its source, also where
 * an import made it part of the log.
 * An attempt that left no message says what it used at its own end; format 1 said so on the attempt or the turn's end.
 */
export function usageOf(entries: Iterable<Entry>): UsageTotals {
  const counter = new UsageCounter();
  for (const entry of entries) counter.take(entry);
  return counter.result();
}

/** The same, for entries that are taken as they are read. */
export class UsageCounter {
  #total: Required<Usage> = NO_USAGE;
  #byModel = new Map<string, Required<Usage>>();
  #inheritedUpTo: EntryId | null = null;

  take(entry: Entry): void {
    const { usage, model } = spent(entry);
    if (usage !== undefined) {
      this.#total = addUsage(this.#total, usage);
      this.#byModel.set(model, addUsage(this.#byModel.get(model) ?? NO_USAGE, usage));
    }
    if (entry.type === "conversation") this.#inheritedUpTo = entry.forkedFrom?.entry ?? null;
    if (entry.id === this.#inheritedUpTo) [this.#total, this.#byModel] = [NO_USAGE, new Map()];
  }

  result(): UsageTotals {
    return { ...this.#total, byModel: Object.fromEntries(this.#byModel) };
  }
}

function spent(entry: Entry): { readonly usage: Usage | undefined; readonly model: string } {
  if (entry.type === "message") {
    const { message } = entry;
    return message.role === "assistant"
      ? { usage: message.usage, model: message.model ?? "unknown" }
      : { usage: undefined, model: "" };
  }
  if (!("usage" in entry)) return { usage: undefined, model: "" };
  const { usage } = entry;
  return { usage, model: "model" in entry ? (entry.model ?? "unknown") : "unknown" };
}

function addUsage(total: Required<Usage>, usage: Usage): Required<Usage> {
  const sum = { ...total };
  for (const counter of COUNTERS) sum[counter] += usage[counter] ?? 0;
  return sum;
}
