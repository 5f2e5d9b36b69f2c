import type { Entry } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import type { Usage } from "#log/message";
import type { SummaryChange } from "#log/summary";

/** What one entry of a conversation cost. */
interface SpentOn {
  /** In UTC. */
  readonly day: string;
  readonly model: string;
  readonly usage: Usage;
}

/** What a conversation's own entries cost, one by one: the same that its totals count. */
export class DailyUsage {
  #spent: SpentOn[] = [];
  #inheritedUpTo: SummaryChange["inheritedUpTo"];

  add(entry: Entry): void {
    const change = summaryChange(entry.type, entry, entry.time);
    if (change?.spent !== undefined) this.#spent.push({ day: entry.time.slice(0, 10), ...change.spent });
    this.#inheritedUpTo = change?.inheritedUpTo ?? this.#inheritedUpTo;
    if (entry.id === this.#inheritedUpTo) this.#spent = []; // its source has paid for it
  }

  result(): readonly SpentOn[] {
    return this.#spent;
  }
}
