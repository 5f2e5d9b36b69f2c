/**
 * Goal: the bridge finds what JSON.parse would find, and changes no byte but those it means to.
 * Method: fast-check makes up messages and a strange hand to write them; the writer knows where each value stands, and
 * JSON.parse has the last word on what they say.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Message,
  readMessage,
  type Span,
  spanAt,
  spansAt,
  stringAt,
  textAt,
  valueAt,
} from "#edges/acp/wire/spans";
import { type Edit, replaceInStrings, splice } from "#edges/acp/wire/splice";
import {
  mapNames,
  message,
  type ObjectTree,
  pathsOf,
  style,
  treesAt,
  write,
  writtenMessage,
} from "./written-json.ts";

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const wholeOf = (bytes: Uint8Array): Span => ({ start: 0, end: bytes.length });
const read = (text: string): Message => {
  const found = readMessage(utf8(text));
  if (found === null) throw new Error(`No message: ${text}`);
  return found;
};
const MARK = "\udead"; // begins no string of the writer's
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
/**
 * What the text says, with numbers as they are spelt: each is a string with a mark before it. A reviver's `source` would
 * say the same, but V8 leaves it out beside some names that are written twice.
 */
const meaning = (text: string): unknown =>
  JSON.parse(text.replace(TOKEN, (token) => (token.startsWith('"') ? token : `"${MARK}${token}"`)));
const stringOf = (value: unknown): string | null =>
  typeof value === "string" && !value.startsWith(MARK) ? value : null;
/**
 * The same text in one spelling, without JSON.parse for the names: V8 13.6 takes a name for another one it expects there
 * when they differ in what stands behind a backslash (`{"a":1,"b\\\\":2}`, then `{"a":1,"b\\n":2}`).
 */
const inOneSpelling = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : "",
  );
const said = (text: string): string => JSON.stringify(meaning(text));

