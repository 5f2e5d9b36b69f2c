import type { DiffRow } from "#log/diff/align-items";
import type { DiffItem } from "#log/diff/diff-item";
import type { DiffTotals } from "#log/diff/diff-totals";
import type { Divergence } from "#log/diff/diff-branches";
import type { Sink } from "#edges/cli/command";
import { counted, fit, safeLine, wrap } from "#edges/cli/terminal/terminal";
import { changeLines, itemText, resultText } from "./diff-changes.ts";
import { costOf, tokensText, turnText, wallText } from "./diff-figures.ts";
import { joinFitting } from "./diff-table.ts";
import type { NamedBranch, NamedDiff } from "#transfer/views/diff-json";
import { shortId } from "#transfer/views/safe-text";

const TOOLS_NAMED = 6;

export interface DiffView {
  readonly sink: Sink;
  readonly showsRows: boolean;
  readonly showsAll: boolean;
}

/** Two branches for people: where they part and what each used, then each change. */
export function* diffLines(named: NamedDiff, view: DiffView): Generator<string> {
  const { a, b, diff } = named;
  const { sink } = view;
  const width = Math.max(20, sink.columns);
  yield branchText(a, diff.totals.a, sink);
  yield branchText(b, diff.totals.b, sink);
  for (const line of joinFitting([startText(named)], width)) yield sink.style.dim(line);
  yield* verdictLines(named, view);
  yield* joinFitting(totalsTexts(diff.totals.a, diff.totals.b), width);
  if (view.showsRows && (view.showsAll || !diff.isSame)) yield* rowLines(named, view);
}

function branchText({ letter, address }: NamedBranch, totals: DiffTotals, sink: Sink): string {
  const { turns, models } = totals;
  const parts = [`${address} (${counted(turns, "turn")})`, ...models];
  return `${sink.style.bold(letter)}  ${fit(safeLine(parts.join(" · ")), Math.max(12, sink.columns - 3))}`;
}

/** From where on they are compared. */
export function startText({ a, b, diff: { start } }: NamedDiff): string {
  const entry = start.a === null ? "" : `${shortId(a.conversation)}@${shortId(start.a)}`;
  switch (start.kind) {
    case "ancestor":
      return `from ${entry}, the last entry both have`;
    case "copy":
      return `from ${entry}, the last entry that ${b.letter} is a copy of`;
    case "seeds":
      return `from the seeds that both began with, ${entry}`;
    case "starts":
      return "unrelated: compared from their starts";
  }
}

function* verdictLines({ a, b, diff }: NamedDiff, { sink }: DiffView): Generator<string> {
  const { divergence, rows } = diff;
  const { style, columns } = sink;
  if (divergence === null) {
    const alike = rows.length === 0 ? "nothing to compare behind it" : `${rows.length} alike`;
    return yield style.green(`✓ no difference: ${alike}`);
  }
  const { kind, sameBefore } = divergence;
  const place = `${turnText(divergence)}, after ${sameBefore} alike`;
  if (kind === "text" || kind === "result") {
    const what = kind === "text" ? "what was said" : "what a call gave";
    const words = `≈ the same prompts and calls; ${what} differs first in ${place}`;
    for (const line of wrap(words, Math.max(20, columns))) yield style.yellow(line);
  } else
    for (const line of wrap(`✗ first divergence in ${place}`, Math.max(20, columns))) yield style.red(line);
  if (kind === "text") return;
  yield sideLine(a, divergence.a, divergence, sink);
  yield sideLine(b, divergence.b, divergence, sink);
}

function sideLine(
  { letter }: NamedBranch,
  item: DiffItem | null,
  { kind }: Divergence,
  { style, columns }: Sink,
): string {
  const place = item === null ? "" : `  @${shortId(item.entry)}`;
  const text =
    item === null
      ? "nothing more"
      : kind === "result" && item.kind === "call"
        ? `${safeLine(item.name)} → ${resultText(item)}`
        : itemText(item);
  return `   ${letter}  ${fit(text, Math.max(12, columns - 6 - place.length))}${style.dim(place)}`;
}

function totalsTexts(a: DiffTotals, b: DiffTotals): readonly string[] {
  const pair = (name: string, one: string, other: string): string =>
    `${name} ${one === other ? one : `${one} → ${other}`}`;
  return [
    pair("turns", String(a.turns), String(b.turns)),
    `${pair("tools", String(a.calls), String(b.calls))}${toolChanges(a, b)}`,
    pair("tokens", tokensText(a), tokensText(b)),
    pair("cost", costOf(a), costOf(b)),
    pair("wall", wallText(a), wallText(b)),
  ];
}

function toolChanges({ tools: a }: DiffTotals, { tools: b }: DiffTotals): string {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const count = (tools: DiffTotals["tools"], name: string): number =>
    Object.hasOwn(tools, name) ? (tools[name] ?? 0) : 0;
  const changes = names.flatMap((name) => {
    const more = count(b, name) - count(a, name);
    const times = Math.abs(more) === 1 ? "" : ` ×${Math.abs(more)}`;
    return more === 0 ? [] : [`${more > 0 ? "+" : "−"}${safeLine(name)}${times}`];
  });
  if (changes.length === 0) return "";
  const left = changes.length > TOOLS_NAMED ? `, … ${changes.length - TOOLS_NAMED} more` : "";
  return ` (${changes.slice(0, TOOLS_NAMED).join(", ")}${left})`;
}

function* rowLines({ diff }: NamedDiff, view: DiffView): Generator<string> {
  const { style } = view.sink;
  let heading = "";
  let alike = 0;
  const alikeLines = (): readonly string[] => (alike === 0 ? [] : [style.dim(`  = ${alike} alike`)]);
  for (const row of diff.rows) {
    if (!view.showsAll && row.op === "same" && !row.resultDiffers) {
      alike++;
      continue;
    }
    const turn = turnText(row);
    if (turn !== heading) yield* ["", style.bold(turn)];
    heading = turn;
    yield* alikeLines();
    alike = 0;
    yield* rowText(row, view);
  }
  yield* alikeLines();
}

function* rowText(row: DiffRow, { sink, showsAll }: DiffView): Generator<string> {
  const { style, columns } = sink;
  const { op, a, b } = row;
  const item = a ?? b;
  if (item === null) return;
  if (op === "changed") return yield* changeLines(row, sink, showsAll);
  const mark = op === "same" ? "=" : op === "removed" ? "−" : "+";
  const paint = op === "same" ? style.dim : op === "removed" ? style.red : style.green;
  const moved = row.isMoved ? " (in another order)" : "";
  const text = fit(itemText(item), Math.max(12, columns - 4 - moved.length));
  yield `  ${paint(`${mark} ${text}${moved}`)}`;
  if (!row.resultDiffers || a?.kind !== "call" || b?.kind !== "call") return;
  const width = Math.max(12, columns - 11);
  yield `      ${style.red(`− gave ${fit(resultText(a), width)}`)}`;
  yield `      ${style.green(`+ gave ${fit(resultText(b), width)}`)}`;
}
