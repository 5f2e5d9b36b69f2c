/** The rule that puts two branches side by side, with sequences that chance makes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignItems, type DiffRow } from "#log/diff/align-items";
import { type DiffItem, diffItems } from "#log/diff/diff-item";
import type { Entry } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { matchKeys } from "#log/diff/match-keys";
import { valueChanges } from "#log/diff/value-changes";
import { wordChanges } from "#log/diff/word-changes";

const place = { entry: "e", turn: 1 };

function said(kind: "prompt" | "text", text: string): DiffItem {
  return { kind, ...place, text, key: text };
}

function called(name: string, input: string, result: string = ""): DiffItem {
  const key = `${name}\n${input}`;
  return {
    kind: "call",
    ...place,
    call: "c",
    name,
    input,
    key,
    result: { text: result, isError: false, key: result },
  };
}

const item: fc.Arbitrary<DiffItem> = fc.oneof(
  fc.constantFrom("p", "q").map((text) => said("prompt", text)),
  fc.constantFrom("x", "y", "z").map((text) => said("text", text)),
  fc
    .tuple(fc.constantFrom("read", "grep"), fc.constantFrom("1", "2"), fc.constantFrom("", "r"))
    .map(([name, input, result]) => called(name, input, result)),
);
const items = fc.array(item, { maxLength: 24 });
const bare = (one: DiffItem | null): string => (one === null ? "" : `${one.kind} ${one.key}`);

/** A's sequence with the changes made to it. */
function applied(a: readonly DiffItem[], rows: readonly DiffRow[]): readonly string[] {
  const rest = a.map(bare);
  return rows.flatMap(({ op, b }) => {
    const mine = op === "added" ? "" : (rest.shift() ?? "nothing left");
    return op === "same" ? [mine] : b === null ? [] : [bare(b)];
  });
}

describe("two sequences", () => {
  test("that are the same have no change", () => {
    fc.assert(
      fc.property(items, (a) => {
        expect(alignItems(a, a).every(({ op, resultDiffers }) => op === "same" && !resultDiffers)).toBe(true);
      }),
    );
  });

  test("are both in the rows whole and in order, and the changes make B of A", () => {
    fc.assert(
      fc.property(items, items, (a, b) => {
        const rows = alignItems(a, b);
        expect(rows.flatMap((row) => (row.a === null ? [] : [row.a]))).toEqual(a);
        expect(rows.flatMap((row) => (row.b === null ? [] : [row.b]))).toEqual(b);
        expect(applied(a, rows)).toEqual(b.map(bare));
        for (const { op, a: one, b: other } of rows)
          if (op === "changed") expect(one?.kind).toBe(other?.kind);
      }),
    );
  });

  test("have the same changes whichever is named first, only turned round", () => {
    fc.assert(
      fc.property(items, items, (a, b) => {
        const pairs = (rows: readonly DiffRow[]): readonly (readonly unknown[])[] =>
          rows.filter(({ op }) => op === "same" || op === "changed").map((row) => [row.a, row.b]);
        const turned = pairs(alignItems(b, a)).map(([one, other]) => [other, one]);
        expect(turned).toEqual(pairs(alignItems(a, b)));
      }),
    );
  });
});

describe("rows", () => {
  const ops = (a: readonly DiffItem[], b: readonly DiffItem[]): readonly string[] =>
    alignItems(a, b).map((row) => `${row.op}${row.isMoved ? " moved" : ""} ${bare(row.a ?? row.b)}`);

  test("hold turns together by their prompts, whatever was called in them", () => {
    const a = [said("prompt", "one"), called("read", "1"), said("prompt", "two")];
    const b = [said("prompt", "one"), said("prompt", "two"), called("read", "1")];
    expect(ops(a, b)).toEqual([
      "same prompt one",
      "removed moved call read\n1",
      "same prompt two",
      "added moved call read\n1",
    ]);
  });

  test("pair a call with the one of the same tool, and an answer with the one in its place", () => {
    const a = [said("text", "hm"), called("read", "1"), called("grep", "1"), said("text", "done")];
    const b = [said("text", "so"), called("grep", "2"), said("text", "ready")];
    expect(ops(a, b)).toEqual([
      "changed text hm",
      "removed call read\n1",
      "changed call grep\n1",
      "changed text done",
    ]);
  });

  test("pair what differs with what stands in the turn that answers it", () => {
    const later = (one: DiffItem): DiffItem => ({ ...one, turn: 2 });
    const a = [said("text", "hm"), later(said("prompt", "two")), later(said("text", "done"))];
    expect(ops(a, [said("text", "so")])).toEqual([
      "changed text hm",
      "removed prompt two",
      "removed text done",
    ]);
  });

  test("hold calls whose arguments are nested too deeply to be written, each as a whole", () => {
    const nested = (end: string): Json => Array.from({ length: 6_000 }).reduce<Json>((inner) => [inner], end);
    const nests = ["a", "b"].map((end) => {
      const content = [{ type: "toolCall", id: "1", name: "nest", input: nested(end) }];
      const message = { role: "assistant", content };
      return diffItems([{ id: end, type: "message", payload: end, message } as unknown as Entry], [1]);
    });
    const [one = [], other = []] = nests;
    expect([ops(one, one).length, alignItems(one, other)[0]?.op]).toEqual([1, "changed"]);
    expect(JSON.stringify(one)).not.toBe("");
  });

  test("say of a call that is the same what it gave", () => {
    const [row] = alignItems([called("read", "1", "old")], [called("read", "1", "new")]);
    expect(row).toMatchObject({ op: "same", resultDiffers: true });
  });
});

