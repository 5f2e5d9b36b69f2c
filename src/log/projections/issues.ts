import type { Entry } from "../entry.ts";
import type { Issue } from "./issue.ts";
import { runsOf, turnsOf } from "./runs.ts";

/** What a person should look at in a whole log: gaps in its numbering, turns and runs that never ended. */
export function issuesOf(entries: readonly Entry[]): readonly Issue[] {
  const issues: Issue[] = [];
  let last = 0;
  for (const entry of entries) {
    if (entry.seq !== last + 1)
      issues.push({
        kind: "gap",
        entry: entry.id,
        message: `Entries ${last + 1} to ${entry.seq - 1} are missing`,
      });
    last = entry.seq;
  }
  for (const turn of turnsOf(entries)) {
    if (turn.outcome === null)
      issues.push({
        kind: "open_turn",
        entry: null,
        message: `Turn ${turn.id}, started at entry ${turn.startSeq}, has no end`,
      });
  }
  for (const run of runsOf(entries)) {
    if (run.status === "open")
      issues.push({ kind: "open_run", entry: null, message: `Run ${run.id} (${run.trigger}) has no end` });
  }
  return issues;
}
