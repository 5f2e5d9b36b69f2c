import type { ConversationNode } from "#conversation/read-tree";
import type { EntryId } from "#log/ids";
import { nestNodes, type TreeFilter, treeKind } from "#log/lineage/tree-filter";

/** A shown node, and the shown one it stands under. */
export interface FilteredNode extends ConversationNode {
  readonly shownParent: EntryId | null;
}

/** The nodes that are shown, each under the nearest one above it that is; a root always has a place. */
export function filterTree(nodes: readonly ConversationNode[], filter: TreeFilter): readonly FilteredNode[] {
  const places = nodes.map((of) => {
    const { entry, label } = of;
    return { id: entry.id, parentId: entry.parentId, treeKind: treeKind(entry), label, of };
  });
  return nestNodes(places, filter).map(({ node, parent, children }) => {
    const { entry, active, hidden, label, inherited } = node.of;
    return { entry, active, hidden, label, inherited, children, shownParent: parent };
  });
}
