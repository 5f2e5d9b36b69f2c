import type { Conversation } from "#conversation/conversation";
import type { TreeNode } from "#edges/http/branches/tree-node";
import type { SpaceId } from "#log/ids";
import { treeKind } from "#log/lineage/tree-filter";
import { entryPreview, kindOf } from "#transfer/shown/entry-preview";

const KEPT_MAX = 4;
const KEPT_NODES_MAX = 50_000; // of one tree: some 20 MB
const KEPT_MS = 30_000;

interface ReadTree {
  readonly headSeq: number;
  readonly leaf: string;
  readonly nodes: readonly TreeNode[];
}

/**
 * Trees by pages. Children, labels and the active branch of a node follow from what was written after it, so that a page is not
 * known before the whole of the log is: it is read once for all pages that are asked for in a row, not once for each.
 */
export class TreePages {
  readonly #kept = new Map<string, ReadTree>();

  async read(space: SpaceId, conversation: Conversation): Promise<ReadTree> {
    const name = `${space}/${conversation.id}`;
    const { headSeq } = await conversation.head();
    const known = this.#kept.get(name);
    if (known?.headSeq === headSeq) return known;
    const { leaf, nodes } = await conversation.tree();
    const read: ReadTree = {
      headSeq,
      leaf,
      nodes: nodes.map(({ entry, children, active, label, hidden, inherited }) => ({
        id: entry.id,
        seq: entry.seq,
        parentId: entry.parentId,
        children,
        active,
        type: entry.type,
        kind: kindOf(entry),
        treeKind: treeKind(entry),
        label,
        hidden,
        inherited,
        preview: entryPreview(entry),
      })),
    };
    this.#keep(name, read);
    return read;
  }

  #keep(name: string, read: ReadTree): void {
    this.#kept.delete(name);
    if (read.nodes.length > KEPT_NODES_MAX) return;
    this.#kept.set(name, read);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    setTimeout(() => this.#kept.get(name) === read && this.#kept.delete(name), KEPT_MS).unref();
  }
}
