/** The rules of the context and effects pages that need no browser. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { OUTCOME_UNKNOWN } from "#log/projections/pairs";
import {
  type ContextRow,
  contextRows,
  type Exact,
  foldedOf,
  listedRows,
  type Sizes,
} from "../../ui/src/pages/context/context-rows.ts";
import { callInput } from "../../ui/src/pages/effects/call-input.ts";
import { countsOf, effectRows, type ListedEffect } from "../../ui/src/pages/effects/effect-order.ts";
import { jsonLines } from "../../ui/src/text/json-lines.ts";

const sizes = (
  messages: readonly (readonly [string | null, string, number])[],
  compaction: string | null = null,
): Sizes => ({
  conversation: "c",
  leaf: "l",
  model: null,
  window: null,
  compaction,
  messages: messages.map(([entry, role, tokens]) => ({ entry, role, tokens, chars: 0 })),
  tokens: 0,
});
const text = (words: string): readonly object[] => [{ type: "text", text: words }];

test("a context is told item by item, each from where the one before ended", () => {
  const exact = {
    messages: [
      { role: "user", content: text("So far: Ada") },
      { role: "user", content: text("Send\u202E it") },
      {
        role: "assistant",
        content: [{ type: "toolCall", id: "c1", name: "send_email", input: { to: "baker" } }],
      },
      { role: "toolResult", toolCallId: "c1", toolName: "send_email", content: text(OUTCOME_UNKNOWN) },
      { role: "toolResult", toolCallId: "c2", content: text("done") },
    ],
  } as unknown as Exact;
  const rows = contextRows(
    sizes(
      [
        [null, "user", 10],
        ["u1", "user", 3],
        ["a1", "assistant", 5],
        [null, "toolResult", 7],
        ["r2", "toolResult", 1],
      ],
      "s1",
    ),
    exact,
  );
  expect(rows.map(({ kind, name, from }) => [kind, name, from])).toEqual([
    ["summary", "Summary", 0],
    ["prompt", "You", 10],
    ["reply", "Agent", 13],
    ["unknown", "send_email", 18],
    ["result", "Tool", 25],
  ]);
  expect(rows.map(({ says }) => says).slice(1, 3)).toEqual(["Send‹U+202E› it", "calls send_email baker"]);
});

test("a summary stands for what was sent in front of it, but for what was kept", () => {
  const before = sizes([
    ["u1", "user", 3],
    ["a1", "assistant", 5],
    ["r1", "toolResult", 40],
    ["u2", "user", 2],
  ]);
  expect(foldedOf(before, "u2")).toEqual({ messages: 3, tokens: 48, prompts: 3, replies: 5, results: 40 });
  expect(foldedOf(before, undefined).messages).toBe(4);
});

test("effects that nobody knows the outcome of come first, the latest of them at the top", () => {
  const effects = (["done", "unknown", "failed", "unknown", "not_started"] as const).map(
    (state, at) => ({ state, call: `c${at}` }) as ListedEffect,
  );
  expect(effectRows(effects, null).map(({ place }) => place)).toEqual([3, 1, 2, 4, 0]);
  expect(effectRows(effects, "unknown").map(({ place }) => place)).toEqual([3, 1]);
  expect(countsOf(effects)).toEqual({ unknown: 2, failed: 1, not_started: 1, done: 1 });
});

test("a JSON text in lines is the same text: only spaces between its parts are other", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const exact = JSON.stringify(value);
      if (!exact.includes("\\n")) expect(JSON.parse(jsonLines(exact))).toEqual(JSON.parse(exact));
    }),
  );
  const odd = String.raw`{"n":12345678901234567890,"f":1.0,"a":[],"o":{ },"l":[1,[2]],"s":"a\\n, \"b\": {","n":7}`;
  const spaced = jsonLines(odd);
  expect(spaced.split("\n")).toEqual([
    "{",
    '  "n": 12345678901234567890,',
    '  "f": 1.0,',
    '  "a": [],',
    '  "o": {},',
    '  "l": [',
    "    1,",
    "    [",
    "      2",
    "    ]",
    "  ],",
    String.raw`  "s": "a\\n, \"b\": {",`,
    '  "n": 7',
    "}",
  ]);
  expect(jsonLines(String.raw`"one\ntwo"`)).toBe('"one\ntwo"');
  expect(jsonLines('{"mess')).toContain('"mess');
});

test("the arguments of a call are found to the letter in the text of its entry", () => {
  const input = '{"n":12345678901234567890}';
  const entry = `{"id":"a","type":"message","message":{"role":"assistant","content":[{"type":"text","text":"{"},{"type":"toolCall","id":"c1","name":"x","input":{}},{"type":"toolCall","id":"c2","name":"x","input":${input}}]}}`;
  expect(callInput(entry, "c2")).toBe(input);
  for (const other of ['{"message":{"content":"words"}}', "[]", "1", "{}"])
    expect(callInput(other, "c2")).toBeNull();
  expect(callInput(entry, "c3")).toBeNull();
});

test("what was folded away stands behind the summary, item by item where it is opened", () => {
  const row = (place: number, kind: "summary" | "prompt"): ContextRow => ({
    place,
    entry: null,
    kind,
    name: "",
    says: "",
    tokens: 1,
    from: 0,
  });
  const rows = [row(0, "summary"), row(1, "prompt")];
  const shown = (folded: readonly ContextRow[] | null): readonly string[] =>
    listedRows(rows, folded).map(({ is }) => is);
  expect(shown(null)).toEqual(["sent", "sent"]);
  expect(shown([])).toEqual(["sent", "fold", "sent"]);
  expect(shown([row(0, "prompt"), row(1, "prompt")])).toEqual(["sent", "fold", "folded", "folded", "sent"]);
  expect(listedRows(rows.slice(1), [row(0, "prompt")]).map(({ is }) => is)).toEqual(["sent"]);
});
