import { isUnpriced } from "#agent/models/model-table";
import type { ComparedBranches } from "#conversation/read-diff";
import type { DiffTotals } from "#log/diff/diff-totals";
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

/** Whether all that was used is in the cost. */
export function isWholeCost({ usage }: Pick<DiffTotals, "usage">): boolean {
  return !Object.entries(usage.byModel).some(([model, used]) => isUnpriced(model, used));
}
