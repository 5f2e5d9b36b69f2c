import { ribbonText } from "../entry/ribbon-text.ts";
import { factsBetween, type ThreadState } from "../thread/thread-state.ts";
import { ribbonsOf } from "../thread/turn-facts.ts";

/** What became of a turn that was struck: not begun, under way, or over, with what had to be survived. */
export interface Survival {
  readonly turn: "none" | "running" | "ended";
  /** In this turn, or in one after it. */
  readonly isAnswered: boolean;
  readonly words: readonly string[];
}

/** The last seq that is known of a conversation. */
export function knownSeq({ facts, branch }: ThreadState): number {
  const last = branch?.nodes.get(branch.length - 1)?.seq ?? 0;
  return Math.max(last, ...(facts.get(null)?.keys() ?? []));
}

/** What came of the first turn behind a seq, by the facts of the log: they are what ribbons are made of, too. */
export function survivalSince(state: ThreadState, seq: number): Survival {
  const facts = factsBetween(state, { source: null, after: seq, until: Number.POSITIVE_INFINITY });
  const start = facts.findIndex(({ type }) => type === "turn_start");
  const own = facts.slice(Math.max(0, start));
  if (own.length === 0) return { turn: "none", isAnswered: false, words: [] };
  const at = own.findIndex(({ type }) => type === "turn_end");
  const end = own[at];
  const ribbons = ribbonsOf(at === -1 ? own : own.slice(0, at + 1));
  return {
    turn: end === undefined ? "running" : "ended",
    isAnswered: own.some((fact) => fact.type === "turn_end" && fact.outcome === "completed"),
    words: ribbons.flatMap((ribbon) => {
      if (ribbon.kind !== "rollover") return [ribbonText(ribbon)];
      return ribbon.reason === "first" ? [] : [`New session: ${ribbonText(ribbon)}.`];
    }),
  };
}