describe("keys", () => {
  test("are paired as often as they can be, where the two are not far apart", () => {
    const keys = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 40 });
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const pairs = matchKeys(a, b);
        expect(pairs).toHaveLength(longestCommon(a, b));
        for (const [at, [x, y]] of pairs.entries()) {
          expect(a[x]).toBe(b[y]);
          const before = pairs[at - 1];
          if (before !== undefined) expect(x > before[0] && y > before[1]).toBe(true);
        }
      }),
    );
  });

  // Compared each with each these would take minutes and all memory; so the limit of the test is far away.
  test("of two long sequences of few words are paired by their length, not by its square", () => {
    const size = 50_000;
    let seed = 7;
    const word = (): number => (seed = (seed * 48_271) % 2_147_483_647) % 3;
    const [a, b] = [Array.from({ length: size }, word), Array.from({ length: size }, word)];
    const pairs = matchKeys(a, b);
    expect(pairs.length).toBeGreaterThan(size / 2);
    expect(pairs.every(([x, y]) => a[x] === b[y])).toBe(true);
  });

  test("of sequences that are far apart are still a way through both", () => {
    const a = Array.from({ length: 3_000 }, (_, at) => at % 7);
    const b = Array.from({ length: 3_000 }, (_, at) => ((at * 5) % 11) % 7);
    const pairs = matchKeys(a, b);
    expect(pairs.every(([x, y], at) => a[x] === b[y] && (at === 0 || x > (pairs[at - 1]?.[0] ?? 0)))).toBe(
      true,
    );
    expect(pairs.length).toBeGreaterThan(1_000);
  });
});

/** By the book, in the square of their length. */
function longestCommon(a: readonly number[], b: readonly number[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const one of a) {
    const next = [0];
    for (const [at, other] of b.entries())
      next.push(one === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}

describe("what changed of arguments", () => {
  test("is told by member; their order is no change", () => {
    expect(valueChanges({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toEqual([]);
    expect(
      valueChanges(
        { path: "a.ts", edits: [{ old: "x", new: "y" }], gone: null },
        { path: "b.ts", edits: [{ old: "x", new: "z" }, {}] },
      ),
    ).toEqual([
      { path: ["path"], a: "a.ts", b: "b.ts" },
      { path: ["edits", 0, "new"], a: "y", b: "z" },
      { path: ["edits", 1], b: {} },
      { path: ["gone"], a: null },
    ]);
    expect(valueChanges([1], { 0: 1 })).toEqual([{ path: [], a: [1], b: { 0: 1 } }]);
    const hostile = JSON.parse('{"__proto__":1,"constructor":2}') as { readonly [name: string]: number };
    expect(valueChanges(hostile, {})).toEqual([
      { path: ["__proto__"], a: 1 },
      { path: ["constructor"], a: 2 },
    ]);
  });

  test("is told by word, and gives both texts again", () => {
    const text = fc.array(fc.constantFrom("one", "two", "🎉", " ", "\n", "-", "three"), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const changes = wordChanges(one.join(""), other.join(""));
        const without = (op: string): string =>
          changes
            .filter((change) => change.op !== op)
            .map((change) => change.text)
            .join("");
        expect([without("added"), without("removed")]).toEqual([one.join(""), other.join("")]);
      }),
    );
    expect(wordChanges("read the cache file", "read the log file")).toEqual([
      { op: "same", text: "read the " },
      { op: "removed", text: "cache" },
      { op: "added", text: "log" },
      { op: "same", text: " file" },
    ]);
  });
});
