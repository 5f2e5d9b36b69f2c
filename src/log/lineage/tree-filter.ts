import type { Entry } from "#log/entry";

/** Which nodes of a tree are shown. */
export const TREE_FILTERS = ["all", "default", "no-tools", "user", "labeled"] as const;
export type TreeFilter = (typeof TREE_FILTERS)[number];

/** What a node is to someone who looks at a tree: `tools` are results, and answers that only call. */
export type TreeKind = "start" | "prompt" | "answer" | "tools" | "setting" | "other";

const SETTINGS: ReadonlySet<string> = new Set([
  "model_change",
  "config_change",
  "skill_change",
  "state_change",
  "custom",
]);

export function treeKind(entry: Entry): TreeKind {
  if (entry.parentId === null) return "start";
  if (SETTINGS.has(entry.type)) return "setting";
  if (entry.type !== "message") return "other";
  const { role, content } = entry.message;
  if (role === "user") return "prompt";
  return role === "assistant" && content.some(({ type }) => type === "text") ? "answer" : "tools";
}

interface FilteredPlace {
  readonly id: string;
  readonly parentId: string | null;
  readonly treeKind: TreeKind;
  readonly label: string | null;
}

function isShown({ treeKind: kind, label }: FilteredPlace, filter: TreeFilter): boolean {
  if (filter === "all" || kind === "start") return true;
  if (filter === "labeled") return label !== null;
  if (filter === "user") return kind === "prompt";
  return kind !== "setting" && (filter === "default" || kind !== "tools");
}

/** A node that is shown, the shown one it stands under, and those that stand under it. */
export interface NestedNode<N> {
  readonly node: N;
  readonly parent: string | null;
  readonly children: readonly string[];
}

const NO_CHILDREN: readonly string[] = [];

/** The nodes that are shown, each under the nearest one above it that is. They come in the order they were written: parents first. */
export function nestNodes<N extends FilteredPlace>(
  nodes: readonly N[],
  filter: TreeFilter,
): readonly NestedNode<N>[] {
  const nearest = new Map<string, string | null>(); // by any node, the shown one at or above it
  const children = new Map<string, string[]>();
  const visible: { readonly node: N; readonly parent: string | null }[] = [];
  for (const node of nodes) {
    const { id, parentId } = node;
    const parent = parentId === null ? null : (nearest.get(parentId) ?? null);
    if (!isShown(node, filter)) {
      nearest.set(id, parent);
      continue;
    }
    nearest.set(id, id);
    visible.push({ node, parent });
    if (parent === null) continue;
    const beside = children.get(parent);
    if (beside === undefined) children.set(parent, [id]);
    else beside.push(id);
  }
  return visible.map(({ node, parent }) => ({
    node,
    parent,
    children: children.get(node.id) ?? NO_CHILDREN,
  }));
}
