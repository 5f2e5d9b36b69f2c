import { safeLine } from "#transfer/views/safe-text";
import { changeText } from "#operations/text";
import type { ThreadState } from "../thread/thread-state.ts";

/** What became of a turn that was struck: not begun, under way, or over, with what had to be survived. */
export interface Survival {
  readonly turn: "none" | "running" | "ended";
  /** In this turn, or in one after it. */
  readonly isAnswered: boolean;
  readonly words: readonly string[];
}

/** What came of the turns after a seq. */
export function survivalSince({ page, rows }: Pick<ThreadState, "page" | "rows">, seq: number): Survival {
  const later = [...rows.values()].filter(({ entry }) => entry.seq > seq);
  const changes = [...[...rows.values()].flatMap((row) => row.changes), ...(page?.changes ?? [])]
    .filter((change) => change.seq > seq)
    .toSorted((a, b) => a.seq - b.seq);
  const turn = page?.header.summary?.turn ?? null;
  if (later.length + changes.length === 0 || turn === null)
    return { turn: "none", isAnswered: false, words: [] };
  return {
    turn: turn.state === "open" ? "running" : "ended",
    isAnswered: turn.state === "ended" && turn.outcome === "completed",
    words: changes.flatMap((change) => {
      const text = safeLine(changeText(change));
      if (change.kind !== "session") return [text];
      return change.reason === "first" ? [] : [`New session: ${text}.`];
    }),
  };
}
