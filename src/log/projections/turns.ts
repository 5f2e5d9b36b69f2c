import type { Entry, TurnOutcome } from "#log/entry";

export interface Turn {
  readonly id: string;
  readonly run: string | null;
  readonly startSeq: number;
  readonly endSeq: number | null;
  /** Null while it is open, or was cut off. */
  readonly outcome: TurnOutcome | null;
  readonly class: string | null;
  readonly upstreams: readonly string[];
}

/** The turns with their carriers: one prompt may have been sent to several upstreams. */
export function turnsOf(entries: Iterable<Entry>): readonly Turn[] {
  const turns = new Map<string, Turn>();
  for (const entry of entries) {
    if (entry.type === "turn_start") {
      const open = { endSeq: null, outcome: null, class: null, upstreams: [] };
      turns.set(entry.turn, { id: entry.turn, run: entry.run ?? null, startSeq: entry.seq, ...open });
    } else if (entry.type === "attempt") {
      const turn = turns.get(entry.turn);
      if (turn !== undefined && entry.upstream !== undefined)
        turns.set(entry.turn, { ...turn, upstreams: [...turn.upstreams, entry.upstream] });
    } else if (entry.type === "turn_end") {
      const turn = turns.get(entry.turn);
      if (turn !== undefined)
        turns.set(entry.turn, {
          ...turn,
          endSeq: entry.seq,
          outcome: entry.outcome,
          class: entry.class ?? null,
        });
    }
  }
  return [...turns.values()];
}
