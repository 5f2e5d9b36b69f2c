import fc from "fast-check";
import { expect, test } from "vitest";
import { parseBody } from "#log/body";
import type { EntryBody } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { ENTRY_CHARS_MAX, membersOf } from "#log/json/json-text";

const message = '"message":{"role":"user","content":[{"type":"text","text":"hi"}]}';

test.each([
  ["malformed JSON", '{"type":"message"', "invalid_entry"],
  ["a bare number", "42", "invalid_entry"],
  ["a list", "[]", "invalid_entry"],
  ["no type", "{}", "invalid_entry"],
  ["an unknown type", '{"type":"mesage"}', "invalid_entry"],
  ["a type from the prototype", '{"type":"constructor"}', "invalid_entry"],
  ["a system message", '{"type":"message","message":{"role":"system","content":[]}}', "invalid_entry"],
  [
    "a role from the prototype",
    '{"type":"message","message":{"role":"toString","content":[]}}',
    "invalid_entry",
  ],
  [
    "content that is a string",
    '{"type":"message","message":{"role":"user","content":"hi"}}',
    "invalid_entry",
  ],
  [
    "a block without a type",
    '{"type":"message","message":{"role":"user","content":[{"kind":"video"}]}}',
    "invalid_entry",
  ],
  [
    "a result without its call",
    '{"type":"message","message":{"role":"toolResult","content":[]}}',
    "invalid_entry",
  ],
  ["a member that stands twice", `{"type":"message","type":"reset",${message}}`, "invalid_entry"],
  ["a seq of its own", `{"type":"message","seq":4,${message}}`, "invalid_entry"],
  ["a reserved member", `{"type":"message","payload":4,${message}}`, "invalid_entry"],
  ["a parent on a fact", '{"type":"title","title":"x","parentId":"m1"}', "invalid_entry"],
  ["an id with path characters", `{"type":"message","id":"../../etc",${message}}`, "invalid_id"],
  ["an empty id", `{"type":"message","id":"",${message}}`, "invalid_id"],
  ["a time without a zone", `{"type":"message","time":"2026-01-01",${message}}`, "invalid_entry"],
  [
    "a month that is none",
    `{"type":"message","time":"2026-13-45T10:00:00+02:00",${message}}`,
    "invalid_entry",
  ],
  ["the word that commits a batch", `{"type":"message","commit":{},${message}}`, "invalid_entry"],
  ["a raw NUL in a string", '{"type":"title","title":"a\u0000b"}', "invalid_entry"],
  [
    "negative usage",
    '{"type":"turn_end","turn":"t","outcome":"failed","usage":{"inputTokens":-1}}',
    "invalid_entry",
  ],
  ["an outcome nobody knows", '{"type":"turn_end","turn":"t","outcome":"maybe"}', "invalid_entry"],
  [
    "too many levels",
    `{"type":"custom","customType":"x","data":${"[".repeat(6_000)}${"]".repeat(6_000)}}`,
    "too_large",
  ],
])("refuses %s", (_, text, code) => {
  expect(() => parseBody(text)).toThrow(expect.objectContaining({ code }));
});

test("refuses an entry beyond the limit", () => {
  const text = `{"type":"custom","customType":"x","data":"${"x".repeat(ENTRY_CHARS_MAX)}"}`;
  expect(() => parseBody(text)).toThrow(expect.objectContaining({ code: "too_large" }));
});

test("refuses an object of more fields than a reader should hold, as a value and as text, at any depth", () => {
  const data = (count: number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index]));
  const body = (count: number): EntryBody => ({ type: "custom", customType: "a", data: [data(count)] });
  for (const given of [body(100_001), JSON.stringify(body(100_001))])
    expect(() => parseBody(given)).toThrow(expect.objectContaining({ code: "too_large" }));
  expect(parseBody(body(100_000)).payload).toBe(parseBody(JSON.stringify(body(100_000))).payload);
});

test("refuses a value that JSON cannot hold", () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(() => parseBody({ type: "custom", customType: "x", data: loop as never })).toThrow(LogError);
  expect(() => parseBody({ type: "custom", customType: "x", data: 1n as never })).toThrow(LogError);
});

/** Values as programs have them: plain ones, and those that JSON writes differently than they look. */
const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(undefined, Number.NaN, Number.POSITIVE_INFINITY, -0, Symbol("s"), () => 1),
    fc.constantFrom(new Date(0), new Map([[1, 2]]), Object("boxed"), new Uint8Array(2)),
    fc.constantFrom(JSON.parse('{"__proto__":1}'), JSON.parse('{"a":{"__proto__":{"b":2}}}')),
    tie("value").map((inner) => ({ inner, toJSON: () => 1 })),
    tie("value").map((inner) => Object.assign([inner], { toJSON: () => 1 })),
    fc.string({ unit: "binary" }).map((text) => ({ toJSON: () => text })),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "toJSON", "7")), tie("value"), {
      maxKeys: 4,
    }),
    tie("value").map((inner) => Object.create({ inherited: 1 }, { own: { value: inner, enumerable: true } })),
    tie("value").map((inner) => ({
      get read() {
        return inner;
      },
    })),
    // oxlint-disable-next-line unicorn/no-new-array -- a hole is what is wanted
    tie("value").map((inner) => Object.assign(new Array(2), { 1: inner })),
  ),
})).value;

/** The draft, or the code it is refused with. */
function outcomeOf(body: EntryBody | string): unknown {
  try {
    return parseBody(body);
  } catch (error) {
    return isLogError(error) ? error.code : error;
  }
}

