import type { Entry } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { LinkRecord } from "#log/projections/link-records";
import { turnsOf } from "#log/projections/turns";

/**
 * How many of an upstream's own turns lie on the branch up to a cut, so that it can be told to keep just those.
 * Null when that cannot be said: a turn it was sent did not complete, the cut lies between its turns, or before them.
 */
export function keptTurns(
  facts: readonly Entry[],
  upstream: string,
  branch: readonly EntryId[],
): { readonly keep: number } | null {
  const carried = turnsOf(facts).filter((turn) => turn.upstreams.includes(upstream));
  if (carried.some((turn) => turn.outcome !== "completed" || turn.upstreams.length !== 1)) return null;
  const ends = new Map<string, EntryId>();
  for (const fact of facts)
    if (fact.type === "turn_end" && fact.node !== undefined) ends.set(fact.turn, fact.node);
  const on = new Set<string>(branch);
  const kept = carried.findIndex((turn) => !on.has(ends.get(turn.id) ?? ""));
  const count = kept === -1 ? carried.length : kept;
  const last = carried[count - 1];
  return last !== undefined && ends.get(last.id) === branch.at(-1) ? { keep: count } : null;
}

/** The prompt of the first turn an upstream was given: what it holds begins there. Null when it was given none. */
export function firstPrompt(facts: readonly Entry[], upstream: string): EntryId | null {
  const given = facts.find((fact) => fact.type === "attempt" && fact.upstream === upstream);
  if (given?.type !== "attempt") return null;
  const start = facts.find((fact) => fact.type === "turn_start" && fact.turn === given.turn);
  return (start?.type === "turn_start" ? start.prompt : null) ?? null;
}

/**
 * Which of its turns an upstream may keep in a fork of its own session at a node: all of them at its head (`undefined`),
 * or a counted few (`count`, by `keptTurns`) where it can cut. Null when it must be told again instead: it cannot fork,
 * what it holds is not certain, or it holds something that was hidden since and would come back with it.
 */
export function turnsToKeep(
  facts: readonly Entry[],
  link: LinkRecord,
  at: { readonly fork: "none" | "head" | "message"; readonly node: EntryId },
): { readonly keep: undefined } | "count" | null {
  const hidden = facts.some((fact) => fact.type === "hide" && fact.seq > link.firstSeq);
  if (at.fork === "none" || hidden) return null;
  // A fork is made of the agent's record, in which a turn that was stopped need not stand, though its session holds it.
  if (link.lastNode === at.node) return link.uncertain || link.cutOff ? null : { keep: undefined };
  return at.fork === "message" ? "count" : null;
}
