import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";

interface TreeNode {
  readonly id: EntryId;
  readonly parentId: EntryId | null;
}

/** Nodes by id, in the order of the log, with their children. */
export interface Tree<N extends TreeNode> {
  readonly nodes: ReadonlyMap<EntryId, N>;
  readonly children: ReadonlyMap<EntryId | null, readonly N[]>;
}

export function treeOf<N extends TreeNode>(nodes: readonly N[]): Tree<N> {
  const children = new Map<EntryId | null, N[]>();
  for (const node of nodes) {
    const siblings = children.get(node.parentId);
    if (siblings === undefined) children.set(node.parentId, [node]);
    else siblings.push(node);
  }
  return { nodes: new Map(nodes.map((node) => [node.id, node])), children };
}

/** The branch from the root to a node. A missing parent is a gap and ends it with an error, never silently. */
export function branchTo<N extends TreeNode>(tree: Tree<N>, id: EntryId): readonly N[] {
  const branch: N[] = [];
  let at: EntryId | null = id;
  while (at !== null) {
    const node: N | undefined = tree.nodes.get(at);
    if (node === undefined || branch.length > tree.nodes.size) {
      throw new LogError("damaged", `The branch to ${id} is broken at ${at}`, { entry: id, at });
    }
    branch.push(node);
    at = node.parentId;
  }
  return branch.toReversed();
}

/** The ends of all branches, oldest first. */
export function leavesOf<N extends TreeNode>(tree: Tree<N>): readonly N[] {
  return [...tree.nodes.values()].filter((node) => !tree.children.has(node.id));
}

/** The other nodes that grew from the same parent. */
export function siblingsOf<N extends TreeNode>(tree: Tree<N>, id: EntryId): readonly N[] {
  const node = tree.nodes.get(id);
  return node === undefined
    ? []
    : (tree.children.get(node.parentId) ?? []).filter((other) => other.id !== id);
}

/** The last node two branches share. */
export function commonAncestor<N extends TreeNode>(tree: Tree<N>, left: EntryId, right: EntryId): N | null {
  const path = branchTo(tree, left);
  const other = new Set(branchTo(tree, right).map((node) => node.id));
  return path.findLast((node) => other.has(node.id)) ?? null;
}
