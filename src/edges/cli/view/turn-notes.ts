import type { Entry, EntryOf } from "#log/entry";
import { turnsOf } from "#log/projections/runs";

const WORDS: Readonly<Record<string, string>> = {
  empty: "nothing was answered",
  limit: "the agent was at its limit",
  credit: "the agent had no credit left",
  overloaded: "the agent's service did not answer",
  auth: "the agent wanted a login",
  expired: "the agent's session had expired",
  lost: "the agent had lost its session",
  crashed: "the agent died",
  too_long: "the history was too long for the agent",
  poisoned: "something in the history made the request fail",
  cancelled: "stopped by a person",
};

export interface TurnNotes {
  /** By the last node of a turn that did not end well: what became of it. */
  readonly after: ReadonlyMap<string, string>;
  /** A turn that has not ended. */
  readonly open: string | null;
}

/** What became of a turn; null when it ended well. */
export function endingWords({ outcome, class: known = "", resetAt }: EntryOf<"turn_end">): string | null {
  if (outcome === "completed" && known !== "empty") return null;
  const until = resetAt === undefined ? "" : ` until ${resetAt}`;
  const why = WORDS[known] ?? known.replaceAll("_", " ");
  return `${outcome}${why === "" ? "" : `: ${why}`}${until}`;
}

/** What a reader of the messages alone would not see: why there is no answer, or why it stops. */
export function turnNotes(facts: readonly Entry[]): TurnNotes {
  const after = new Map<string, string>();
  for (const fact of facts) {
    if (fact.type !== "turn_end" || fact.node === undefined) continue;
    const words = endingWords(fact);
    if (words !== null) after.set(fact.node, words);
  }
  const running = turnsOf(facts).some((turn) => turn.outcome === null);
  return { after, open: running ? "running, or cut off before it could end" : null };
}