describe("spans", () => {
  test("are where the writer put the values, and say what JSON.parse says", () => {
    fc.assert(
      fc.property(writtenMessage, ({ tree, text, bytes, spans }) => {
        const found = readMessage(bytes);
        const parsed = meaning(text) as Record<string, unknown>;
        expect(found?.whole).toEqual(spans.get(tree));
        for (const name of ["id", "params", "result", "error"] as const) {
          const last = treesAt(tree, [name]).at(-1);
          const span = found?.[name] ?? null;
          expect(span).toEqual(last === undefined ? null : spans.get(last));
          if (span !== null) expect(said(textAt(bytes, span))).toBe(JSON.stringify(parsed[name]));
        }
        expect(found?.method).toBe(stringOf(parsed["method"]));
      }),
      { numRuns: 500 },
    );
  });

  test("at a path are all the duplicates in order; the one is the one JSON.parse sees", () => {
    const oneAt = (value: unknown, step: string): unknown => {
      if (Array.isArray(value)) return step === "*" ? (value as unknown[]).at(-1) : undefined;
      const isObject = typeof value === "object" && value !== null;
      return isObject && Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined;
    };
    fc.assert(
      fc.property(writtenMessage, ({ tree, text, bytes, spans }) => {
        const whole = read(text).whole;
        for (const path of pathsOf(tree).flatMap((some) => [some, [...some, "sessionId"], [...some, "*"]])) {
          expect(spansAt(bytes, whole, path)).toEqual(treesAt(tree, path).map((found) => spans.get(found)));
          const value = path.reduce(oneAt, meaning(text));
          const span = spanAt(bytes, whole, path);
          expect(span === null ? undefined : said(textAt(bytes, span))).toBe(JSON.stringify(value));
          expect(stringAt(bytes, span)).toBe(stringOf(value));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("of a name written with escapes are found", () => {
    const { bytes, whole, params } = read('{"\\u0070arams" : {"session\\u0049d":"\\u00e9\\ud83d\\ude00"}}');
    expect(params).not.toBeNull();
    expect(stringAt(bytes, spanAt(bytes, whole, ["params", "sessionId"]))).toBe("é😀");
  });

  test.each([
    '{"a":1',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{,}",
    '{"a":1 2}',
    '{"a":1}{',
    '{"a',
    "[]",
    '"a"',
    "",
    " ",
    "x",
  ])("of %j are none: it is no object", (line) => {
    expect(readMessage(utf8(line))).toBeNull();
  });

  test("of a string that JSON.parse refuses are no string", () => {
    const { bytes, id } = read('{"id":"a\\x"}');
    expect(stringAt(bytes, id)).toBeNull();
    expect(stringAt(utf8('"a\tb"'), { start: 0, end: 5 })).toBeNull();
  });

  test("200,000 levels down are reached without a stack", () => {
    const levels = 200_000;
    const { bytes, whole } = read(`{"params":${'[{"a":'.repeat(levels)}1${"}]".repeat(levels)},"id":7}`);
    expect(spanAt(bytes, whole, ["params", "*", "a", "*"])).not.toBeNull();
    expect(readMessage(utf8(`{"params":${"[".repeat(levels)}`))).toBeNull();
  });

  test.each(["a", '\\"', "\\\\", '\\\\\\"', "\\u0041"])("behind 6 MB of %j are found in one pass", (unit) => {
    const { bytes, id } = read(`{"params":{"x":"${unit.repeat(6_000_000 / unit.length)}"},"id":7}`);
    expect(id && textAt(bytes, id)).toBe("7");
  });
});

describe("values", () => {
  const value = (text: string): unknown => valueAt(utf8(text), wholeOf(utf8(text)));

  test("are those of JSON.parse", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(value(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("give whole numbers back unchanged, whatever their size", () => {
    const whole = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
    fc.assert(
      fc.property(whole, fc.constantFrom("", " ", "-"), (number, before) => {
        const text = `{"n":[${before === "-" ? "1," : before}${number}]}`;
        expect(JSON.stringify(value(text))).toBe(text.replaceAll(" ", ""));
      }),
    );
  });

  test.each([
    "12345678901234567890",
    "-9007199254740993",
    "0.12345678901234567890",
    "1E400",
    "-5e-400",
    "1.5e999",
  ])("keep %s, which a double would change", (text) => {
    expect(JSON.stringify(value(`{"n":${text}}`))).toBe(`{"n":${text}}`);
  });

  test.each([
    "1.0",
    "1e3",
    "0.1",
    "-0.0e5",
    "100000000000000000000",
    "1.7976931348623157e308",
    "5e-324",
    "0.00000000000000012",
  ])("give %s as a plain number", (text) => {
    expect(value(text)).toBe(Number(text));
  });
});

describe("splices", () => {
  test("change the session id and not one byte beside it", () => {
    fc.assert(
      fc.property(writtenMessage, ({ text, bytes }) => {
        const { params } = read(text);
        fc.pre(params !== null);
        const spans = params === null ? [] : spansAt(bytes, params, ["sessionId"]);
        const changed = splice(
          bytes,
          spans.map((span) => ({ span, text: '"né\\n"' })).toReversed(), // any order will do
        );
        expect(changed === bytes).toBe(spans.length === 0);
        if (spans.length === 0) return;
        const parsed = meaning(text) as { params: Record<string, unknown> };
        parsed.params["sessionId"] = "né\n";
        expect(said(textOf(changed))).toBe(JSON.stringify(parsed));
        const kept = [...spans.map((span) => span.start), bytes.length].map((end, index) =>
          bytes.subarray(spans[index - 1]?.end ?? 0, end),
        );
        expect(textOf(changed)).toBe(kept.map(textOf).join('"né\\n"'));
      }),
      { numRuns: 500 },
    );
  });

  test("insert, replace and delete in one go", () => {
    const edits: Edit[] = [
      { span: { start: 3, end: 5 }, text: "" },
      { span: { start: 0, end: 2 }, text: "AB" },
      { span: { start: 0, end: 0 }, text: "é" },
      { span: { start: 6, end: 6 }, text: "1" },
      { span: { start: 6, end: 6 }, text: "2" },
    ];
    expect(textOf(splice(utf8("abcdef"), edits))).toBe("éABcf12");
  });

  test("that overlap or leave the line are refused", () => {
    const edit = (start: number, end: number): Edit => ({ span: { start, end }, text: "" });
    expect(() => splice(utf8("abcdef"), [edit(0, 3), edit(2, 4)])).toThrow(RangeError);
    expect(() => splice(utf8("abcdef"), [edit(4, 7)])).toThrow(RangeError);
  });
});

describe("replacing in strings", () => {
  const piece = fc.constantFrom("a", "b", "aa", "é", "😀", "\\", '"', "u0061", "\n", "\ud83d", "/");
  const pieces = fc.array(piece, { maxLength: 12 }).map((some) => some.join(""));
  const needle = fc.oneof(piece, pieces).filter((text) => text !== "" && text.isWellFormed());
  const filled = fc.tuple(message, fc.array(pieces, { minLength: 1 })).map(([tree, fill]): ObjectTree => {
    let next = 0;
    return mapNames(tree, (text) => text + (fill[next++ % fill.length] ?? ""));
  });

  test("changes what decodes to the text, and nothing else", () => {
    fc.assert(
      fc.property(filled, style, needle, pieces, (tree, how, from, to) => {
        const { bytes } = write(tree, how);
        const edits = replaceInStrings(bytes, wholeOf(bytes), from, to);
        for (const { span } of edits) expect(JSON.parse(`"${textAt(bytes, span)}"`)).toBe(from);
        const wanted = mapNames(tree, (text) => text.replaceAll(from, () => to));
        expect(inOneSpelling(textOf(splice(bytes, edits)))).toBe(inOneSpelling(write(wanted, [0]).text));
      }),
      { numRuns: 1_000 },
    );
  });

  test("keeps the escapes beside a match and leaves text outside of the span alone", () => {
    const { bytes, params } = read('{"id":"s1","params":{"m":"\\u0041\\t\\u00731 s\\u0031\\/","s1":[11]}}');
    const changed = params === null ? bytes : splice(bytes, replaceInStrings(bytes, params, "s1", 'c"2'));
    expect(textOf(changed)).toBe('{"id":"s1","params":{"m":"\\u0041\\tc\\"2 c\\"2\\/","c\\"2":[11]}}');
  });

  test("finds nothing to do for an empty text or half a character", () => {
    const bytes = utf8('["a","\\ud83d"]');
    expect(replaceInStrings(bytes, wholeOf(bytes), "", "x")).toEqual([]);
    expect(replaceInStrings(bytes, wholeOf(bytes), "\ud83d", "x")).toEqual([]);
  });
});
