/** What an agent or a host may write on the wire, which is anything. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMessage, type Span, spanAt, spansAt, stringAt } from "#edges/acp/wire/spans";
import { replaceInStrings, splice } from "#edges/acp/wire/splice";
import { writtenMessage } from "./written-json.ts";

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const wholeOf = (bytes: Uint8Array): Span => ({ start: 0, end: bytes.length });

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

describe("any bytes at all", () => {
  const soup = fc
    .array(
      fc.constantFrom(
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        ",",
        ":",
        " ",
        "1",
        "null",
        '"id"',
        '"params"',
        '{"sessionId":',
        "\\u00",
      ),
    )
    .map((some) => utf8(`{"params":${some.join("")}`));
  const damaged = fc
    .tuple(writtenMessage, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 3 }))
    .map(([{ bytes }, hits]) => {
      const copy = Uint8Array.from(bytes);
      for (const [at, byte] of hits) copy[at % copy.length] = byte;
      return copy;
    });

  test("are read without a throw, and what JSON.parse takes for an object is a message", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), soup, damaged), (bytes) => {
        const found = readMessage(bytes);
        const spans = found === null ? [] : spansAt(bytes, found.whole, ["params", "sessionId"]);
        for (const span of [...spans, wholeOf(bytes)]) {
          stringAt(bytes, span);
          spanAt(bytes, span, ["*", "a"]);
          splice(bytes, replaceInStrings(bytes, span, "a", "b"));
        }
        if (isObjectText(textOf(bytes))) expect(found).not.toBeNull();
      }),
      { numRuns: 3_000 },
    );
  });
});
