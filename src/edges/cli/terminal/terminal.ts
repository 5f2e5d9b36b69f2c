/** What people read passes through here: stored text comes from models, tools and strangers. */

export { safeLine, safeText } from "#transfer/views/safe-text";

// In JSON the rest of the controls are escapes already. These may stand as they are, and a terminal would obey them.
const RAW_IN_JSON = /[\u007F-\u009F\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\uFFF9-\uFFFB]/gu;

/** JSON on its way to a terminal: other letters, the same meaning. They can only stand inside of strings. */
export function safeJson(text: string): string {
  return text.replaceAll(RAW_IN_JSON, (match) =>
    Array.from(
      { length: match.length },
      (_, index) => `\\u${match.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
const ZERO = /\p{Mn}|\p{Me}|\u200D/u;

/** Columns the text takes in a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Whether it takes more columns than these; of a long text no more is looked at than that takes. */
function isWider(text: string, width: number): boolean {
  let used = 0;
  for (const character of text) if ((used += widthOf(character)) > width) return true;
  return used > width;
}

/** Cuts text to a width, with an ellipsis where something is left out. */
export function fit(text: string, width: number): string {
  if (text.length <= width && widthOf(text) <= width) return text;
  let [prefix, used] = ["", 0];
  for (const character of text) {
    used += widthOf(character);
    if (used > width - 1) break;
    prefix += character;
  }
  return `${prefix.trimEnd()}…`;
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Breaks text into lines of at most this width, at spaces where it can. */
export function wrap(text: string, width: number): readonly string[] {
  return text.split("\n").flatMap((line) => wrapLine(line.replaceAll("\t", "  "), width));
}

function wrapLine(line: string, width: number): readonly string[] {
  if (!isWider(line, width)) return [line];
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(/(?<= )/)) {
    if (current !== "" && isWider(word.trimEnd(), width - widthOf(current))) {
      lines.push(current.trimEnd());
      current = "";
    }
    current += word;
    while (isWider(current.trimEnd(), width)) {
      const head = fit(current, width + 1).slice(0, -1);
      lines.push(head);
      current = current.slice(head.length);
    }
  }
  return current.trim() === "" ? lines : [...lines, current.trimEnd()];
}

type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

function paint(open: number, close: number): Paint {
  return (text) => `\u001B[${open}m${text}\u001B[${close}m`;
}

const plain: Paint = (text) => text;
export const PLAIN: Style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
const COLOUR: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
};

/** Colour only for a terminal, and not where the reader asked for none. */
export function styleFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const refused = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return isTerminal && !refused ? COLOUR : PLAIN;
}

/** A number with its noun, for people: 1 entry, 2 entries. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
