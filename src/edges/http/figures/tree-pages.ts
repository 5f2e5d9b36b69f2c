import type { Holdfast } from "#conversation/holdfast";
import { liveTrees } from "#conversation/read-tree";
import type { TreeNode } from "#edges/http/branches/tree-node";
import type { Entry } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import { type TreeKind, treeKind } from "#log/lineage/tree-filter";
import { costIn, entryPreview, kindOf } from "#transfer/shown/entry-preview";

const BOUNDS = { logs: 4, maxAgeMs: 30_000, nodesMax: 50_000 }; // of one log: some 20 MB

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
  readonly #trees = liveTrees(shownEntry, BOUNDS);

  read(holdfast: Holdfast, conversation: ConversationId, { from, limit }: Page): Promise<TreePage> {
    return this.#trees.readAtHead(holdfast, conversation, async (tree, { leaf }) => {
      await tree.markActive(leaf.id);
      const page = tree.nodes.slice(from, from + limit);
      const nodes = page.map(({ entry, ...node }) => Object.assign(node, entry));
      return { leaf: leaf.id, nodes, count: tree.nodes.length };
    });
  }
}

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

interface ShownEntry {
  readonly id: EntryId;
  readonly seq: number;
  readonly parentId: EntryId | null;
  readonly type: string;
  readonly kind: string;
  readonly treeKind: TreeKind;
  readonly preview: string;
  readonly costMicros: number | null;
}
