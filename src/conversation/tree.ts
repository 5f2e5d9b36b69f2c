import { type Entry, isNode } from "../log/entry.ts";
import type { ConversationId, EntryId } from "../log/ids.ts";
import { labelsOf } from "../log/projections/labels.ts";
import { branchTo, treeOf } from "../log/projections/tree.ts";
import type { SpaceStore } from "../store/store.ts";
import { readBranch, readEntries, readInherited } from "./reading.ts";

export interface ConversationNode {
  readonly entry: Entry;
  readonly children: readonly EntryId[];
  /** On the branch that ends at the leaf. */
  readonly active: boolean;
  readonly hidden: boolean;
  readonly label: string | null;
  /** Shared with the source of a fork. */
  readonly inherited: boolean;
}

export interface ConversationTree {
  readonly leaf: EntryId;
  readonly nodes: readonly ConversationNode[];
}

/** Every node a conversation can reach, its own and inherited, in the order they were written. */
export async function readTree(space: SpaceStore, conversation: ConversationId): Promise<ConversationTree> {
  const { leaf, origin } = await space.head(conversation);
  const above = origin === null ? [] : await readBranch(space, conversation, origin);
  const own = await readEntries(space, conversation);
  const hidden = new Set(above.filter((entry) => entry.hidden).map((entry) => entry.id));
  for (const entry of own) {
    if (entry.type !== "hide") continue;
    if (entry.hidden === false) hidden.delete(entry.target);
    else hidden.add(entry.target);
  }
  const inherited = new Set<EntryId>(above.map((entry) => entry.id));
  const aboveLabels = origin === null ? [] : await readInherited(space, conversation, ["label"]);
  const labels = labelsOf([
    ...aboveLabels.filter((entry) => entry.type === "label" && inherited.has(entry.target)),
    ...own,
  ]);
  const tree = treeOf<Entry>([...above, ...own.filter((entry) => isNode(entry))]);
  const active = new Set(branchTo(tree, leaf.id).map((entry) => entry.id));
  const nodes = [...tree.nodes.values()].map((entry) => ({
    entry,
    children: (tree.children.get(entry.id) ?? []).map((child) => child.id),
    active: active.has(entry.id),
    hidden: hidden.has(entry.id),
    label: labels.get(entry.id) ?? null,
    inherited: inherited.has(entry.id),
  }));
  return { leaf: leaf.id, nodes };
}
