import type { Entry, TurnOutcome } from "#log/entry";

export interface Run {
  readonly id: string;
  readonly trigger: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** `open` until a run_end says how it went. */
  readonly status: string;
  /** Why it failed, where its end says so. */
  readonly error: string | null;
  /** The run it goes on with. */
  readonly continues: string | null;
  readonly turns: number;
}

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

/** The run table. */
export function runsOf(entries: Iterable<Entry>): readonly Run[] {
  const runs = new Map<string, Run>();
  for (const entry of entries) {
    if (entry.type === "run_start") {
      runs.set(entry.run, {
        id: entry.run,
        trigger: entry.trigger,
        startedAt: entry.time,
        endedAt: null,
        status: "open",
        error: null,
        continues: entry.continues ?? null,
        turns: 0,
      });
    } else if (entry.type === "run_end") {
      const run = runs.get(entry.run);
      const error = entry.error?.message ?? null;
      if (run !== undefined)
        runs.set(entry.run, { ...run, status: entry.status, error, endedAt: entry.time });
    } else if (entry.type === "turn_start" && entry.run !== undefined) {
      const run = runs.get(entry.run);
      if (run !== undefined) runs.set(entry.run, { ...run, turns: run.turns + 1 });
    }
  }
  return [...runs.values()];
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
