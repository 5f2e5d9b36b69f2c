import { LogError } from "#log/errors";
import { parseEntryId } from "#log/ids";
import { compareNamed, diff as diffOperation, type DiffOptions, diffPieces } from "#operations/comparisons";
import { check } from "#operations/operation";
import { readAddress } from "#edges/cli/operation-command";
import type { Call, Command, Sink } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { tableLines, costOf, tokensText, turnText, wallText, joinFitting } from "./diff-table.ts";
import type { NamedBranch, NamedDiff } from "#transfer/views/diff-json";
import type { DiffRow } from "#log/diff/align-items";
import type { DiffItem, CallItem } from "#log/diff/diff-item";
import type { DiffTotals } from "#log/diff/diff-totals";
import type { Divergence } from "#log/diff/diff-branches";
import { counted, fit, safeLine, wrap, safeText, widthOf } from "#edges/cli/terminal/terminal";
import { shortId } from "#transfer/views/safe-text";
import type { Json } from "#log/json/json-text";
import { type ValueChange, valueChanges } from "#log/diff/value-changes";
import { type WordChange, wordChanges } from "#log/diff/word-changes";
import { jsonPreview } from "#transfer/views/entry-preview";

const BRANCHES_MAX = 25; // A and one letter for each of the others
const FLUSH_CHARS = 65_536;

export const diffCommand: Command = {
  name: "diff",
  summary: "Compare branches, forks or replays",
  forms: ["A B [B...]"],
  about: `A and B are ID, ID@ENTRY or ID@LABEL: two branches, two forks, or a conversation and its replay.
Holdfast compares them after their last common entry: tool calls by name, arguments and order,
then texts. Thinking, settings and compactions are not compared.

  =  same   ~  changed   −  only in A   +  only in B`,
  examples: [
    "holdfast diff ID@first-try ID",
    "holdfast diff ID FORK --tools-only --exit-code",
    "holdfast diff ID FORK OTHER --stat",
    "holdfast diff ID FORK --json | jq .divergence",
  ],
  options: {
    "--tools-only": "compare tool calls only",
    "--stat": "print the point of divergence and totals only",
    "--all": "print equal parts too, and changed texts whole",
    "--exit-code": "exit with 8 if they differ",
  },
  async run(call) {
    const { flags } = call;
    if (call.args.length > BRANCHES_MAX + 1)
      throw new LogError("invalid_request", `Too many branches. Compare at most ${BRANCHES_MAX + 1}`);
    const options = { toolsOnly: flags.has("tools-only"), stat: flags.has("stat"), all: flags.has("all") };
    const diffs = await compare(call, options);
    if (call.json) for (const one of diffs) await writeJson(call, one, options);
    else await writeText(call, diffs);
    return flags.has("exit-code") && diffs.some(({ diff }) => !diff.isSame) ? STATUS.differs : STATUS.ok;
  },
};

async function compare(call: Call, options: DiffOptions): Promise<readonly NamedDiff[]> {
  const holdfast = await call.open({ readOnly: true });
  const branches: NamedBranch[] = [];
  for (const [index, address] of call.args.entries()) {
    const { conversation, entry } = await readAddress(holdfast, address);
    const letter = String.fromCodePoint(65 + index);
    branches.push({ letter, address, conversation, entry: entry === null ? null : parseEntryId(entry) });
  }
  const [a = "", ...others] = branches.map(
    ({ conversation, entry }) => `${conversation}${entry === null ? "" : `@${entry}`}`,
  );
  for (const b of others) check(diffOperation, { a, b, ...options });
  return compareNamed(holdfast, branches, options);
}

