import type { Holdfast } from "#conversation/holdfast";
import { liveChains } from "#conversation/read-chain";
import { liveTrees } from "#conversation/read-tree";
import type { Entry } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import type { ChainReader, Link } from "#log/projections/chain";
import { branchEnd } from "#log/lineage/branch-end";
import { type TreeKind, treeKind } from "#log/lineage/tree-filter";
import { costIn, entryPreview, kindOf } from "#transfer/views/entry-preview";

/** Which sessions a message was sent to, or came from, in that order. */
export interface Stamp {
  readonly entry: string;
  readonly upstreams: readonly {
    readonly id: string;
    readonly agent: string;
    readonly account: string | null;
    /** Its place in the chain: an id that comes back is another link. */
    readonly link: number;
  }[];
}

const CHAIN_BOUNDS = { logs: 4, maxAgeMs: 120_000 };
const STAMPS_MAX = 250_000; // of one log: some 25 MB

/** The chains of logs, with what each session carried: they follow from the whole log, so they are read once, and then what was added. */
export class ChainCache {
  readonly #chains = liveChains({ ...CHAIN_BOUNDS, isTooLarge: ({ chain }) => chain.size > STAMPS_MAX });

  read<T>(holdfast: Holdfast, conversation: ConversationId, use: (chain: ChainReader) => T): Promise<T> {
    return this.#chains.readAtHead(holdfast, conversation, ({ chain }) => use(chain));
  }

  /** By the ids of messages, in the order of the log. */
  stamps(holdfast: Holdfast, conversation: ConversationId): Promise<ReadonlyMap<string, Stamp>> {
    return this.read(holdfast, conversation, (chain) => {
      const links = chain.links();
      const places = new Map(links.map((link, place) => [link, place]));
      const stampOf = (link: Link): Stamp["upstreams"][number] => {
        const { id, agent, account } = link;
        return { id, agent, account, link: places.get(link) ?? 0 };
      };
      return new Map(
        [...chain.carriers(links)].map(([entry, carriers]) => [
          entry,
          { entry, upstreams: carriers.map(stampOf) },
        ]),
      );
    });
  }
}

/** A node of the tree, without what it says but for the beginning of it. */
export interface TreeNode {
  readonly id: string;
  /** In the log it was written to, which is another one where it is inherited. */
  readonly seq: number;
  readonly parentId: string | null;
  readonly children: readonly string[];
  /** On the branch that ends at the leaf. */
  readonly active: boolean;
  readonly type: string;
  /** Who or what it is in one word: of a message user, assistant or result, else its type. */
  readonly kind: string;
  /** What it is to someone who looks at the tree, by which filters go; `tools` are results, and answers that only call. */
  readonly treeKind: TreeKind;
  readonly label: string | null;
  readonly hidden: boolean;
  readonly inherited: boolean;
  /** As it is stored: whoever shows it makes it harmless. */
  readonly preview: string;
  /** What the answer cost, in microdollars; null where nobody said. */
  readonly costMicros: number | null;
}

const TREE_BOUNDS = { logs: 4, maxAgeMs: 30_000, nodesMax: 50_000 }; // of one log: some 20 MB

interface Page {
  readonly from: number;
  readonly limit: number;
}

interface TreePage {
  readonly leaf: string;
  readonly nodes: readonly TreeNode[];
  /** Of the whole tree. */
  readonly count: number;
}

/**
 * Trees by pages. Children, labels and the active branch of a node follow from what was written after it, so a page isn't known
 * before the whole log is: it is read once for all pages that are asked for in a row, and then what was added.
 */
export class TreePages {
  readonly #trees = liveTrees(shownEntry, TREE_BOUNDS);

  read(holdfast: Holdfast, conversation: ConversationId, { from, limit }: Page): Promise<TreePage> {
    return this.#trees.readAtHead(holdfast, conversation, async (tree, { leaf }) => {
      await tree.markActive(leaf.id);
      const page = tree.nodes.slice(from, from + limit);
      const nodes = page.map(({ entry, ...node }) => Object.assign(node, entry));
      return { leaf: leaf.id, nodes, count: tree.nodes.length };
    });
  }

  /** The children of each node that has several, in the order they were written. */
  siblings(
    holdfast: Holdfast,
    conversation: ConversationId,
    parents: readonly (EntryId | null)[],
  ): Promise<ReadonlyMap<string, readonly Sibling[]>> {
    return this.#trees.readAtHead(holdfast, conversation, async (tree, { leaf }) => {
      await tree.markActive(leaf.id);
      const found = parents.flatMap((parent): readonly (readonly [string, readonly Sibling[]])[] => {
        const children = parent === null ? [] : (tree.get(parent)?.children ?? []);
        if (parent === null || children.length < 2) return [];
        const siblings = children.map((entry) => ({
          entry,
          end: branchEnd(entry, (id) => tree.get(id)),
          active: tree.get(entry)?.active === true,
        }));
        return [[parent, siblings]];
      });
      return new Map(found);
    });
  }

  endOf(holdfast: Holdfast, conversation: ConversationId, entry: EntryId): Promise<EntryId> {
    return this.#trees.readAtHead(holdfast, conversation, async (tree, { leaf }) => {
      await tree.markActive(leaf.id);
      return branchEnd(entry, (id) => tree.get(id));
    });
  }
}

/** A way on from a node that has several. */
export interface Sibling {
  readonly entry: string;
  /** The end of its branch. */
  readonly end: string;
  /** The conversation continues on it. */
  readonly active: boolean;
}

type ShownEntry = Pick<
  TreeNode,
  "id" | "seq" | "parentId" | "type" | "kind" | "treeKind" | "preview" | "costMicros"
>;

function shownEntry(entry: Entry): ShownEntry {
  return {
    id: entry.id,
    seq: entry.seq,
    parentId: entry.parentId,
    type: entry.type,
    kind: kindOf(entry),
    treeKind: treeKind(entry),
    preview: entryPreview(entry),
    costMicros: costIn(entry),
  };
}
