import type { Entry } from "#log/entry";
import { turnsOf } from "#log/projections/turns";
import { endingClause } from "#operations/text";

export interface TurnNotes {
  /** By the last node of a turn that did not end well: what became of it. */
  readonly after: ReadonlyMap<string, string>;
  /** A turn that has not ended. */
  readonly open: string | null;
}

/** What a reader of the messages alone would not see: why there is no answer, or why it stops. */
export function turnNotes(facts: readonly Entry[]): TurnNotes {
  const after = new Map<string, string>();
  for (const fact of facts) {
    if (fact.type !== "turn_end" || fact.node === undefined) continue;
    const words = endingClause(fact);
    if (words !== null) after.set(fact.node, words);
  }
  const running = turnsOf(facts).some((turn) => turn.outcome === null);
  return { after, open: running ? "running, or cut off before it could end" : null };
}
