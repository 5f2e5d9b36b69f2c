import type { DiffRow } from "#log/diff/align-items";
import type { CallItem, DiffItem } from "#log/diff/diff-item";
import type { Json } from "#log/json/json-text";
import { type ValueChange, valueChanges } from "#log/diff/value-changes";
import { type WordChange, wordChanges } from "#log/diff/word-changes";
import type { Sink } from "#edges/cli/command";
import { jsonPreview } from "#transfer/views/entry-preview";
import { fit, safeLine, safeText, widthOf, wrap } from "#edges/cli/terminal/terminal";

const TEXT_CHARS = 400; // more than a line shows
const MEMBERS_SHOWN = 8;
const AROUND_CHARS = 16; // of what is the same, beside a change

/** One line about what was called or said, safe to show. */
export function itemText(item: DiffItem): string {
  return item.kind === "call"
    ? safeLine(`${item.name} ${jsonPreview(item.input)}`)
    : safeLine(`${item.kind} ${item.text.slice(0, TEXT_CHARS)}`);
}

/** What a call gave, in a line. */
export function resultText({ result }: CallItem): string {
  if (result === null) return "no result";
  return safeLine(`${result.isError ? "✗" : "✓"} ${result.text.slice(0, TEXT_CHARS)}`);
}

/** What changed of a call or of words. */
export function* changeLines({ a, b }: DiffRow, sink: Sink, showsAll: boolean): Generator<string> {
  const { style, columns } = sink;
  if (a === null || b === null) return;
  if (a.kind === "call" && b.kind === "call") {
    yield `  ${style.yellow(`~ ${fit(safeLine(a.name), Math.max(12, columns - 4))}`)}`;
    const changes = valueChanges(a.input, b.input);
    for (const change of showsAll ? changes : changes.slice(0, MEMBERS_SHOWN)) yield memberLine(change, sink);
    const left = changes.length - MEMBERS_SHOWN;
    if (!showsAll && left > 0) yield style.dim(`      … ${left} more`);
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
  const text = path.map((part, at) =>
    typeof part === "number" ? `[${part}]` : `${at === 0 ? "" : "."}${part}`,
  );
  return safeLine(text.join("")) || "(all)";
}

/** A word diff in one line: what is the same is cut to what stands around a change. */
function wordsText(changes: readonly WordChange[], width: number, { style }: Sink): string {
  let [line, left] = ["", width];
  for (const [at, { op, text }] of changes.entries()) {
    const shown = op === "same" ? around(text, at === 0, at === changes.length - 1) : text;
    const plain = safeText(shown.slice(0, TEXT_CHARS)).replaceAll(/\s+/g, " ");
    const marked = op === "same" ? plain : op === "removed" ? `[-${plain}-]` : `{+${plain}+}`;
    const fitting = fit(marked, left);
    line += op === "same" ? fitting : op === "removed" ? style.red(fitting) : style.green(fitting);
    left -= widthOf(fitting);
    if (left <= 0 || fitting !== marked) break;
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
