import { expect, test } from "vitest";
import { foldText, queryWords, wordSpans } from "#log/search";

function marked(text: string, query: string): string {
  let [shown, at] = ["", 0];
  for (const [from, to] of wordSpans(text, queryWords(query))) {
    shown += `${text.slice(at, from)}[${text.slice(from, to)}]`;
    at = to;
  }
  return shown + text.slice(at);
}

test("words are shown where they stand in the text as it was written", () => {
  expect(marked("Un Café, deux CAFES", "cafe")).toBe("Un [Café], deux [CAFE]S");
  expect(marked("un cafe\u0301 noir", "café")).toBe("un [cafe\u0301] noir");
  expect(marked("İstanbul 🙂 straße", "istanbul stra")).toBe("[İstanbul] 🙂 [stra]ße");
  expect(marked("abcabc", "abc bca")).toBe("[abc][abc]");
  expect(marked("nothing here", "x")).toBe("nothing here");
});

test("folding leaves letters of other scripts apart, and does nothing twice", () => {
  expect(foldText("か")).not.toBe(foldText("が"));
  expect(foldText("가")).not.toBe(foldText("각"));
  for (const text of ["Café", "ΆΛΦΑ", "İI", "각がক্ষ", "\ud800é", "ﬁn ½"])
    expect(foldText(foldText(text))).toBe(foldText(text));
});
