import { LogError } from "#log/errors";
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

/** What a SKILL.md says, by the open format of Agent Skills. */
export interface SkillFile {
  readonly name: string;
  /** What it does and when it is of use, on one line. */
  readonly description: string;
  /** Whether a model may activate it; else a person has to. */
  readonly forModel: boolean;
  /** The instructions themselves. */
  readonly text: string;
}

const NAME_CHARS_MAX = 64;
const DESCRIPTION_CHARS_MAX = 1_024;

function isSkillName(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

/** Reads a SKILL.md; throws an error for the user if it is invalid. Unknown fields are ignored. */
export function parseSkill(text: string, folder: string): SkillFile {
  const { fields, body } = readFrontmatter(text);
  const name = textOf(fields, "name");
  if (!isSkillName(name))
    throw wrong(
      `invalid name ${JSON.stringify(name.slice(0, 100))}. Use up to ${NAME_CHARS_MAX} characters: a-z, 0-9 and single hyphens between them.`,
    );
  if (name !== folder)
    throw wrong(`its name is ${name}, but its folder is ${JSON.stringify(folder)}. They must be the same.`);
  const description = textOf(fields, "description").replaceAll(/\s+/g, " ").trim();
  if (description === "") throw wrong("its description is empty");
  if (description.length > DESCRIPTION_CHARS_MAX)
    throw wrong(
      `its description has ${description.length} characters. The limit is ${DESCRIPTION_CHARS_MAX}.`,
    );
  const hidden = fields.get("disable-model-invocation") ?? false;
  if (typeof hidden !== "boolean") throw wrong("disable-model-invocation must be true or false");
  return { name, description: description.toWellFormed(), forModel: !hidden, text: body.trim() };
}

function textOf(fields: ReadonlyMap<string, FrontmatterValue>, name: string): string {
  const value = fields.get(name) ?? null;
  if (value === null) throw wrong(`it has no ${name}`);
  if (typeof value !== "string") throw wrong(`its ${name} is not text. Put it in quotes.`);
  return value;
}

function wrong(why: string): LogError {
  return new LogError("invalid_request", why);
}

type Scalar = string | boolean | null;
type FrontmatterValue = Scalar | readonly Scalar[] | ReadonlyMap<string, Scalar>;

interface Frontmatter {
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
  if (!/^---[ \t]*$/.test(lines[0] ?? "")) throw wrongLine(1, "the file must start with the line ---");
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (end === -1) throw wrongLine(1, "the line --- after the fields is missing");
  const front = lines.slice(1, end);
  if (front.join("").length > FRONT_CHARS_MAX)
    throw wrongLine(1, `the fields exceed ${FRONT_CHARS_MAX} characters`);
  return { fields: fieldsIn(withQuotes(front).join("\n")), body: lines.slice(end + 1).join("\n") };
}

function wrongLine(line: number, why: string): LogError {
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
  for (const { pos, message } of [...errors, ...warnings]) throw wrongLine(lineAt(pos[0]), message);
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
      throw wrongLine(first, "expected a field such as `name: value`");
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
    throw wrongLine(line, "unsupported value. Use text, true, false, a list or nested fields.");
  const { value, type } = node;
  if (type !== "PLAIN") return value;
  if (/^(?:true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value === "" || value === "~" || value === "null" ? null : value;
}
