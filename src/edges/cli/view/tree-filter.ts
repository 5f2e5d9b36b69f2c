import type { ConversationNode } from "#conversation/read-tree";
import type { EntryId } from "#log/ids";

/** Which nodes of a tree are shown. */
export const TREE_FILTERS = ["all", "default", "no-tools", "user", "labeled"] as const;
export type TreeFilter = (typeof TREE_FILTERS)[number];

const BOOKKEEPING: ReadonlySet<string> = new Set([
  "model_change",
  "config_change",
  "skill_change",
  "state_change",
  "custom",
]);

function isShown({ entry, label }: ConversationNode, filter: TreeFilter): boolean {
  if (filter === "all" || entry.parentId === null) return true;
  if (filter === "labeled") return label !== null;
  if (filter === "user") return entry.type === "message" && entry.message.role === "user";
  if (BOOKKEEPING.has(entry.type)) return false;
  if (filter === "default" || entry.type !== "message") return true;
  const { role, content } = entry.message;
  return role === "user" || (role === "assistant" && content.some(({ type }) => type === "text"));
}

/** A shown node, and the shown one it stands under. */
export interface FilteredNode extends ConversationNode {
  readonly shownParent: EntryId | null;
}

/** The nodes that are shown, each under the nearest one above it that is; a root and the leaf's branch point always have a place. */
export function filterTree(nodes: readonly ConversationNode[], filter: TreeFilter): readonly FilteredNode[] {
  const shown = new Map<EntryId, EntryId | null>(); // by any node, the nearest shown one at or above it
  const kept: { readonly node: ConversationNode; readonly parent: EntryId | null }[] = [];
  const children = new Map<EntryId, EntryId[]>();
  // Parents were written before their children.
  for (const node of nodes) {
    const { id, parentId } = node.entry;
    const parent = parentId === null ? null : (shown.get(parentId) ?? null);
    if (!isShown(node, filter)) {
      shown.set(id, parent);
      continue;
    }
    shown.set(id, id);
    kept.push({ node, parent });
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), id]);
  }
  return kept.map(({ node: { entry, active, hidden, label, inherited }, parent }) => ({
    entry,
    active,
    hidden,
    label,
    inherited,
    children: children.get(entry.id) ?? [],
    shownParent: parent,
  }));
}
