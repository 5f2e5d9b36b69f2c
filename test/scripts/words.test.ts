import { expect, test } from "vitest";
import { stringsOf, wordFindings } from "../../scripts/words.ts";

test.each(wordFindings().map(({ area, found }) => [area.name, area.left, found] as const))(
  "%s has at most %i places with wording that readers stumble over",
  (_name, left, found) => {
    expect(found.length, JSON.stringify(found, null, 1)).toBeLessThanOrEqual(left);
  },
);

test("strings are found, and comments, patterns and queries are not", () => {
  const source = [
    'const a = "it is no file"; // nobody reads this',
    "const b = `goes on ${name} anew`; /* begun, somebody */",
    "const c = text.match(/is no way/) ?? 4 / 2;",
    'const d = "select a from b where c = 1";',
    'const e = <p class="x y">It stands behind the other</p>;',
  ].join("\n");
  expect(stringsOf(source, true).map(({ line, text }) => [line, text])).toEqual([
    [1, "it is no file"],
    [2, "goes on … anew"],
    [5, "x y"],
    [5, "It stands behind the other"],
  ]);
});
