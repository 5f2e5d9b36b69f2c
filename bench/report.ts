import type { Timing } from "./sample.ts";

/** A line of the table. Ratios are what budgets speak of; the times beside them are only as good as the machine. */
export interface Row {
  readonly work: string;
  /** What it is measured against. */
  readonly against: string;
  readonly value: number;
  /** `x` times as long or large, `x faster` times as fast or many, or plain milliseconds, microseconds, percent or bytes. */
  readonly unit: "x" | "x faster" | "ms" | "us" | "%" | "kB" | "MB" | "statements";
  readonly budget: Budget | null;
  readonly ours: Timing | null;
  readonly theirs: Timing | null;
  readonly note?: string;
}

export interface Budget {
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Why the budget does not apply in this run. */
  readonly unless?: string;
}

export type Verdict = "met" | "OVER" | "not judged" | "";

/** How much longer `ours` takes than `theirs`. */
export function slower(
  work: string,
  against: string,
  times: { readonly ours: Timing; readonly theirs: Timing; readonly budget?: Budget; readonly note?: string },
): Row {
  const { ours, theirs, budget = null, note } = times;
  const value = ours.medianMs / theirs.medianMs;
  return { work, against, value, unit: "x", budget, ours, theirs, ...(note === undefined ? {} : { note }) };
}

/** How much longer `theirs` takes than `ours`. */
export function faster(
  work: string,
  against: string,
  times: { readonly ours: Timing; readonly theirs: Timing; readonly budget?: Budget; readonly note?: string },
): Row {
  const { ours, theirs, budget = null, note } = times;
  const value = theirs.medianMs / ours.medianMs;
  const row: Row = { work, against, value, unit: "x faster", budget, ours, theirs };
  return note === undefined ? row : { ...row, note };
}

/** A row that could not be measured, and why. */
export function unmeasured(work: string, against: string, note: string): Row {
  return { work, against, value: Number.NaN, unit: "x", budget: null, ours: null, theirs: null, note };
}

export function verdictOf(row: Row): Verdict {
  const { budget, value } = row;
  if (budget === null || Number.isNaN(value)) return "";
  if (budget.unless !== undefined) return "not judged";
  const within = value <= (budget.atMost ?? Infinity) && value >= (budget.atLeast ?? -Infinity);
  return within ? "met" : "OVER";
}

const HEADINGS = ["work", "against", "ratio", "budget", "", "median", "p99", "against", "p99"];

export function tableOf(rows: readonly Row[]): string {
  const lines = [HEADINGS, ...rows.map((row) => cellsOf(row))];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const draw = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const notes = rows.flatMap((row) => (row.note === undefined ? [] : [`  ${row.work}: ${row.note}`]));
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  const [headings = [], ...body] = lines;
  return [draw(headings), rule, ...body.map(draw), ...(notes.length === 0 ? [] : ["", ...notes])].join("\n");
}

function cellsOf(row: Row): readonly string[] {
  const verdict = verdictOf(row);
  return [
    row.work,
    row.against,
    Number.isNaN(row.value) ? "-" : `${short(row.value)} ${row.unit}`,
    budgetText(row),
    verdict === "not judged" ? `(${row.budget?.unless ?? ""})` : verdict,
    timeText(row.ours?.medianMs),
    timeText(row.ours?.p99Ms),
    timeText(row.theirs?.medianMs),
    timeText(row.theirs?.p99Ms),
  ];
}

function budgetText({ budget, unit }: Row): string {
  if (budget?.atMost !== undefined) return `<= ${budget.atMost} ${unit}`;
  return budget?.atLeast === undefined ? "" : `>= ${budget.atLeast} ${unit}`;
}

function timeText(ms: number | undefined): string {
  if (ms === undefined) return "";
  return ms < 1 ? `${short(ms * 1_000)} us` : `${short(ms)} ms`;
}

function short(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
