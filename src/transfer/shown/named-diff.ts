import type { ComparedBranches } from "#conversation/read-diff";
import type { EntryId } from "#log/ids";

/** A branch as it was asked for. */
export interface NamedBranch {
  /** A, B and so on. */
  readonly letter: string;
  readonly address: string;
  readonly conversation: string;
  readonly entry: EntryId | null;
}

/** Two of them, compared. */
export interface NamedDiff {
  readonly a: NamedBranch;
  readonly b: NamedBranch;
  readonly diff: ComparedBranches;
}
