import { alignItems, type DiffRow } from "./align-items.ts";
import { type DiffItem, diffItems } from "./diff-item.ts";
import { diffTotals, type DiffTotals } from "./diff-totals.ts";
import { type DiffSide, diffTurns } from "./diff-turns.ts";

/** Where two branches part. */
export interface Divergence {
  readonly kind: DiffItem["kind"] | "result";
  /** What each of them has there; null: it has nothing more. */
  readonly a: DiffItem | null;
  readonly b: DiffItem | null;
  /** Which row of the diff it is. */
  readonly row: number;
  /** How many rows of that kind or a weightier one are the same before it. */
  readonly sameBefore: number;
}

export interface BranchDiff {
  readonly isSame: boolean;
  readonly rows: readonly DiffRow[];
  readonly counts: {
    readonly same: number;
    readonly changed: number;
    readonly removed: number;
    readonly added: number;
  };
  readonly divergence: Divergence | null;
  readonly totals: { readonly a: DiffTotals; readonly b: DiffTotals };
}

export interface DiffRules {
  readonly msOf: (time: string) => number;
  /** Calls alone are compared, by name, arguments and order. */
  readonly toolsOnly?: boolean;
}

/** What two branches did from their common start on, side by side. */
export function diffBranches(a: DiffSide, b: DiffSide, rules: DiffRules): BranchDiff {
  const [one, other] = [sideOf(a, rules), sideOf(b, rules)];
  const aligned = alignItems(one.items, other.items);
  const rows = rules.toolsOnly === true ? aligned.flatMap(asToolRow) : aligned;
  const counts = { same: 0, changed: 0, removed: 0, added: 0 };
  for (const { op } of rows) counts[op]++;
  const divergence = divergenceOf(rows);
  return {
    isSame: divergence === null,
    rows,
    counts,
    divergence,
    totals: { a: one.totals, b: other.totals },
  };
}

function sideOf(
  side: DiffSide,
  { msOf }: DiffRules,
): { readonly items: readonly DiffItem[]; readonly totals: DiffTotals } {
  const turns = diffTurns(side);
  const items = diffItems(side.nodes, turns.numbers);
  return { items, totals: diffTotals(side, turns, items, msOf) };
}

function asToolRow(row: DiffRow): readonly DiffRow[] {
  return (row.a ?? row.b)?.kind === "call" ? [{ ...row, resultDiffers: false }] : [];
}

/** Calls and results come before text: two models never word an answer alike. */
function divergenceOf(rows: readonly DiffRow[]): Divergence | null {
  const acted = rows.findIndex((row) => row.op !== "same" && isAct(row.a ?? row.b));
  if (acted !== -1) return divergenceAt(rows, acted, isAct);
  const differs = rows.findIndex((row) => row.op !== "same" || row.resultDiffers);
  return differs === -1 ? null : divergenceAt(rows, differs, () => true);
}

/** The first call that gave something else; null: every call that both made gave the same. */
export function firstOtherResult(rows: readonly DiffRow[]): Divergence | null {
  const index = rows.findIndex(({ resultDiffers }) => resultDiffers);
  return index === -1 ? null : divergenceAt(rows, index, () => true);
}

function isAct(item: DiffItem | null): boolean {
  return item !== null && item.kind !== "text";
}

function divergenceAt(
  rows: readonly DiffRow[],
  index: number,
  counts: (item: DiffItem | null) => boolean,
): Divergence {
  const row = rows[index];
  const from = rows.slice(index);
  // A side without an item in this row continued with the following ones.
  const a = row?.a ?? from.find((later) => counts(later.a))?.a ?? null;
  const b = row?.b ?? from.find((later) => counts(later.b))?.b ?? null;
  const kind = row?.resultDiffers === true ? "result" : ((row?.a ?? row?.b)?.kind ?? "text");
  const sameBefore = rows.slice(0, index).filter((before) => counts(before.a ?? before.b)).length;
  return { kind, a, b, row: index, sameBefore };
}
