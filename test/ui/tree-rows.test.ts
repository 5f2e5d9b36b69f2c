import { expect, test } from "vitest";
import type { TreeNode } from "#edges/http/client/views";
import { treeRows, type TreeWanted } from "../../ui/src/pages/tree/tree-rows.ts";
import { sinceBranch } from "../../ui/src/pages/tree/since-branch.ts";
import { rowTyped, TypedAhead } from "../../ui/src/pages/tree/type-ahead.ts";

/** A tree by the parent of each node; the first has none. */
function nodesOf(parents: readonly (readonly [string, string | null])[], active: ReadonlySet<string>) {
  const children = new Map<string, string[]>();
  for (const [id, parent] of parents) {
    const beside = parent === null ? undefined : children.get(parent);
    if (beside !== undefined) beside.push(id);
    else if (parent !== null) children.set(parent, [id]);
  }
  return parents.map(([id, parentId], seq): TreeNode => {
    const treeKind = parentId === null ? "start" : "answer";
    const shown = {
      type: "message",
      kind: "assistant",
      treeKind,
      label: null,
      hidden: false,
      inherited: false,
      preview: id,
      costMicros: 100,
    } as const;
    return { id, seq, parentId, children: children.get(id) ?? [], active: active.has(id), ...shown };
  });
}

const wanted = (more: Partial<TreeWanted> = {}): TreeWanted => ({
  filter: "default",
  open: new Set(),
  seen: [],
  forks: [],
  carries: new Map(),
  classOf: () => "",
  ...more,
});

const drawn = (nodes: readonly TreeNode[], more: Partial<TreeWanted> = {}): readonly string[] =>
  treeRows(nodes, wanted(more)).map((row) =>
    row.kind === "fold" ? `${row.lane} ${row.count} ${row.what}` : `${row.lane} ${row.key}`,
  );

test("branches that were left come first, a lane further in; the active one goes on in its lane", () => {
  const nodes = nodesOf(
    [
      ["r", null],
      ["a", "r"],
      ["b", "r"],
      ["b1", "b"],
      ["c", "r"],
    ],
    new Set(["r", "a"]),
  );
  expect(drawn(nodes)).toEqual(["0 r", "1 b", "1 b1", "1 c", "0 a"]);
  const [, b, , , a] = treeRows(nodes, wanted({ classOf: (id) => (id === "a" ? "trunk" : "") }));
  expect(b?.lanes).toMatchObject({ passing: ["trunk"], up: null, elbow: "" });
  expect(a?.lanes).toMatchObject({ passing: [], up: "trunk", elbow: null, down: null });
});

test("a run that nothing parts from is one row until it is opened, or holds what is to be seen", () => {
  const chain = Array.from({ length: 8 }, (_, at) => [`n${at}`, at === 0 ? null : `n${at - 1}`] as const);
  const nodes = nodesOf(chain, new Set());
  expect(drawn(nodes)).toEqual(["0 n0", "0 6 entries", "0 n7"]);
  expect(drawn(nodes, { open: new Set(["run n1"]) })).toHaveLength(9);
  expect(drawn(nodes, { seen: ["n4"] })).toContain("0 n4");
  const fork = { conversation: "f", entry: "n4", title: "f", isReplay: true, about: "" };
  expect(drawn(nodes, { forks: [fork] })).toEqual([
    "0 n0",
    "0 n1",
    "0 n2",
    "0 n3",
    "0 n4",
    "1 fork f",
    "0 n5",
    "0 n6",
    "0 n7",
  ]);
});

test("ten thousand ways at one entry are a few rows and a fold, with those that are to be seen", () => {
  const ways = Array.from({ length: 10_000 }, (_, at) => [`w${at}`, "r"] as const);
  const nodes = nodesOf([["r", null], ...ways], new Set(["r"]));
  const rows = drawn(nodes, { seen: ["w5"] });
  expect(rows.slice(0, 3)).toEqual(["0 r", "1 9999 branches", "1 w5"]);
  expect(rows).toHaveLength(10);
  expect(drawn(nodes, { open: new Set(["all"]) })).toHaveLength(10_002);
});

test("five thousand branches out of one another are laid out, and as many lanes drawn as there is room for", () => {
  const levels = Array.from({ length: 5_000 }, (_, at) => [
    [`d${at + 1}`, `d${at}`] as const,
    [`e${at + 1}`, `d${at}`] as const,
  ]).flat();
  const rows = treeRows(nodesOf([["d0", null], ...levels], new Set(["d0"])), wanted());
  expect(rows).toHaveLength(10_001);
  expect(Math.max(...rows.map(({ lane }) => lane))).toBe(5_000);
  expect(Math.max(...rows.map(({ lanes }) => lanes.column))).toBe(10);
  expect(Math.max(...rows.map(({ lanes }) => lanes.passing.length))).toBe(10);
});

test("what a way took is counted from where it parted from others", () => {
  const nodes = nodesOf(
    [
      ["root", null],
      ["a", "root"],
      ["b", "a"],
      ["c", "b"],
      ["other", "a"],
    ],
    new Set(["root", "a", "b", "c"]),
  );
  const byId = new Map(nodes.map((node) => [node.id, node]));
  expect(sinceBranch(byId, "c")).toEqual({ entries: 2, costMicros: 200, from: "a" });
  expect(sinceBranch(byId, "other")).toEqual({ entries: 1, costMicros: 100, from: "a" });
  // Several ways part at it, not above it.
  expect(sinceBranch(byId, "a")).toEqual({ entries: 2, costMicros: 200, from: null });
});

test("letters lead to the next row that begins with them, around the end; keys of the page stay keys", () => {
  const nodes = nodesOf(
    [
      ["apple", null],
      ["banana", "apple"],
      ["avocado", "banana"],
    ],
    new Set(["apple", "banana", "avocado"]),
  );
  const rows = treeRows(nodes, wanted());
  expect(rowTyped(rows, 0, "a")).toBe(2);
  expect(rowTyped(rows, 2, "a")).toBe(0);
  expect(rowTyped(rows, 2, "AV")).toBe(2);
  expect(rowTyped(rows, 0, "x")).toBeNull();
  const typed = new TypedAhead();
  const isKey = (key: string): boolean => key === "d";
  expect(typed.add("d", 5_000, isKey)).toBeNull();
  expect(typed.add("a", 5_100, isKey)).toBe("a");
  expect(typed.add("d", 5_200, isKey)).toBe("ad");
  expect(typed.add(" ", 5_300, isKey)).toBe("ad ");
  typed.end();
  expect(typed.add("d", 5_400, isKey)).toBeNull();
  expect(typed.add("b", 5_500, isKey)).toBe("b");
  expect(typed.add("End", 5_600, isKey)).toBeNull();
  expect(typed.add("d", 5_700, isKey)).toBeNull();
  expect(typed.add("d", 9_000, isKey)).toBeNull();
  expect(typed.add(" ", 9_100, isKey)).toBeNull();
  expect(typed.add("Enter", 9_200, isKey)).toBeNull();
});
