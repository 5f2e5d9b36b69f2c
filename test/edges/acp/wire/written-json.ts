/** JSON as someone else might write it: white space, escapes, duplicate names, big numbers; and where each value stands. */
import fc from "fast-check";
import type { Span } from "#edges/acp/wire/spans";

export type Tree =
  | { readonly kind: "scalar"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: readonly Tree[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [string, Tree])[] };

export type ObjectTree = Extract<Tree, { readonly kind: "object" }>;

export interface Written {
  readonly tree: ObjectTree;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly spans: ReadonlyMap<Tree, Span>;
}

const LOOK_ALIKES = [
  '"sessionId":',
  '{"sessionId":"x"}',
  '\\"',
  "\\",
  '"',
  "]}",
  "\\u0022,",
  "a\u0000\u001f\n",
  "\ud83d",
];
const RPC_NAMES = ["id", "method", "params", "result", "error", "sessionId"];
const INNER_NAMES = [
  "sessionId",
  "session",
  "sessionId ",
  "a",
  "",
  "__proto__",
  "é😀",
  'q"\\',
  "id",
  "update",
];
const SCALARS = [
  "0",
  "-0",
  "1.0",
  "1e3",
  "true",
  "false",
  "null",
  "12345678901234567890",
  "0.1",
  "1E400",
  "-5e-400",
];

const string: fc.Arbitrary<Tree> = fc.record({
  kind: fc.constant("string" as const),
  value: fc.oneof(fc.constantFrom(...LOOK_ALIKES), fc.string({ unit: "binary", maxLength: 90 }), fc.string()),
});
const scalar: fc.Arbitrary<Tree> = fc.record({
  kind: fc.constant("scalar" as const),
  text: fc.constantFrom(...SCALARS),
});
const objectOf = (names: readonly string[], value: fc.Arbitrary<Tree>): fc.Arbitrary<ObjectTree> =>
  fc.record({
    kind: fc.constant("object" as const),
    members: fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 6 }),
  });

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    string,
    scalar,
    fc.record({ kind: fc.constant("array" as const), items: fc.array(tie("tree"), { maxLength: 4 }) }),
    objectOf(INNER_NAMES, tie("tree")),
  ),
}));

/** How a tree is written: each number settles one choice, and they are used over and over. */
export const style: fc.Arbitrary<readonly number[]> = fc.array(fc.nat({ max: 11 }), {
  minLength: 1,
  maxLength: 40,
});

export const message: fc.Arbitrary<ObjectTree> = objectOf(
  RPC_NAMES,
  fc.oneof(tree, objectOf(INNER_NAMES, tree)),
);
export const writtenMessage: fc.Arbitrary<Written> = fc
  .tuple(message, style)
  .map(([root, how]) => write(root, how));

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "/": "\\/",
  "\n": "\\n",
  "\t": "\\t",
};

export function write(root: ObjectTree, how: readonly number[]): Written {
  const parts: string[] = [];
  const spans = new Map<Tree, Span>();
  let at = 0;
  let choices = 0;
  const choice = (): number => how[choices++ % how.length] ?? 0;
  const put = (text: string): void => {
    parts.push(text);
    at += Buffer.byteLength(text);
  };
  const space = (): void => put(["", "", "", "", "", "", "", "", " ", "\t", "\r ", "  "][choice()] ?? "");
  const char = (one: string): string => {
    const taste = choice();
    const units = [...Array(one.length).keys()].map((index) =>
      one.charCodeAt(index).toString(16).padStart(4, "0"),
    );
    const escaped = units.map((hex) => `\\u${taste % 2 === 0 ? hex : hex.toUpperCase()}`).join("");
    if (taste > 8) return escaped;
    const mustEscape = one < " " || one === '"' || one === "\\" || !one.isWellFormed();
    return taste > 6 || mustEscape ? (SHORT[one] ?? (mustEscape ? escaped : one)) : one;
  };
  const quoted = (value: string): void => put(`"${Array.from(value, char).join("")}"`);
  const value = (node: Tree): void => {
    space();
    const start = at;
    if (node.kind === "scalar") put(node.text);
    else if (node.kind === "string") quoted(node.value);
    else {
      put(node.kind === "array" ? "[" : "{");
      for (const [index, item] of (node.kind === "array" ? node.items : node.members).entries()) {
        if (index > 0) put(",");
        if (!("kind" in item)) {
          space();
          quoted(item[0]);
          space();
          put(":");
        }
        value("kind" in item ? item : item[1]);
      }
      space();
      put(node.kind === "array" ? "]" : "}");
    }
    spans.set(node, { start, end: at });
    space();
  };
  value(root);
  const text = parts.join("");
  return { tree: root, text, bytes: Buffer.from(text), spans };
}

/** The values at a path, all duplicates in order. */
export function treesAt(root: Tree, path: readonly string[]): readonly Tree[] {
  return path.reduce<readonly Tree[]>((trees, step) => trees.flatMap((node) => inside(node, step)), [root]);
}

function inside(node: Tree, step: string): readonly Tree[] {
  if (node.kind === "array") return step === "*" ? node.items : [];
  if (node.kind !== "object") return [];
  return node.members.filter(([name]) => name === step).map(([, value]) => value);
}

/** Every path that leads somewhere. */
export function pathsOf(node: Tree): readonly (readonly string[])[] {
  const steps =
    node.kind === "array"
      ? node.items.map((item) => ["*", item] as const)
      : node.kind === "object"
        ? node.members
        : [];
  return [[], ...steps.flatMap(([step, child]) => pathsOf(child).map((path) => [step].concat(path)))];
}

/** The tree with every string, names too, put through `change`. */
function mapStrings(node: Tree, change: (text: string) => string): Tree {
  if (node.kind === "string") return { kind: "string", value: change(node.value) };
  if (node.kind === "array")
    return { kind: "array", items: node.items.map((item) => mapStrings(item, change)) };
  return node.kind === "scalar" ? node : mapNames(node, change);
}

export function mapNames(node: ObjectTree, change: (text: string) => string): ObjectTree {
  return {
    kind: "object",
    members: node.members.map(([name, value]) => [change(name), mapStrings(value, change)] as const),
  };
}
