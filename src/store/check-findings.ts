import { readJson } from "#log/json/read-json";
import { isSameRun } from "#log/runs/run-count";
import type { RunFolder } from "#log/runs/run-folder";
import type { Finding } from "./requests.ts";

/** What a check says of a log that was begun before there were links: nothing is wrong with it, and nothing proves it. */
export function unprovenNote(conversation: string, unprovenSeq: number): readonly Finding[] {
  if (unprovenSeq === 0) return [];
  const which = unprovenSeq === 1 ? "Entry 1 is" : `Entries 1 to ${unprovenSeq} are`;
  return [
    {
      conversation,
      severity: "note",
      message: `${which} older than batch hashes: readable but unverified. All later entries are verified.`,
      position: null,
      reachableSeq: null,
      repaired: false,
      unprovenSeq,
    },
  ];
}

/** How rows of runs, by the seqs of their starts, differ from the runs of their log; null when they do not. */
export function runRowProblem(rows: ReadonlyMap<number, string | null>, folder: RunFolder): string | null {
  const runs = folder.runs();
  for (const { startSeq, last, over } of runs) {
    const finished = rows.get(startSeq);
    if (finished === undefined)
      return `The row of run ${last.run}, which started at entry ${startSeq}, is missing`;
    if (over && !(finished !== null && isSameRun(readJson(finished), last)))
      return `The row of run ${last.run}, which started at entry ${startSeq}, does not match the log`;
  }
  return rows.size === runs.length ? null : "The run table has rows for runs that are not in the log";
}
