import { LogError } from "#log/errors";
import { blockText, foldedLines, isBlank, type Line, quotedStart, readQuoted } from "./yaml-scalars.ts";

type Scalar = string | boolean | null;
export type FrontmatterValue = Scalar | readonly Scalar[] | ReadonlyMap<string, Scalar>;

export interface Frontmatter {
  readonly fields: ReadonlyMap<string, FrontmatterValue>;
  /** What follows it. */
  readonly body: string;
}

const FRONT_CHARS_MAX = 16_384;
const MEMBER = /^([A-Za-z0-9_.-]+)[ \t]*:(?:[ \t]+((?![ \t]).*))?$/;
const ITEM = /^-(?:[ \t]+((?![ \t]).*))?$/;

/**
 * The fields in front of a Markdown file, between two lines of `---`: of YAML what such files use. Texts (plain, quoted,
 * block), true and false, lists of them and members one level deep; whatever else YAML has is refused by its line.
 */
export function readFrontmatter(text: string): Frontmatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (!/^---[ \t]*$/.test(lines[0] ?? "")) throw wrong(1, "the file has to begin with a line of ---");
  const end = lines.findIndex((line, at) => at > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (end === -1) throw wrong(1, "the fields have no end: a line of --- is missing behind them");
  const front = lines.slice(1, end).map((line, at) => ({ text: line, number: at + 2 }));
  if (front.reduce((sum, line) => sum + line.text.length, 0) > FRONT_CHARS_MAX)
    throw wrong(1, `the fields have more than ${FRONT_CHARS_MAX} characters`);
  return { fields: new FieldReader(front).read(), body: lines.slice(end + 1).join("\n") };
}

function wrong(line: number, why: string): LogError {
  return new LogError("invalid_request", `line ${line}: ${why}`, { line });
}

class FieldReader {
  readonly #lines: readonly Line[];
  #at: number = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
  }

  read(): ReadonlyMap<string, FrontmatterValue> {
    const fields = new Map<string, FrontmatterValue>();
    for (let line = this.#next(); line !== null; line = this.#next()) {
      const { name, rest } = memberOf(line, fields);
      fields.set(name, this.#value(line, rest));
    }
    return fields;
  }

  /** The next line that says something. */
  #next(): Line | null {
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at++];
      if (line !== undefined && !isBlank(line.text)) return line;
    }
    return null;
  }

  /** The lines that belong to the field before them: indented ones, and items of a list. */
  #more(isMore: (text: string) => boolean): readonly Line[] {
    const from = this.#at;
    while (this.#at < this.#lines.length) {
      const { text } = this.#lines[this.#at] as Line;
      if (text.trim() !== "" && !isMore(text)) break;
      this.#at++;
    }
    return this.#lines.slice(from, this.#at);
  }

  #value(line: Line, rest: string): FrontmatterValue {
    const isIndented = (text: string): boolean => /^[ \t]/.test(text);
    if (/^[|>]/.test(rest)) return blockText(line, rest, this.#more(isIndented));
    if (quotedStart(rest)) return readQuoted(line, rest, this.#more(isIndented));
    if (rest.startsWith("["))
      return flowList(line, [rest, ...this.#more(isIndented).map(({ text }) => text)].join(" "));
    if (withoutComment(rest) !== "") {
      const first = scalarOf(line, rest);
      const below = this.#more(isIndented).map(({ text }) => withoutComment(text.trim()));
      return below.every((text) => text === "") ? first : foldedLines([withoutComment(rest), ...below]);
    }
    const below = this.#more((text) => isIndented(text) || ITEM.test(text)).filter(
      ({ text }) => !isBlank(text),
    );
    return below.length === 0 ? null : nested(below);
  }
}

function memberOf(line: Line, known: ReadonlyMap<string, unknown>): { name: string; rest: string } {
  const [, name, rest = ""] = MEMBER.exec(line.text.trimEnd()) ?? [];
  if (name === undefined) throw wrong(line.number, "this is no field; a field is written as `name: value`");
  if (known.has(name)) throw wrong(line.number, `${name} is there twice`);
  return { name, rest: rest.trim() };
}

/** What stands below a field's name: a list, members, or words. */
function nested(below: readonly Line[]): FrontmatterValue {
  const inner = below.map(({ text, number }) => ({ text: text.trim(), number }));
  const indents = new Set(below.map(({ text }) => /^[ \t]*/.exec(text)?.[0].length));
  const [first] = inner;
  const isList = ITEM.test(first?.text ?? "");
  const isMap = !isList && MEMBER.test(first?.text ?? "");
  if (!isList && !isMap) return foldedLines(inner.map(({ text }) => text));
  if (indents.size > 1) throw wrong(first?.number ?? 0, "this nests deeper than fields may");
  if (isList)
    return inner.map((line) => {
      const [, item] = ITEM.exec(line.text) ?? [];
      if (item === undefined) throw wrong(line.number, "this is no item of the list; an item is `- value`");
      return scalarOf(line, item.trim());
    });
  const members = new Map<string, Scalar>();
  for (const line of inner) {
    const { name, rest } = memberOf(line, members);
    members.set(name, scalarOf(line, rest));
  }
  return members;
}

/** A value on one line. */
function scalarOf(line: Line, given: string): Scalar {
  if (quotedStart(given)) return readQuoted(line, given, []);
  const text = withoutComment(given);
  if (/^[&*!{}[\]|>%@`]/.test(text))
    throw wrong(line.number, `a value that begins with ${text[0]} is not understood here; put it in quotes`);
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
  return text === "" || text === "~" || text === "null" ? null : text;
}

function withoutComment(text: string): string {
  return text.replace(/(?:^|[ \t])#.*$/, "").trim();
}

function flowList(line: Line, given: string): readonly Scalar[] {
  const items: Scalar[] = [];
  const one = /(?:[ \t]*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'(?!'))[ \t]*|([^,[\]{}"']*))([,\]])/y;
  one.lastIndex = 1;
  for (let found = one.exec(given); found !== null; found = one.exec(given)) {
    const [, quoted, plain = "", sign] = found;
    if (quoted !== undefined || plain.trim() !== "") items.push(scalarOf(line, quoted ?? plain.trim()));
    if (sign === "]" && withoutComment(given.slice(one.lastIndex)) === "") return items;
    if (sign === "]") break;
  }
  throw wrong(line.number, "this list is not understood; a list is `[one, two]`");
}
