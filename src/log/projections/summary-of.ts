import type { Entry } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import { noRunChanges, type RunChanges } from "#log/runs/run-count";
import { changeSummary, EMPTY_SUMMARY, type Summary, summaryChanges, type UsageTotals } from "#log/summary";

/** What a log's own entries cost. */
export function usageOf(entries: Iterable<Entry>): UsageTotals {
  return summaryOf(entries, 0).usage;
}

/** What appends keep of a log, counted from its entries. How it branches is for its places to say. */
export function summaryOf(entries: Iterable<Entry>, branches: number): Summary {
  const counter = new SummaryCounter();
  for (const entry of entries) counter.add(entry);
  return counter.result(branches);
}

/** The same, for entries that are taken as they are read. */
export class SummaryCounter {
  #summary: Summary = EMPTY_SUMMARY;

  /** The runs that the entry began, finished and opened again. */
  add(entry: Entry): RunChanges {
    const runs = noRunChanges();
    const change = summaryChange(entry.type, entry, entry.time);
    const { inheritedUpTo } = this.#summary;
    if (change === null && entry.id !== inheritedUpTo) return runs;
    const changes = summaryChanges([{ id: entry.id, summaryChange: change }], inheritedUpTo);
    this.#summary = changeSummary(this.#summary, changes, entry.seq - 1, runs);
    return runs;
  }

  result(branches: number): Summary {
    return { ...this.#summary, branches };
  }
}