async function writeText(call: Call, diffs: readonly NamedDiff[]): Promise<void> {
  const { out } = call.io;
  const showsRows = !call.flags.has("stat");
  let pending = "";
  const write = async (lines: Iterable<string>): Promise<void> => {
    for (const line of lines) {
      pending += `${line.trimEnd()}\n`;
      if (pending.length < FLUSH_CHARS) continue;
      await out.write(pending);
      pending = "";
    }
  };
  const [first] = diffs;
  if (diffs.length > 1 && first !== undefined)
    await write([...tableLines(diffs, out), ...(showsRows ? [] : [out.style.dim(startText(first))])]);
  for (const [index, one] of diffs.entries()) {
    if (diffs.length > 1 && !showsRows) break; // the table has said it
    if (index > 0 || diffs.length > 1) await write([""]);
    await write(diffLines(one, { sink: out, showsRows, showsAll: call.flags.has("all") }));
  }
  await out.write(pending);
}

/** One object on a line, a change after another: all of them need not fit into one text. */
async function writeJson(call: Call, one: NamedDiff, options: DiffOptions): Promise<void> {
  const { out } = call.io;
  let pending = "";
  for (const piece of diffPieces(one, options)) {
    pending += piece;
    if (pending.length < FLUSH_CHARS) continue;
    await out.write(pending);
    pending = "";
  }
  await out.write(pending);
}

const TOOLS_NAMED = 6;

interface DiffView {
  readonly sink: Sink;
  readonly showsRows: boolean;
  readonly showsAll: boolean;
}

/** Two branches for people: where they part and what each used, then each change. */
function* diffLines(pair: NamedDiff, view: DiffView): Generator<string> {
  const { a, b, diff } = pair;
  const { sink } = view;
  const width = Math.max(20, sink.columns);
  yield branchText(a, diff.totals.a, sink);
  yield branchText(b, diff.totals.b, sink);
  for (const line of joinFitting([startText(pair)], width)) yield sink.style.dim(line);
  yield* verdictLines(pair, view);
  yield* joinFitting(totalsTexts(diff.totals.a, diff.totals.b), width);
  if (view.showsRows && (view.showsAll || !diff.isSame)) yield* rowLines(pair, view);
}

function branchText({ letter, address }: NamedBranch, totals: DiffTotals, sink: Sink): string {
  const { turns, models } = totals;
  const parts = [`${address} (${counted(turns, "turn")})`, ...models];
  return `${sink.style.bold(letter)}  ${fit(safeLine(parts.join(" · ")), Math.max(12, sink.columns - 3))}`;
}

/** From where on they are compared. */
function startText({ a, b, diff: { start } }: NamedDiff): string {
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
    const alike = rows.length === 0 ? "nothing to compare after it" : `${rows.length} alike`;
    return yield style.green(`✓ no difference: ${alike}`);
  }
  const { kind, sameBefore } = divergence;
  const place = `${turnText(divergence)}, after ${sameBefore} alike`;
  if (kind === "text" || kind === "result") {
    const difference = kind === "text" ? "the messages" : "a call's result";
    const sentence = `≈ the same prompts and calls; ${difference} differs first in ${place}`;
    for (const line of wrap(sentence, Math.max(20, columns))) yield style.yellow(line);
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
    const increase = count(b, name) - count(a, name);
    const times = Math.abs(increase) === 1 ? "" : ` ×${Math.abs(increase)}`;
    return increase === 0 ? [] : [`${increase > 0 ? "+" : "−"}${safeLine(name)}${times}`];
  });
  if (changes.length === 0) return "";
  const omitted = changes.length > TOOLS_NAMED ? `, … ${changes.length - TOOLS_NAMED} more` : "";
  return ` (${changes.slice(0, TOOLS_NAMED).join(", ")}${omitted})`;
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

const TEXT_CHARS = 400; // more than a line shows
const MEMBERS_SHOWN = 8;
const AROUND_CHARS = 16; // of what is the same, beside a change

/** One line about what was called or said, safe to show. */
function itemText(item: DiffItem): string {
  return item.kind === "call"
    ? safeLine(`${item.name} ${jsonPreview(item.input)}`)
    : safeLine(`${item.kind} ${item.text.slice(0, TEXT_CHARS)}`);
}

