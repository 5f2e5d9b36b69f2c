import { addUsage, NO_USAGE, type UsageSum } from "#log/add-usage";
import type { EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/json-fields";
import type { Usage } from "#log/message";

/** The latest run of a conversation, as its head keeps it. */
export interface LastRun {
  readonly run: string;
  readonly trigger: string;
  readonly mailbox: string | null;
  /** `open` until a run_end says how it went, or another run begins: then `interrupted`. */
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Its counts; null: it began before appends counted runs. */
  readonly counted: RunCounts | null;
}

interface RunCounts {
  /** The seq of its start. */
  readonly startSeq: number;
  /** The last entry of its time: its end, or the entry before the next run; null while it runs. */
  readonly endSeq: number | null;
  readonly steps: number;
  readonly prompts: number;
  /** The prompt of its last turn: sent again, it is not another one. */
  readonly prompt: EntryId | null;
  readonly usage: UsageSum;
}

export type RunStart = Pick<LastRun, "run" | "trigger" | "mailbox" | "startedAt">;
export type RunEnd = Pick<LastRun, "run" | "status" | "endedAt">;

/** Rows that a stretch of a log began, finished and opened again, each list in its order. */
export interface RunChanges {
  readonly started: LastRun[];
  readonly finished: LastRun[];
  /** The latest run, where it had ended and is open at the end of the stretch: a turn of it has begun since. */
  readonly reopened: LastRun[];
}

export function noRunChanges(): RunChanges {
  return { started: [], finished: [], reopened: [] };
}

/** In one list at most: what became of it last. */
export function noteFinished(runs: RunChanges, run: LastRun): void {
  runs.reopened.length = 0;
  runs.finished.push(run);
}

export function noteReopened(runs: RunChanges, run: LastRun): void {
  const { counted } = run;
  if (runs.finished.at(-1)?.counted?.startSeq === counted?.startSeq) runs.finished.pop();
  runs.reopened.push(run);
}

export function isOpen(run: LastRun | null): run is LastRun {
  return run !== null && run.endedAt === null;
}

/** A run that is open and is begun again under its id is one run. */
export function beginsAnother(before: LastRun | null, start: RunStart): boolean {
  return !isOpen(before) || before.run !== start.run;
}

export function startedRun(start: RunStart, startSeq: number): LastRun {
  const counted = { startSeq, endSeq: null, steps: 0, prompts: 0, prompt: null, usage: NO_USAGE };
  return { ...start, status: "open", endedAt: null, counted };
}

/** What a run lacks that was written down before appends counted runs. */
const UNCOUNTED_RUN = { mailbox: null, counted: null };

/** A run as it was written down, also by programs that did not count answers without a price. */
export function readStoredRun(stored: LastRun): LastRun {
  const run = { ...UNCOUNTED_RUN, ...stored };
  const { counted } = run;
  return counted === null
    ? run
    : { ...run, counted: { ...counted, usage: addUsage(NO_USAGE, counted.usage) } };
}

/** Whether what was written down is this run, also as those programs wrote it. */
export function isSameRun(stored: Json, run: LastRun): boolean {
  return [run, withoutUnpriced(run)].some((one) => isSameJson(stored, one as unknown as Json));
}

function withoutUnpriced(run: LastRun): object {
  if (run.counted === null) return run;
  const { unpricedAnswers: _, costMicros, ...tokens } = run.counted.usage;
  return { ...run, counted: { ...run.counted, usage: { ...tokens, costMicros: costMicros ?? 0 } } };
}

/** The run before, once another one has begun; null where it had ended on its own. */
export function interruptedRun(run: LastRun | null, next: LastRun): LastRun | null {
  if (!isOpen(run)) return null;
  const seq = (next.counted?.startSeq ?? 1) - 1;
  return finished(run, { run: run.run, status: "interrupted", endedAt: next.startedAt }, seq);
}

/** The run once it has ended; null where the end is that of another one, or a second one. */
export function endedRun(run: LastRun | null, end: RunEnd, seq: number): LastRun | null {
  return isOpen(run) && run.run === end.run ? finished(run, end, seq) : null;
}

function finished(run: LastRun, end: RunEnd, endSeq: number): LastRun {
  const counted = run.counted === null ? null : { ...run.counted, endSeq };
  return { ...run, status: end.status, endedAt: end.endedAt, counted };
}

/** What an entry within a turn of the run adds to it. */
export interface CountedEntry {
  readonly usage: Usage | null;
  readonly steps: number;
  readonly prompts: number;
}

/** `turnRun`: the run that the open turn names. Only the latest run counts, and only until it is over. */
export function countEntry(run: LastRun, turnRun: string | undefined, entry: CountedEntry): LastRun {
  const { counted } = run;
  if (counted === null || !isOpen(run) || run.run !== turnRun) return run;
  return {
    ...run,
    counted: {
      ...counted,
      steps: counted.steps + entry.steps,
      prompts: counted.prompts + entry.prompts,
      usage: entry.usage === null ? counted.usage : addUsage(counted.usage, entry.usage),
    },
  };
}

/**
 * A turn of the run began: with a prompt of its own, or with the one before once more. The latest run is open again with it,
 * if it had ended: whoever goes on with a turn that failed is still at the same run.
 */
export function countTurn(run: LastRun, turnRun: string | undefined, prompt: EntryId | null): LastRun {
  const { counted } = run;
  if (counted === null || run.run !== turnRun) return run;
  const open: LastRun =
    run.endedAt === null
      ? run
      : { ...run, status: "open", endedAt: null, counted: { ...counted, endSeq: null } };
  if (prompt === null || prompt === counted.prompt) return open;
  return { ...open, counted: { ...counted, endSeq: null, prompts: counted.prompts + 1, prompt } };
}
