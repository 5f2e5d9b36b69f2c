import { presentEntry } from "#log/codec";
import { type Entry } from "#log/entry";
import { isNode } from "#log/entry-types";
import { LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import { projectionBy } from "#log/projections/projection";
import { labelsOf } from "#log/projections/labels";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import { LiveProjections } from "./live-projection.ts";
import { readBranch } from "./reading.ts";
import { eachEntry, nextTurn, readInherited } from "./read-log.ts";

const NODES_AT_ONCE = 1_024; // added or marked between two turns of the event loop
const ENTRIES_ADDED_MAX = 512; // where more was added, the tree is read again, in several reads

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

/** A node with what is shown of its entry. */
interface ShownNode<Shown> extends Omit<ConversationNode, "entry"> {
  readonly entry: Shown;
}

export interface ConversationTree {
  readonly leaf: EntryId;
  readonly nodes: readonly ConversationNode[];
}

type OpenNode<Shown> = { -readonly [K in keyof ShownNode<Shown>]: ShownNode<Shown>[K] };
type Linked = Pick<Entry, "id" | "parentId">;

const NO_CHILDREN: readonly EntryId[] = []; // shared: most nodes have one child, and a list that grew costs the room of many

/** Every node a conversation can reach, its own and inherited, in the order they were written. */
export class TreeNodes<Shown extends Linked> {
  readonly #show: (entry: Entry) => Shown;
  readonly #byId = new Map<EntryId, OpenNode<Shown>>();
  readonly #nodes: OpenNode<Shown>[] = [];
  #active: OpenNode<Shown>[] = [];

  constructor(show: (entry: Entry) => Shown) {
    this.#show = show;
  }

  get nodes(): readonly ShownNode<Shown>[] {
    return this.#nodes;
  }

  get(id: EntryId): ShownNode<Shown> | undefined {
    return this.#byId.get(id);
  }

  /** The next entry of its own log. */
  add(entry: Entry): void {
    if (isNode(entry)) return this.addNode(presentEntry(entry), { inherited: false, hidden: false });
    const node = "target" in entry ? this.#byId.get(entry.target) : undefined;
    if (node === undefined) return;
    if (entry.type === "hide") node.hidden = entry.hidden !== false;
    else if (entry.type === "label") node.label = entry.label === "" ? null : entry.label;
  }

  addNode(entry: Entry, { inherited, hidden }: Pick<ConversationNode, "inherited" | "hidden">): void {
    const { id, parentId } = entry;
    const parent = parentId === null ? undefined : this.#byId.get(parentId);
    const treeNode = { entry: this.#show(entry), children: NO_CHILDREN, active: false, hidden, label: null };
    const node = { ...treeNode, inherited };
    this.#byId.set(id, node);
    this.#nodes.push(node);
    if (parent?.children === NO_CHILDREN) parent.children = [id];
    else (parent?.children as EntryId[] | undefined)?.push(id);
  }

  label(id: EntryId, label: string): void {
    const node = this.#byId.get(id);
    if (node !== undefined) node.label = label;
  }

  /** Marks the branch that ends at the leaf. A missing parent is a gap and ends it with an error, never silently. */
  async markActive(leaf: EntryId): Promise<void> {
    for (const node of this.#active) node.active = false;
    this.#active = [];
    for (let at: EntryId | null = leaf; at !== null;) {
      const node: OpenNode<Shown> | undefined = this.#byId.get(at);
      if (node === undefined || node.active)
        throw new LogError("damaged", `The branch to ${leaf} lacks an entry at ${at}`, { entry: leaf, at });
      node.active = true;
      this.#active.push(node);
      at = node.entry.parentId;
      if (this.#active.length % NODES_AT_ONCE === 0) await nextTurn();
    }
  }
}

export async function readTree(space: SpaceStore, conversation: ConversationId): Promise<ConversationTree> {
  const { tree, head } = await readTreeNodes(space, conversation, (entry) => entry);
  await tree.markActive(head.leaf.id);
  return { leaf: head.leaf.id, nodes: tree.nodes };
}

interface TreeBounds {
  readonly logs: number;
  readonly maxAgeMs: number;
  readonly nodesMax: number;
}

/** Trees of many logs, for pages that are asked for in a row. */
export function liveTrees<Shown extends Linked>(
  show: (entry: Entry) => Shown,
  bounds: TreeBounds,
): LiveProjections<TreeNodes<Shown>> {
  const projection = projectionBy(() => new TreeNodes(show));
  const { nodesMax, ...others } = bounds;
  const isTooLarge = ({ nodes }: TreeNodes<Shown>): boolean => nodes.length > nodesMax;
  return new LiveProjections(projection, { ...others, isTooLarge }, (space, conversation) => ({
    addedMax: ENTRIES_ADDED_MAX,
    begin: async () => {
      const { tree, last, head } = await readTreeNodes(space, conversation, show);
      return { state: tree, last, head };
    },
  }));
}

async function readTreeNodes<Shown extends Linked>(
  space: SpaceStore,
  conversation: ConversationId,
  show: (entry: Entry) => Shown,
): Promise<{ readonly tree: TreeNodes<Shown>; readonly last: Entry | null; readonly head: HeadView }> {
  const tree = new TreeNodes(show);
  const head = await space.head(conversation);
  const { origin, headSeq: upTo } = head;
  if (origin !== null) {
    for (const entry of await readBranch(space, conversation, origin)) {
      tree.addNode(entry, { inherited: true, hidden: entry.hidden });
      if (tree.nodes.length % NODES_AT_ONCE === 0) await nextTurn();
    }
    for (const [id, label] of labelsOf(await readInherited(space, conversation, ["label"])))
      tree.label(id, label);
  }
  let last: Entry | null = null;
  const onEntry = (entry: Entry): void => {
    tree.add(entry);
    last = entry;
  };
  await eachEntry(space, conversation, { upTo, onEntry });
  return { tree, last, head };
}