/** What a call gave, in a line. */
function resultText({ result }: CallItem): string {
  if (result === null) return "no result";
  return safeLine(`${result.isError ? "✗" : "✓"} ${result.text.slice(0, TEXT_CHARS)}`);
}

/** What changed of a call or of words. */
function* changeLines({ a, b }: DiffRow, sink: Sink, showsAll: boolean): Generator<string> {
  const { style, columns } = sink;
  if (a === null || b === null) return;
  if (a.kind === "call" && b.kind === "call") {
    yield `  ${style.yellow(`~ ${fit(safeLine(a.name), Math.max(12, columns - 4))}`)}`;
    const changes = valueChanges(a.input, b.input);
    for (const change of showsAll ? changes : changes.slice(0, MEMBERS_SHOWN)) yield memberLine(change, sink);
    const omitted = changes.length - MEMBERS_SHOWN;
    if (!showsAll && omitted > 0) yield style.dim(`      … ${omitted} more`);
    return;
  }
  if (a.kind === "call" || b.kind === "call") return;
  const lead = `${a.kind} differs: `;
  if (!showsAll) {
    const room = Math.max(12, columns - 4 - lead.length);
    yield `  ${style.yellow(`~ ${lead}`)}${wordsText(wordChanges(a.text, b.text), room, sink)}`;
    return;
  }
  yield `  ${style.yellow(`~ ${a.kind} differs`)}`;
  const width = Math.max(12, columns - 8);
  for (const line of wrap(safeText(a.text), width)) yield style.red(`      − ${line}`);
  for (const line of wrap(safeText(b.text), width)) yield style.green(`      + ${line}`);
}

function memberLine(change: ValueChange, sink: Sink): string {
  const { style, columns } = sink;
  const { a, b } = change;
  const width = Math.max(20, columns - 6);
  const name = fit(pathText(change.path), Math.floor(width / 2));
  const room = Math.max(12, width - widthOf(name) - 2);
  if (typeof a === "string" && typeof b === "string")
    return `      ${name}  ${wordsText(wordChanges(a, b), room, sink)}`;
  if (b === undefined) return `      ${style.red(`− ${name}  ${fit(valueText(a), room - 2)}`)}`;
  if (a === undefined) return `      ${style.green(`+ ${name}  ${fit(valueText(b), room - 2)}`)}`;
  const half = Math.max(6, Math.floor((room - 3) / 2));
  return `      ${name}  ${style.red(fit(valueText(a), half))} → ${style.green(fit(valueText(b), half))}`;
}

function valueText(value: Json | undefined): string {
  return safeLine(jsonPreview(value));
}

function pathText(path: ValueChange["path"]): string {
  const text = path.map((part, index) =>
    typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${part}`,
  );
  return safeLine(text.join("")) || "(all)";
}

/** A word diff in one line: what is the same is cut to what stands around a change. */
function wordsText(changes: readonly WordChange[], width: number, { style }: Sink): string {
  let [line, room] = ["", width];
  for (const [index, { op, text }] of changes.entries()) {
    const excerpt = op === "same" ? around(text, index === 0, index === changes.length - 1) : text;
    const plain = safeText(excerpt.slice(0, TEXT_CHARS)).replaceAll(/\s+/g, " ");
    const marked = op === "same" ? plain : op === "removed" ? `[-${plain}-]` : `{+${plain}+}`;
    const fitting = fit(marked, room);
    line += op === "same" ? fitting : op === "removed" ? style.red(fitting) : style.green(fitting);
    room -= widthOf(fitting);
    if (room <= 0 || fitting !== marked) break;
  }
  return line;
}

function around(text: string, isFirst: boolean, isLast: boolean): string {
  const room = isFirst || isLast ? AROUND_CHARS : 2 * AROUND_CHARS;
  if (text.length <= room) return text;
  // A character that is cut in two is made whole where it is shown.
  const before = isFirst ? "" : text.slice(0, AROUND_CHARS);
  const after = isLast ? "" : text.slice(-AROUND_CHARS);
  return `${before}…${after}`;
}
