/**
 * Goal: names with escapes are read as they are written, whatever was read before.
 * Method: V8's memory of names is spoilt first; then the text of every value is read and written again.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { readJson } from "#log/json/read-json";

/** After it, JSON.parse takes any name behind `first` that begins with the prefix and an escape for `prefix\`. */
const spoil = (first: string, prefix: string): unknown =>
  JSON.parse(JSON.stringify({ [first]: 0, [`${prefix}\\`]: 0 }));

test("a name is read as it is written, though one like it was read before", () => {
  spoil("k", "path");
  for (const [name, text] of [
    ["path\n", '"path\\n"'],
    ['path"', '"path\\""'],
    ["pathA", '"path\\u0041"'],
    ["path\\", '"path\\\\"'],
    ["path\ud83d", '"path\\ud83d"'],
  ] as const)
    expect(Object.keys(readJson(`{"k":0,${text} : 1}`) as object)).toEqual(["k", name]);
});

test("a value written and read is the same, whatever its names", () => {
  const piece = fc.constantFrom(
    "a",
    "~",
    "~0~0",
    "\\",
    '"',
    "\n",
    "\u0000",
    "\ud83d",
    "é",
    ":",
    "__proto__",
    "1",
  );
  const name = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      name,
      fc.integer(),
      fc.constantFrom(null, true),
      fc.array(tie("value"), { maxLength: 3 }),
      fc
        .uniqueArray(fc.tuple(name, tie("value")), { maxLength: 4, selector: ([one]) => one })
        .map(Object.fromEntries),
    ),
  }));
  fc.assert(
    fc.property(value, name, name, fc.nat({ max: 2 }), (given, first, prefix, space) => {
      spoil(first, prefix);
      const text = JSON.stringify({ [first]: given, [prefix]: given, [`${prefix}\n`]: given }, null, space);
      expect(JSON.stringify(readJson(text), null, space)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test("of two members with one name the last counts, however each is spelt", () => {
  expect(readJson('{"a":1,"\\u0061":2,"a":3}')).toEqual({ a: 3 });
  expect(readJson('{"a":1,"b":0,"\\u0061":2}')).toEqual({ a: 2, b: 0 });
  expect(JSON.stringify(readJson('{"\\n":1,"b":0,"\\u000a":2}'))).toBe('{"\\n":2,"b":0}');
});

test("a name whose escapes spell an alias is a name of its own", () => {
  expect(readJson('{"a\\n":1,"\\u007e0~0":2,"\\u007e0":3}')).toEqual({ "a\n": 1, "~0~0": 2, "~0": 3 });
});

test("a member named __proto__ is a member", () => {
  const read = readJson('{"__proto__":{"x":1},"\\"":2}') as object;
  expect(Object.keys(read)).toEqual(["__proto__", '"']);
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
});

test.each(['{"a\\x":1}', '{"a\\', '{"a\\n":}', '{"a\n":1,"b\\n":2}', '"\\":'])(
  "what is no JSON is refused: %j",
  (text) => {
    expect(() => readJson(text)).toThrow(SyntaxError);
  },
);

test("names are read at any depth that a payload may have", () => {
  const deep = `${'{"a\\n":'.repeat(5_000)}1${"}".repeat(5_000)}`;
  let levels = 0;
  for (let at = readJson(deep); typeof at === "object"; levels++)
    at = (at as Record<string, never>)["a\n"] ?? 0;
  expect(levels).toBe(5_000);
});

test("30 MB of escapes behind such a name are read", () => {
  const text = `{"a\\n":"${"\\n".repeat(15_000_000)}"}`;
  expect((readJson(text) as Record<string, string>)["a\n"]).toHaveLength(15_000_000);
});
