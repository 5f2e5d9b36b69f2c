import { addUsage, NO_USAGE, type UsageSum } from "#log/add-usage";
import type { Entry } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import type { Usage } from "#log/message";
import type { SummaryChange } from "#log/summary";

/** What a conversation spent on one day with one model. */
interface SpentOn {
  /** In UTC. */
  readonly day: string;
  readonly model: string;
  readonly usage: UsageSum;
}

/** What a conversation's own entries cost, by day and model: the same that its totals count. */
export class DailyUsage {
  #spent = new Map<string, SpentOn>();
  #inheritedUpTo: SummaryChange["inheritedUpTo"];

  add(entry: Entry): void {
    const change = summaryChange(entry.type, entry, entry.time);
    if (change?.spent !== undefined)
      this.#add(entry.time.slice(0, 10), change.spent.model, change.spent.usage);
    this.#inheritedUpTo = change?.inheritedUpTo ?? this.#inheritedUpTo;
    if (entry.id === this.#inheritedUpTo) this.#spent = new Map(); // its source has paid for it
  }

  result(): readonly SpentOn[] {
    return [...this.#spent.values()];
  }

  #add(day: string, model: string, usage: Usage): void {
    const name = `${day} ${model}`;
    const earlier = this.#spent.get(name)?.usage ?? NO_USAGE;
    this.#spent.set(name, { day, model, usage: addUsage(earlier, usage) });
  }
}