/** Whether JSON writes a value as something else than it is, by a second way: what stringify gives and what was there. */
function isAltered(body: unknown): boolean {
  let altered = false;
  JSON.stringify(body, function see(this: unknown, _name, value: unknown) {
    const isData = ["string", "boolean"].includes(typeof value) || value === null;
    const isLeftOut = value === undefined && !Array.isArray(this);
    const isHolder =
      typeof value === "object" &&
      ["[object Object]", "[object Array]"].includes(Object.prototype.toString.call(value));
    if (!isData && !isLeftOut && !isHolder && !Number.isFinite(value)) altered = true;
    return value;
  });
  return altered;
}

test.each([
  ["NaN", { list: [1, Number.NaN] }, "data.list[1]"],
  ["Infinity", { "a b": Number.POSITIVE_INFINITY }, 'data["a b"]'],
  ["a Map", { deep: { map: new Map([[1, 2]]) } }, "data.deep.map"],
  ["a Set", new Set([1]), "data"],
  ["a function", { run: () => 1 }, "data.run"],
  ["a symbol", [Symbol("s")], "data[0]"],
  ["a BigInt", { big: 1n }, "data.big"],
  ["undefined in a list", [1, undefined], "data[1]"],
  // oxlint-disable-next-line unicorn/no-new-array -- a hole is what is wanted
  ["a hole in a list", Object.assign(new Array(2), { 0: 1 }), "data[1]"],
  ["bytes", { bytes: new Uint8Array(2) }, "data.bytes"],
  ["an error", new Error("x"), "data"],
  ["what a toJSON gives", { toJSON: () => ({ x: Number.NaN }) }, "data.x"],
])("refuses %s, which JSON would alter without a word, and names where it stands", (_what, data, path) => {
  expect(() => parseBody({ type: "custom", customType: "x", data: data as never })).toThrow(
    expect.objectContaining({ code: "invalid_entry", details: expect.objectContaining({ path }) as unknown }),
  );
});

test("takes what means the same in JSON: members that are undefined are left out, a toJSON speaks for its object", () => {
  class Point {
    readonly x: number = 1;
  }
  const data = { gone: undefined, at: new Date(0), point: new Point(), zero: -0 };
  expect(parseBody({ type: "custom", customType: "x", data: data as never }).payload).toBe(
    '{"customType":"x","data":{"at":"1970-01-01T00:00:00.000Z","point":{"x":1},"zero":0}}',
  );
});

test("a value and the text JSON makes of it are the same entry, unless JSON would alter it", () => {
  const bodies = fc.oneof(
    fc.record({ type: fc.constant("custom"), customType: fc.constantFrom("x", "", 7), data: anyValue }),
    fc.record({
      data: anyValue,
      type: fc.constant("state_change"),
      id: fc.constantFrom("e1", "../x"),
      state: anyValue,
    }),
    fc.record({ type: fc.constant("message"), message: anyValue }),
    fc.record({ type: fc.constant("reset"), payload: anyValue, v: anyValue }, { requiredKeys: ["type"] }),
    anyValue,
  );
  fc.assert(
    fc.property(bodies, (body) => {
      const text = JSON.stringify(body);
      fc.pre(text !== undefined);
      expect(outcomeOf(body as EntryBody)).toEqual(isAltered(body) ? "invalid_entry" : outcomeOf(text));
    }),
    { numRuns: 2_000 },
  );
});

test("a value that answers differently each time is read once, and checked as it is stored", () => {
  let reads = 0;
  const body = {
    type: "custom",
    customType: "x",
    data: {
      get sly() {
        return ++reads;
      },
    },
  } as const;
  expect(parseBody(body)).toMatchObject({
    payload: '{"customType":"x","data":{"sly":1}}',
    body: { data: { sly: 1 } },
  });
});

test("a value that refuses to be read is refused, whoever refuses", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const thrower = {
    get sly(): never {
      throw new Error("no");
    },
  };
  for (const data of [proxy, thrower])
    expect(outcomeOf({ type: "custom", customType: "x", data })).toBe("invalid_entry");
});

test("a value that holds itself is refused before it has been read over and over", () => {
  let reads = 0;
  const data: { [name: string]: unknown } = {
    get large() {
      return ++reads;
    },
  };
  data["self"] = [data];
  expect(outcomeOf({ type: "custom", customType: "x", data: data as never })).toBe("invalid_entry");
  expect(reads).toBeLessThan(4);
});

test("a value is stored as JSON writes it, whatever it seems to be", () => {
  const digits = (JSON as unknown as { rawJSON(text: string): never }).rawJSON("1.50");
  class Backwards extends Array<number> {
    override *[Symbol.iterator](): ArrayIterator<number> {
      for (let at = this.length - 1; at >= 0; at--) yield this[at] ?? 0;
    }
  }
  const data = { digits, list: Backwards.of(1, 2) };
  expect(parseBody({ type: "custom", customType: "x", data }).payload).toBe(
    '{"customType":"x","data":{"digits":1.50,"list":[1,2]}}',
  );
});

test("keeps the text of a payload, but for line breaks between tokens and raw lone surrogates", () => {
  const draft = parseBody('{ "type":"custom",\r\n "customType" : "x", "data":{"n":1.50,\n"s":"\ud800"} }');
  expect(draft.payload).toBe('{"customType":"x","data":{"n":1.50, "s":"\\ud800"}}');
});

test("splits an object into its members without touching a value", () => {
  const members = membersOf('{"a":"}\\"{,","b":[{"c":1},2] , "\\u0064":-0.0e+1 }');
  expect(members).toEqual([
    { name: "a", text: '"}\\"{,"' },
    { name: "b", text: '[{"c":1},2]' },
    { name: "d", text: "-0.0e+1" },
  ]);
  expect(membersOf("{}")).toEqual([]);
  expect(membersOf(" { } ")).toEqual([]);
});
