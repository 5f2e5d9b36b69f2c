import type { Conversation } from "#conversation/conversation";
import type { TreeNode } from "#edges/http/branches/tree-node";
import type { SpaceId } from "#log/ids";
import { treeKind } from "#log/lineage/tree-filter";
import { KeptReadings } from "./kept-readings.ts";
import { costIn, entryPreview, kindOf } from "#transfer/shown/entry-preview";

interface ReadTree {
  readonly headSeq: number;
  readonly items: number;
  readonly leaf: string;
  readonly nodes: readonly TreeNode[];
}

/**
 * Trees by pages. Children, labels and the active branch of a node follow from what was written after it, so that a page is not
 * known before the whole of the log is: it is read once for all pages that are asked for in a row, not once for each.
 */
export class TreePages {
  readonly #kept = new KeptReadings<ReadTree>();

  async read(space: SpaceId, conversation: Conversation): Promise<ReadTree> {
    const { headSeq } = await conversation.head();
    return this.#kept.read(`${space}/${conversation.id}`, headSeq, async () => {
      const { leaf, nodes } = await conversation.tree();
      const shown = nodes.map(({ entry, children, active, label, hidden, inherited }) => ({
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
        costMicros: costIn(entry),
      }));
      return { headSeq, items: shown.length, leaf, nodes: shown };
    });
  }
}
