import type { TreeNode } from "#edges/http/client/index";

export type TreeFilter = "default" | "no-tools" | "prompts" | "labelled" | "all";

/** A line of the tree: a node, or several that say little, folded. */
export interface TreeLine {
  readonly node: TreeNode;
  /** How far from the trunk; all lanes to the left of it pass by. */
  readonly lane: number;
  /** It parts from the lane to its left here. */
  readonly isStart: boolean;
  /** Its lane goes on below. */
  readonly goesOn: boolean;
  /** The nodes that are folded into this line, itself the first; one where none are. */
  readonly count: number;
}

interface Placed extends Omit<TreeLine, "count"> {
  readonly isFork: boolean;
}

const RUN_MIN = 4;

/** The way a branch is gone on with: the active one, else the newest. */
function mainChild(node: TreeNode, byId: ReadonlyMap<string, TreeNode>): string | undefined {
  return node.children.find((child) => byId.get(child)?.active === true) ?? node.children.at(-1);
}

/** Every node in its line: what parts from a branch stands before that branch goes on. Depth of the tree is no depth of calls. */
function placeNodes(nodes: readonly TreeNode[]): readonly Placed[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const root = nodes.find(({ parentId }) => parentId === null || !byId.has(parentId));
  const placed: Placed[] = [];
  const waiting = root === undefined ? [] : [{ id: root.id, lane: 0, isStart: false }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const node = byId.get(next.id);
    if (node === undefined) continue;
    const main = mainChild(node, byId);
    const others = node.children.filter((child) => child !== main);
    placed.push({
      node,
      lane: next.lane,
      isStart: next.isStart,
      goesOn: main !== undefined,
      isFork: others.length > 0,
    });
    if (main !== undefined) waiting.push({ id: main, lane: next.lane, isStart: false });
    for (const child of others.toReversed()) waiting.push({ id: child, lane: next.lane + 1, isStart: true });
  }
  return placed;
}

function isTelling({ node, isStart, goesOn, isFork }: Placed, filter: TreeFilter): boolean {
  const isMark = isStart || !goesOn || isFork || node.label !== null;
  if (filter === "all") return true;
  if (filter === "labelled") return node.label !== null || !goesOn;
  if (filter === "prompts") return node.kind === "user" || isMark;
  if (filter === "no-tools") return node.kind !== "result";
  return isMark || node.kind === "user" || node.type === "compaction";
}

/** The lines that are shown: runs of what tells little are one line each, unless they are short or opened. */
export function treeLines(
  nodes: readonly TreeNode[],
  filter: TreeFilter,
  opened: ReadonlySet<string>,
): readonly TreeLine[] {
  const lines: TreeLine[] = [];
  let run: Placed[] = [];
  const flush = (): void => {
    const [first, last] = [run[0], run.at(-1)];
    if (first === undefined || last === undefined) return;
    const isFolded = !opened.has(first.node.id) && (run.length >= RUN_MIN || filter !== "default");
    if (isFolded) lines.push({ ...first, goesOn: last.goesOn, count: run.length });
    else for (const one of run) lines.push({ ...one, count: 1 });
    run = [];
  };
  for (const one of placeNodes(nodes)) {
    if (isTelling(one, filter)) {
      flush();
      lines.push({ ...one, count: 1 });
    } else run.push(one);
  }
  flush();
  return lines;
}
