/** Malformed values, made from a schema: wrong ones, which must be refused, and odd ones, which must not break anything. */
import type { JsonSchema } from "#edges/http/routes/route";
import { resolved } from "./samples.ts";

export interface Malformed {
  readonly value: unknown;
  /** The schema says so: 400, or 413 for what is too long. */
  readonly isWrong: boolean;
}

type Named = ReadonlyMap<string, JsonSchema>;

const wrong = (...values: readonly unknown[]): readonly Malformed[] =>
  values.map((value) => ({ value, isWrong: true }));
const odd = (...values: readonly unknown[]): readonly Malformed[] =>
  values.map((value) => ({ value, isWrong: false }));

const ODD_TEXTS = [
  "",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "x\udc00",
  "\u202e",
  "__proto__",
  "constructor",
  "%00",
  "'; --",
  "💩",
];
const OBJECTS = [{}, { a: 1 }, JSON.parse('{"__proto__":{"x":1}}') as unknown];
const ID_LIKE = ["../../etc", "a/b", "a\u0000b", "-rf", "a@b", "\ud800", ""];
const DEEP = 2_000;
/** Longer than a body may be here is refused as such; this much is enough to see it. */
const LONG_MAX = 200_000;

/** What may stand in a body in the place of a value of this schema. */
export function malformedJson(json: JsonSchema, named: Named): readonly Malformed[] {
  const schema = resolved(json, named);
  if (schema["anyOf"] !== undefined) return odd(...ODD_TEXTS, -1, 1e308, true, [], [[]], {}, deep());
  switch (schema["type"]) {
    case "string":
      return [...wrong(1, true, null, [], {}), ...texts(schema)];
    case "integer":
      return [...wrong("1", true, [], {}, 1.5, -1, 1e308, Number.MAX_SAFE_INTEGER + 1), ...range(schema)];
    case "boolean":
      return wrong("true", 0, null, [], {});
    case "array":
      return [...wrong("x", 1, true, {}, null), ...items(schema, named)];
    case "object":
      return objects(schema);
    default:
      return odd(...ODD_TEXTS, -1, 1e308, true, [], ...OBJECTS, deep());
  }
}

/** What may stand in a query in the place of one, each as it is written there. */
export function malformedText(json: JsonSchema, named: Named): readonly Malformed[] {
  const schema = resolved(json, named);
  const bytes = odd("%00", "%ff%fe", "%zz", "%ed%a0%80", "%F0%9F%92%A9", "a%0d%0aSet-Cookie:%20x=1");
  switch (schema["type"]) {
    case "integer":
      return [
        ...wrong("", "x", "-1", "1.5", "1e2", "0x1", "%201", "NaN", "9".repeat(30), "%00"),
        ...range(schema).map(({ value, isWrong }) => ({ value: String(value), isWrong })),
      ];
    case "boolean":
      return wrong("", "maybe", "1", "TRUE", "%00");
    case "array": {
      const inner = malformedText(schema["items"] as JsonSchema, named);
      const max = schema["maxItems"];
      return typeof max === "number" && max < 1_000
        ? [...inner, { value: Array.from({ length: max + 1 }, () => "x"), isWrong: true }]
        : inner;
    }
    default:
      return [
        ...bytes,
        ...texts(schema).map(({ value, isWrong }) => ({ value: encoded(String(value)), isWrong })),
      ];
  }
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function texts(schema: JsonSchema): readonly Malformed[] {
  if (schema["enum"] !== undefined) return wrong(...ODD_TEXTS);
  const { minLength, maxLength } = schema;
  const long = typeof maxLength === "number" && maxLength < LONG_MAX ? ["x".repeat(maxLength + 1)] : [];
  const short = typeof minLength === "number" && minLength > 0 ? [""] : [];
  const pattern = typeof schema["pattern"] === "string" ? new RegExp(schema["pattern"]) : null;
  const unlike = pattern === null ? [] : ID_LIKE.filter((one) => !pattern.test(one));
  return [...wrong(...long, ...short, ...unlike), ...odd(...ODD_TEXTS.filter((one) => one !== ""))];
}

function range(schema: JsonSchema): readonly Malformed[] {
  const { minimum, maximum } = schema;
  return [
    ...(typeof minimum === "number" && minimum > 0 ? wrong(minimum - 1) : []),
    ...(typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER
      ? wrong(maximum + 1)
      : odd(Number.MAX_SAFE_INTEGER)),
  ];
}

function items(schema: JsonSchema, named: Named): readonly Malformed[] {
  const { minItems, maxItems } = schema;
  const inner = malformedJson((schema["items"] ?? {}) as JsonSchema, named);
  return [
    ...inner.map(({ value, isWrong }) => ({ value: [value], isWrong })),
    ...(typeof minItems === "number" && minItems > 0 ? wrong([]) : odd([])),
    ...(typeof maxItems === "number" ? wrong(Array.from({ length: maxItems + 1 }, () => 1)) : []),
  ];
}

function objects(schema: JsonSchema): readonly Malformed[] {
  const required = (schema["required"] ?? []) as readonly string[];
  return [
    ...wrong("x", 1, true, [], null),
    ...(required.length > 0 ? wrong({}) : odd({})),
    ...(required.includes("type") ? ENTRIES : odd({ a: "\u0000\ud800", b: deep() })),
  ];
}

/** Entries that say what they are, and are not. */
const ENTRIES = odd(
  { type: "" },
  { type: "\u0000" },
  { type: "__proto__" },
  { type: "message" },
  { type: "message", message: null },
  { type: "message", message: { role: "user", content: [{ type: "text", text: "a\u0000b \ud800" }] } },
  { type: "message", message: { role: "nobody", content: [] } },
  { type: "custom", customType: "x", data: deep() },
  { type: "custom", customType: "a\u0000\ud800", data: { "\u0000": "\ud800" } },
  { type: "custom", id: "../x" },
  { type: "label", target: "\u0000", label: "\ud800" },
  { type: "hide", target: "nothing" },
  { type: "leaf", target: { a: 1 } },
  { type: "title", title: "x".repeat(5_000) },
);

function deep(): unknown {
  let value: unknown = 1;
  for (let level = 0; level < DEEP; level++) value = [value];
  return value;
}

/** Bodies that are no object of any route, as text or bytes. */
export const RAW_BODIES: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  "",
  "{",
  "[]",
  "1",
  "null",
  '"x"',
  "\u0000",
  "{}{}",
  '{"unknownMember":1}',
  '{"__proto__":1}',
  "[".repeat(6_000),
  '{"a":'.repeat(3_000),
  new Uint8Array([123, 34, 255, 254, 125]),
];

/** Texts for a parameter of a path, as they are written there. */
export const PATH_TEXTS: readonly string[] = [
  "..%2f..",
  "..%5c..",
  "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
  "a%2Fb",
  "a%00b",
  "%zz",
  "%ff%fe",
  "%ed%a0%80",
  "-rf",
  ".hidden",
  "a@b",
  "a%20b",
  "a%0d%0aSet-Cookie:%20x=1",
  "%F0%9F%92%A9",
  "x".repeat(129),
  "x".repeat(5_000),
  "constructor",
  "__proto__",
  "%3Cscript%3E",
];
