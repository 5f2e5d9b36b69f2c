import type { Entry } from "#log/entry";
import { type EntryCounts, OpenStarts } from "#log/entry-counts";
import { summaryChange } from "#log/entry-types";
import type { EntryId } from "#log/ids";

/** The types that say where turns and runs begin and end. */
export const START_TYPES = ["turn_start", "turn_end", "run_start", "run_end"] as const;
const STARTS: ReadonlySet<string> = new Set(START_TYPES);

/** Turns and runs that never ended, of entries that are taken as they are read. */
export class OpenStartFinder {
  readonly #open = new OpenStarts();

  add(entry: Entry): void {
    if (!STARTS.has(entry.type)) return;
    const change = summaryChange(entry.type, entry, entry.time);
    if (change !== null) this.#open.add(change, entry.seq);
  }

  result(): readonly Issue[] {
    return openIssues({ turns: [...this.#open.turns.values()], runs: [...this.#open.runs.values()] });
  }
}

export function openIssues({ turns, runs }: Pick<EntryCounts, "turns" | "runs">): readonly Issue[] {
  return [
    ...turns.map(({ turn, startSeq }): Issue => ({
      kind: "open_turn",
      entry: null,
      message: `Turn ${turn}, started at entry ${startSeq}, did not end`,
    })),
    ...runs.map(({ run, trigger }): Issue => ({
      kind: "open_run",
      entry: null,
      message: `Run ${run} (${trigger}) did not end`,
    })),
  ];
}

/** What a person should look at in a whole log: gaps in its numbering, turns and runs that never ended. */
export class IssueFinder {
  readonly #gaps: Issue[] = [];
  readonly #open = new OpenStartFinder();
  #last: number = 0;

  add(entry: Entry): void {
    if (entry.seq !== this.#last + 1)
      this.#gaps.push({
        kind: "gap",
        entry: entry.id,
        message: `Entries ${this.#last + 1} to ${entry.seq - 1} are missing`,
      });
    this.#last = entry.seq;
    this.#open.add(entry);
  }

  result(): readonly Issue[] {
    return [...this.#gaps, ...this.#open.result()];
  }
}

export function issuesOf(entries: Iterable<Entry>): readonly Issue[] {
  const finder = new IssueFinder();
  for (const entry of entries) finder.add(entry);
  return finder.result();
}

/** Something a person should look at. */
export interface Issue {
  readonly kind:
    | "orphan_call"
    | "orphan_result"
    | "duplicate_result"
    | "boundary_missing"
    | "open_turn"
    | "open_run"
    | "gap"
    | "missing_blob"
    | "damage";
  readonly entry: EntryId | null;
  readonly message: string;
}
