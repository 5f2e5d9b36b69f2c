import type { SummaryChange } from "./summary.ts";

const OPEN_MAX = 32; // turns or runs without an end that a head names; of a log with more the log is read

/** A turn that was begun and has not ended. */
export interface BegunTurn {
  readonly turn: string;
  readonly startSeq: number;
}

/** The same of a run. */
export interface BegunRun {
  readonly run: string;
  readonly trigger: string;
}

/** Counts that each append updates, so that an empty answer reads no log. */
export interface EntryCounts {
  /** The first entry about a tool call; null: there is none. */
  readonly callsFrom: number | null;
  /** Whether its host records a tool's start before it runs. */
  readonly hasIntents: boolean;
  readonly turns: readonly BegunTurn[];
  readonly runs: readonly BegunRun[];
  /** More of them are open than are named here. */
  readonly more: boolean;
}

export const NO_COUNTS: EntryCounts = {
  callsFrom: null,
  hasIntents: false,
  turns: [],
  runs: [],
  more: false,
};

/** Turns and runs without an end, by their ids, in the order they began. */
export class OpenStarts {
  readonly turns: Map<string, BegunTurn>;
  readonly runs: Map<string, BegunRun>;

  constructor({ turns, runs }: Pick<EntryCounts, "turns" | "runs"> = NO_COUNTS) {
    this.turns = new Map(turns.map((turn) => [turn.turn, turn]));
    this.runs = new Map(runs.map((run) => [run.run, run]));
  }

  /** `seq`: of the entry that changes it. */
  add({ turn, run, runEnd }: SummaryChange, seq: number): void {
    if (turn?.state === "open") this.turns.set(turn.turn, { turn: turn.turn, startSeq: seq });
    else if (turn !== undefined) this.turns.delete(turn.turn);
    if (run !== undefined) this.runs.set(run.run, { run: run.run, trigger: run.trigger });
    if (runEnd !== undefined && runEnd.status !== "open") this.runs.delete(runEnd.run);
  }
}

/** The counts after one change of the summary; the same ones where it changes nothing. */
export function changeCounts(counts: EntryCounts, change: SummaryChange, seq: number): EntryCounts {
  const { call, turn, run, runEnd } = change;
  const hasIntents = counts.hasIntents || call === "intent";
  const isNew = call !== undefined && (counts.callsFrom === null || hasIntents !== counts.hasIntents);
  const next = isNew ? { ...counts, callsFrom: counts.callsFrom ?? seq, hasIntents } : counts;
  if (turn === undefined && run === undefined && runEnd === undefined) return next;
  const open = new OpenStarts(counts);
  open.add(change, seq);
  const [turns, runs] = [[...open.turns.values()], [...open.runs.values()]];
  const more = counts.more || turns.length > OPEN_MAX || runs.length > OPEN_MAX;
  return { ...next, turns: turns.slice(-OPEN_MAX), runs: runs.slice(-OPEN_MAX), more };
}

/** As stored: members that are the same as in no entry are left out. */
export function storeCounts({ callsFrom, hasIntents, turns, runs, more }: EntryCounts): Partial<EntryCounts> {
  return {
    ...(callsFrom === null ? {} : { callsFrom }),
    ...(hasIntents ? { hasIntents } : {}),
    ...(turns.length === 0 ? {} : { turns }),
    ...(runs.length === 0 ? {} : { runs }),
    ...(more ? { more } : {}),
  };
}
