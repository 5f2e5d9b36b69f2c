import type { Entry, EntryOf } from "#log/entry";

/** What is told between two nodes: sessions that end and begin, turns that were parked or broke off. */
export const FACT_TYPES: readonly Entry["type"][] = [
  "turn_start",
  "turn_end",
  "attempt",
  "attempt_end",
  "upstream_link",
  "upstream_end",
  "tool_intent",
  "permission",
  "permission_answer",
  "steer",
];

export type Ribbon =
  | {
      readonly kind: "rollover";
      readonly seq: number;
      readonly time: string;
      readonly reason: string;
      readonly upstream: string;
      /** Why the session before ended. */
      readonly ended: string | null;
      readonly attempt: EntryOf<"attempt"> | null;
    }
  | {
      /** The same session was asked once more, before anything had come of it. */
      readonly kind: "again";
      readonly seq: number;
      readonly time: string;
      /** The process that was asked before is gone, and another one took its place. */
      readonly isRestarted: boolean;
    }
  | { readonly kind: "parked"; readonly seq: number; readonly time: string; readonly until: string }
  | {
      readonly kind: "broken";
      readonly seq: number;
      readonly time: string;
      readonly outcome: string;
      readonly class: string | null;
    };

/** Facts of turns that belong to nodes of this branch; those of turns on other branches are left out. */
export function factsOnBranch(
  facts: readonly Entry[],
  isOnBranch: (node: string) => boolean,
): readonly Entry[] {
  const away = new Set<string>();
  let isAway = false;
  return facts.filter((fact) => {
    if (fact.type === "turn_start") {
      isAway = fact.prompt !== undefined && !isOnBranch(fact.prompt);
      if (isAway) away.add(fact.turn);
    }
    const turn = "turn" in fact && typeof fact.turn === "string" ? fact.turn : null;
    const isKept = turn === null ? !isAway : !away.has(turn);
    if (fact.type === "turn_end") isAway = false;
    return isKept;
  });
}

/** The attempt in front of one, where the same session was asked in the same turn. */
function askedBefore(facts: readonly Entry[], now: EntryOf<"attempt">): EntryOf<"attempt"> | null {
  const before = facts.findLast((one) => one.type === "attempt");
  if (before?.type !== "attempt" || now.upstream === undefined) return null;
  return before.turn === now.turn && before.upstream === now.upstream ? before : null;
}

/** What is to be seen of facts that lie between two nodes. The first session of a log is no rollover. */
export function ribbonsOf(
  facts: readonly Entry[],
  firstLinks: ReadonlySet<Entry> = new Set(),
): readonly Ribbon[] {
  const ribbons: Ribbon[] = [];
  for (const [at, fact] of facts.entries()) {
    const { seq, time } = fact;
    if (fact.type === "upstream_link" && !firstLinks.has(fact)) {
      const ended = facts.slice(0, at).findLast((one) => one.type === "upstream_end");
      const attempt = facts.slice(at).find((one) => one.type === "attempt" && one.upstream === fact.upstream);
      ribbons.push({
        kind: "rollover",
        seq,
        time,
        reason: fact.reason,
        upstream: fact.upstream,
        ended: ended?.type === "upstream_end" ? ended.reason : null,
        attempt: attempt?.type === "attempt" ? attempt : null,
      });
    } else if (fact.type === "attempt") {
      const before = askedBefore(facts.slice(0, at), fact);
      if (before !== null)
        ribbons.push({ kind: "again", seq, time, isRestarted: before.process !== fact.process });
    } else if (fact.type === "turn_end" && fact.resetAt !== undefined)
      ribbons.push({ kind: "parked", seq, time, until: fact.resetAt });
    else if (fact.type === "turn_end" && fact.outcome !== "completed")
      ribbons.push({ kind: "broken", seq, time, outcome: fact.outcome, class: fact.class ?? null });
  }
  return ribbons;
}
