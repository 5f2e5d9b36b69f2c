import type { Entry, EntryOf } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { SummaryCounter } from "#log/projections/summary-of";
import type { Summary } from "#log/summary";
import type { LastRun } from "./run-count.ts";
import { type Run, runRow } from "./run-row.ts";

/** The runs of a log, folded from its own entries by the rule that appends keep them by. */
export class RunFolder {
  readonly #counter = new SummaryCounter();
  readonly #starts = new Map<number, EntryOf<"run_start">>();
  readonly #ends = new Map<number, EntryOf<"run_end">>();
  /** By the seqs of their starts; the row of an open one lies in the summary. */
  readonly #finished = new Map<number, LastRun | null>();

  /** What changes nothing of a summary may be left out. */
  add(entry: Entry): void {
    if (entry.type === "run_start") this.#starts.set(entry.seq, entry);
    if (entry.type === "run_end") this.#ends.set(entry.seq, entry);
    const { started, finished, reopened } = this.#counter.add(entry);
    for (const { counted } of [...started, ...reopened])
      if (counted !== null) this.#finished.set(counted.startSeq, null);
    for (const run of finished) if (run.counted !== null) this.#finished.set(run.counted.startSeq, run);
  }

  summary(branches: number): Summary {
    return this.#counter.result(branches);
  }

  /** Each with the seq of its start, in the order of the log; `over` is false for the one that is still open. */
  runs(): readonly { readonly startSeq: number; readonly last: LastRun; readonly over: boolean }[] {
    const { run: open } = this.#counter.result(0);
    return [...this.#finished].flatMap(([startSeq, finished]) => {
      const last = finished ?? open;
      return last === null ? [] : [{ startSeq, last, over: finished !== null }];
    });
  }

  rows(conversation: ConversationId, headSeq: number): readonly Run[] {
    const { parent } = this.#counter.result(0);
    return this.runs().flatMap(({ startSeq, last }) => {
      const start = this.#starts.get(startSeq);
      const end = this.#ends.get(last.counted?.endSeq ?? 0) ?? null;
      const row = start === undefined ? null : runRow({ start, last, end, conversation, parent, headSeq });
      return row === null ? [] : [row];
    });
  }
}

/** The runs of a log, by its own entries. */
export function runsOf(conversation: ConversationId, entries: Iterable<Entry>): readonly Run[] {
  const folder = new RunFolder();
  let headSeq = 0;
  for (const entry of entries) {
    folder.add(entry);
    headSeq = entry.seq;
  }
  return folder.rows(conversation, headSeq);
}
