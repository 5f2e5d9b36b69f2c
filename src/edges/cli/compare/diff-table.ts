import type { DiffTotals } from "#log/diff/diff-totals";
import type { Sink } from "#edges/cli/command";
import { counted, fit, pad, safeLine, widthOf } from "#edges/cli/terminal/terminal";
import type { NamedBranch, NamedDiff } from "#transfer/views/diff-json";
import type { DiffItem } from "#log/diff/diff-item";
import type { Divergence } from "#log/diff/diff-branches";
import { costText } from "#edges/cli/commands/usage";

const [NAME_NARROW, NAME_WIDE, WIDE_COLUMNS] = [14, 24, 100];
const PARTS = "first divergence";
const HEADINGS = ["", "branch", "model", "turns", "tools", "tokens", "cost", "wall"];

interface TableRow {
  readonly branch: NamedBranch;
  readonly totals: DiffTotals;
  /** Null for the one that the others are compared with. */
  readonly differs: string | null;
  readonly isSame: boolean;
}

/** All branches in one table, or where it would not fit, a few lines for each; where they part stands behind or below. */
export function tableLines(diffs: readonly NamedDiff[], sink: Sink): readonly string[] {
  const rows = tableRows(diffs);
  const cells = [HEADINGS, ...rows.map((row) => cellsOf(row, sink.columns))];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((line) => widthOf(line[column] ?? ""))));
  const used = widths.reduce((sum, width) => sum + width + 2, 0);
  if (used - 2 > sink.columns) return rows.flatMap((row) => blockLines(row, sink));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, column) =>
        column < 3 ? pad(text, widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join("  ");
  const room = sink.columns - used;
  const isWide =
    rows.every(({ differs }) => widthOf(safeLine(differs ?? "")) <= room) && room >= PARTS.length;
  const heading = sink.style.dim(`${line(HEADINGS)}${isWide ? `  ${PARTS}` : ""}`);
  const lines = rows.map(
    (row, column) => `${line(cells[column + 1] ?? [])}  ${isWide ? verdictText(row, room, sink) : ""}`,
  );
  const below = rows.filter(({ differs }) => differs !== null && !isWide);
  const lead = (row: TableRow): string => `${row.branch.letter}  ${PARTS}: `;
  return [
    heading,
    ...lines,
    ...below.map(
      (row) => `${lead(row)}${verdictText(row, Math.max(12, sink.columns - lead(row).length), sink)}`,
    ),
  ];
}

function tableRows(diffs: readonly NamedDiff[]): readonly TableRow[] {
  const [first] = diffs;
  if (first === undefined) return [];
  return [
    { branch: first.a, totals: first.diff.totals.a, differs: null, isSame: true },
    ...diffs.map(({ b, diff }) => ({
      branch: b,
      totals: diff.totals.b,
      differs: divergenceText(diff.divergence),
      isSame: diff.isSame,
    })),
  ];
}

function verdictText({ differs, isSame }: TableRow, width: number, { style }: Sink): string {
  const text = fit(safeLine(differs ?? ""), width);
  return isSame ? style.green(text) : style.red(text);
}

function cellsOf({ branch, totals }: TableRow, columns: number): readonly string[] {
  const name = columns < WIDE_COLUMNS ? NAME_NARROW : NAME_WIDE;
  return [
    branch.letter,
    fit(safeLine(branch.address), name),
    fit(safeLine(totals.models.join(", ")), name),
    String(totals.turns),
    String(totals.calls),
    tokensText(totals),
    costOf(totals).replace("at least ", "≥"),
    wallText(totals),
  ];
}

function blockLines(row: TableRow, sink: Sink): readonly string[] {
  const { branch, totals } = row;
  const width = Math.max(12, sink.columns - 3);
  const figures = [
    counted(totals.turns, "turn"),
    counted(totals.calls, "tool"),
    `${tokensText(totals)} tokens`,
    costOf(totals),
    wallText(totals),
  ];
  const models = totals.models.length === 0 ? "" : ` · ${totals.models.join(", ")}`;
  return [
    sink.style.bold(`${branch.letter}  ${fit(safeLine(`${branch.address}${models}`), width)}`),
    ...joinFitting(figures, width).map((line) => `   ${line}`),
    ...(row.differs === null ? [] : [`   ${verdictText(row, width, sink)}`]),
  ];
}

/** Parts in a row, and in the next one where they do not fit. */
export function joinFitting(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = last === undefined ? part : `${last} · ${part}`;
    if (last !== undefined && widthOf(joined) > width) lines.push(part);
    else lines[Math.max(0, lines.length - 1)] = joined;
  }
  return lines.map((line) => fit(line, width));
}

const [SECOND_MS, MINUTE_MS] = [1_000, 60_000];

/** Figures of a branch as people read them. */
export function tokensText({ usage }: DiffTotals): string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  if (tokens < 1_000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function costOf(totals: DiffTotals): string {
  return costText(totals.usage);
}

export function wallText({ wallMs }: DiffTotals): string {
  if (wallMs < SECOND_MS) return `${wallMs} ms`;
  if (wallMs < MINUTE_MS) return `${(wallMs / SECOND_MS).toFixed(1)} s`;
  const seconds = Math.round(wallMs / SECOND_MS);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Which turn it is, of both where they do not agree. */
export function turnText({ a, b }: { readonly a: DiffItem | null; readonly b: DiffItem | null }): string {
  if (a === null || b === null || a.turn === b.turn) return `turn ${(a ?? b)?.turn ?? 1}`;
  return `turn ${a.turn} of A, ${b.turn} of B`;
}

/** Where two part, in a few words. */
export function divergenceText(divergence: Divergence | null): string {
  if (divergence === null) return "none";
  const { kind, a, b } = divergence;
  const turn = turnText(divergence);
  if (kind === "text") return `${turn}: text only`;
  if (kind === "result") return `${turn}: what a call gave`;
  const [one, other] = [a, b].map((item) => (item === null ? "nothing" : nameOf(item)));
  return one === other ? `${turn}: ${one}` : `${turn}: ${one} → ${other}`;
}

function nameOf(item: DiffItem): string {
  return item.kind === "call" ? item.name : item.kind;
}
