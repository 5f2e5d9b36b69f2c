import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineSplitter, LineTooLong } from "#edges/acp/wire/line-splitter";

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** The lines of the stream, those that come with an error included. */
function split(chunks: readonly Uint8Array[], bytesMax: number): { lines: string[]; errors: number } {
  const splitter = new LineSplitter(bytesMax);
  const lines: string[] = [];
  let errors = 0;
  const add = (some: readonly Uint8Array[]): void => void lines.push(...some.map((line) => line.join()));
  for (const chunk of chunks) {
    try {
      add(splitter.push(chunk));
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      errors++;
      add(error.lines);
    }
  }
  const rest = splitter.end();
  if (rest !== null) add([rest]);
  return { lines, errors };
}

describe("lines", () => {
  const line = fc.uint8Array({ maxLength: 40 }).map((bytes) => bytes.filter((byte) => byte !== 10));
  const cuts = fc.array(fc.nat({ max: 1_000 }), { maxLength: 20 });

  test("are the same however the stream is cut, and one too long costs only itself", () => {
    fc.assert(
      fc.property(fc.array(line), cuts, fc.integer({ min: 1, max: 50 }), (lines, at, bytesMax) => {
        const stream = Buffer.concat(lines.flatMap((bytes) => [bytes, utf8("\n")]));
        const ends = [...at.map((cut) => cut % (stream.length + 1)), stream.length].toSorted((a, b) => a - b);
        const chunks = ends.map((end, index) => stream.subarray(ends[index - 1] ?? 0, end));
        const wanted = lines.filter((bytes) => bytes.length > 0 && bytes.length <= bytesMax);
        const found = split(chunks, bytesMax);
        expect(found.lines).toEqual(wanted.map((bytes) => bytes.join()));
        expect(found.errors > 0).toBe(lines.some((bytes) => bytes.length > bytesMax));
      }),
      { numRuns: 500 },
    );
  });

  test("keep a carriage return, lose empty ones, and give the rest at the end", () => {
    const splitter = new LineSplitter(100);
    expect(splitter.push(utf8("a\r\n\n\nb\nc")).map(textOf)).toEqual(["a\r", "b"]);
    expect(textOf(splitter.end() ?? utf8(""))).toBe("c");
    expect(splitter.end()).toBeNull();
  });

  test("of one chunk are views of it; a gathered one is not written over by the next", () => {
    const splitter = new LineSplitter(100);
    const chunk = utf8("one\ntwo");
    expect(splitter.push(chunk)[0]?.buffer).toBe(chunk.buffer);
    const [gathered = utf8("")] = splitter.push(utf8("!\nthr"));
    splitter.push(utf8("ee\n"));
    expect(textOf(gathered)).toBe("two!");
  });

  test("that never end are refused before they fill the memory, once", () => {
    const splitter = new LineSplitter(10);
    splitter.push(utf8("0123456789"));
    expect(() => splitter.push(utf8("x"))).toThrow(LineTooLong);
    expect(splitter.push(utf8("xxxxxxxxxxxxxxxxxxxx"))).toEqual([]);
    expect(splitter.push(utf8("xx\nok\n")).map(textOf)).toEqual(["ok"]);
    expect(splitter.end()).toBeNull();
  });
});
