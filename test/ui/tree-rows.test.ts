import { expect, test } from "vitest";
import type { TreeNode } from "#edges/http/client/index";
import { treeRows, type TreeWanted } from "../../ui/src/pages/tree/tree-rows.ts";

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
