import type { Entry, EntryOf } from "#log/entry";
import type { Issue } from "./issue.ts";
import { turnsOf } from "./turns.ts";

/**
 * What a person should look at in a whole log: gaps in its numbering, turns and runs that never ended. Takes entries as
 * they are read and keeps what is open.
 */
export class IssueFinder {
  readonly #gaps: Issue[] = [];
  /** The starts of turns and runs that have not ended, by their ids. */
  readonly #turns = new Map<string, Entry>();
  readonly #runs = new Map<string, EntryOf<"run_start">>();
  #last: number = 0;

  add(entry: Entry): void {
    if (entry.seq !== this.#last + 1)
      this.#gaps.push({
        kind: "gap",
        entry: entry.id,
        message: `Entries ${this.#last + 1} to ${entry.seq - 1} are missing`,
      });
    this.#last = entry.seq;
    if (entry.type === "turn_start") this.#turns.set(entry.turn, entry);
    else if (entry.type === "turn_end") this.#turns.delete(entry.turn);
    else if (entry.type === "run_start") this.#runs.set(entry.run, entry);
    else if (entry.type === "run_end" && entry.status !== "open") this.#runs.delete(entry.run);
  }

  result(): readonly Issue[] {
    const turns = turnsOf(this.#turns.values()).map((turn): Issue => ({
      kind: "open_turn",
      entry: null,
      message: `Turn ${turn.id}, started at entry ${turn.startSeq}, has no end`,
    }));
    const runs = [...this.#runs.values()].map(({ run, trigger }): Issue => ({
      kind: "open_run",
      entry: null,
      message: `Run ${run} (${trigger}) has no end`,
    }));
    return [...this.#gaps, ...turns, ...runs];
  }
}

export function issuesOf(entries: Iterable<Entry>): readonly Issue[] {
  const finder = new IssueFinder();
  for (const entry of entries) finder.add(entry);
  return finder.result();
}
