import { presentEntry } from "#log/codec";
import { type Entry } from "#log/entry";
import { isNode } from "#log/entry-types";
import { LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import { labelsOf } from "#log/projections/labels";
import type { SpaceStore } from "#store/facets";
import { readBranch } from "./reading.ts";
import { eachEntry, nextTurn, readInherited } from "./read-log.ts";

const NODES_AT_ONCE = 1_024; // added or marked between two turns of the event loop

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

type OpenNode = { -readonly [K in keyof ConversationNode]: ConversationNode[K] };

const NO_CHILDREN: readonly EntryId[] = []; // shared: most nodes have one child, and a list that grew costs the room of many

/** Every node a conversation can reach, its own and inherited, in the order they were written. */
export async function readTree(space: SpaceStore, conversation: ConversationId): Promise<ConversationTree> {
  const { leaf, origin } = await space.head(conversation);
  const nodes = new Map<EntryId, OpenNode>();
  const add = (entry: Entry, inherited: boolean, hidden: boolean): void => {
    nodes.set(entry.id, { entry, children: NO_CHILDREN, active: false, hidden, label: null, inherited });
    const parent = entry.parentId === null ? undefined : nodes.get(entry.parentId);
    if (parent?.children === NO_CHILDREN) parent.children = [entry.id];
    else (parent?.children as EntryId[] | undefined)?.push(entry.id);
  };
  if (origin !== null) {
    for (const entry of await readBranch(space, conversation, origin)) {
      add(entry, true, entry.hidden);
      if (nodes.size % NODES_AT_ONCE === 0) await nextTurn();
    }
    for (const [id, label] of labelsOf(await readInherited(space, conversation, ["label"]))) {
      const node = nodes.get(id);
      if (node !== undefined) node.label = label;
    }
  }
  await eachEntry(space, conversation, {
    onEntry: (entry) => {
      if (isNode(entry)) return add(presentEntry(entry), false, false);
      const node = "target" in entry ? nodes.get(entry.target) : undefined;
      if (node === undefined) return;
      if (entry.type === "hide") node.hidden = entry.hidden !== false;
      else if (entry.type === "label") node.label = entry.label === "" ? null : entry.label;
    },
  });
  await markActive(nodes, leaf.id);
  return { leaf: leaf.id, nodes: [...nodes.values()] };
}

/** A missing parent is a gap and ends it with an error, never silently. */
async function markActive(nodes: ReadonlyMap<EntryId, OpenNode>, leaf: EntryId): Promise<void> {
  let marked = 0;
  for (let at: EntryId | null = leaf; at !== null;) {
    const node: OpenNode | undefined = nodes.get(at);
    if (node === undefined || node.active)
      throw new LogError("damaged", `The branch to ${leaf} is broken at ${at}`, { entry: leaf, at });
    node.active = true;
    at = node.entry.parentId;
    if (++marked % NODES_AT_ONCE === 0) await nextTurn();
  }
}
