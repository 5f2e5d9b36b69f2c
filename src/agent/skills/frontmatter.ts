import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { LogError } from "#log/errors";

type Scalar = string | boolean | null;
export type FrontmatterValue = Scalar | readonly Scalar[] | ReadonlyMap<string, Scalar>;

export interface Frontmatter {
  readonly fields: ReadonlyMap<string, FrontmatterValue>;
  /** What follows it. */
  readonly body: string;
}

const FRONT_CHARS_MAX = 16_384;
/** A plain text with a colon in it: such files have it often, and YAML refuses it. */
const WITH_COLON = /^([A-Za-z0-9_.-]+[ \t]*:[ \t]+)([^\s"'|>[\]{}&*!%@`#].*:(?:[ \t].*)?)$/;

/**
 * The fields in front of a Markdown file, between two lines of `---`: of YAML what such files use. Texts, true and false,
 * lists of them and members one level deep; anything else in YAML is refused by its line.
 */
export function readFrontmatter(text: string): Frontmatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (!/^---[ \t]*$/.test(lines[0] ?? "")) throw wrong(1, "the file has to begin with a line of ---");
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (end === -1) throw wrong(1, "the fields have no end: a line of --- is missing behind them");
  const front = lines.slice(1, end);
  if (front.join("").length > FRONT_CHARS_MAX)
    throw wrong(1, `the fields have more than ${FRONT_CHARS_MAX} characters`);
  return { fields: fieldsIn(withQuotes(front).join("\n")), body: lines.slice(end + 1).join("\n") };
}

function wrong(line: number, why: string): LogError {
  return new LogError("invalid_request", `line ${line}: ${why}`, { line });
}

/** Puts plain texts with colons in quotes, each with the lines that continue it. */
function withQuotes(lines: readonly string[]): readonly string[] {
  const quoted = [...lines];
  for (const [index, line] of lines.entries()) {
    const [, name, start] = WITH_COLON.exec(line) ?? [];
    if (name === undefined || start === undefined) continue;
    const parts = [start];
    for (let next = index + 1; /^[ \t]/.test(quoted[next] ?? ""); next++) {
      parts.push(quoted[next] ?? "");
      quoted[next] = "";
    }
    const text = parts.map((part) => part.replace(/(?:^|[ \t])#.*$/, "").trim()).join(" ");
    quoted[index] = `${name}'${text.replaceAll("'", "''")}'`;
  }
  return quoted;
}

function fieldsIn(front: string): ReadonlyMap<string, FrontmatterValue> {
  const lines = new LineCounter();
  const { contents, errors, warnings } = parseDocument(front, {
    schema: "failsafe",
    lineCounter: lines,
    prettyErrors: false,
  });
  const lineAt = (offset: number): number => lines.linePos(offset).line + 1;
  for (const { pos, message } of [...errors, ...warnings]) throw wrong(lineAt(pos[0]), message);
  if (contents === null) return new Map();
  return membersOf(contents, 2, (value, line) => {
    if (isSeq<Node>(value)) return value.items.map((item) => scalarOf(item, lineAt(item.range?.[0] ?? 0)));
    if (isMap(value) && value.flow !== true) return membersOf(value, line, scalarOf);
    return scalarOf(value, line);
  });

  function membersOf<T>(
    node: Node,
    first: number,
    valueOf: (value: Node | null, line: number) => T,
  ): ReadonlyMap<string, T> {
    if (!isMap<Node, Node | null>(node) || node.flow === true)
      throw wrong(first, "this is no field; a field is written as `name: value`");
    return new Map(
      node.items.map(({ key, value }) => {
        const line = lineAt(key.range?.[0] ?? 0);
        return [String(scalarOf(key, line)), valueOf(value, line)];
      }),
    );
  }
}

function scalarOf(node: Node | null, line: number): Scalar {
  if (node === null) return null;
  if (!isScalar<string>(node) || isAlias(node) || node.anchor !== undefined || node.tag !== undefined)
    throw wrong(
      line,
      "this value is not understood here; use a text, true, false, a list or members of these",
    );
  const { value, type } = node;
  if (type !== "PLAIN") return value;
  if (/^(?:true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value === "" || value === "~" || value === "null" ? null : value;
}
