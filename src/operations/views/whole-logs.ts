import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { readChain } from "#conversation/read-chain";
import { liveTrees } from "#conversation/read-tree";
import type { Entry } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { type TreeKind, treeKind } from "#log/lineage/tree-filter";
import { costIn, entryPreview, kindOf } from "#transfer/shown/entry-preview";

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

const LOGS_MAX = 4;
const STAMPS_MAX = 50_000; // of one log: some 20 MB
const MAX_AGE_MS = 30_000;

interface CachedStamps {
  readonly headSeq: number;
  /** By the ids of messages, in the order of the log. */
  readonly stamps: ReadonlyMap<string, Stamp>;
}

/**
 * Which sessions carried each message. It follows from the whole log, so it is read once for all pages that are asked for in a
 * row, and again once the log has grown: a message that belongs to no turn yet may be the prompt of the next one.
 */
export class StampCache {
  readonly #cached = new Map<string, CachedStamps>();

  async read({ space, spaceId }: Holdfast, conversation: Conversation): Promise<CachedStamps["stamps"]> {
    const name = `${spaceId}/${conversation.id}`;
    const { headSeq } = await conversation.head();
    const cached = this.#cached.get(name);
    if (cached?.headSeq === headSeq) return cached.stamps;
    const chain = await readChain(space, conversation.id);
    const places = new Map(chain.links().map((link, place) => [link, place]));
    const stamps = new Map<string, Stamp>();
    for (const [entry, links] of chain.carriers())
      stamps.set(entry, {
        entry,
        upstreams: links.map((link) => {
          const { id, agent, account } = link;
          return { id, agent, account, link: places.get(link) ?? 0 };
        }),
      });
    this.#add(name, { headSeq, stamps });
    return stamps;
  }

  #add(name: string, read: CachedStamps): void {
    this.#cached.delete(name);
    if (read.stamps.size > STAMPS_MAX) return;
    this.#cached.set(name, read);
    const [oldest] = this.#cached.keys();
    if (this.#cached.size > LOGS_MAX && oldest !== undefined) this.#cached.delete(oldest);
    setTimeout(() => this.#cached.get(name) === read && this.#cached.delete(name), MAX_AGE_MS).unref();
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
