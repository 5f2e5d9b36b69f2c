import type { TreeKind } from "#log/lineage/tree-filter";
import {
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  open,
  type Schema,
  text,
} from "#edges/http/routes/value-schema";

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

export const treeNode: Schema<TreeNode> = named(
  "TreeNode",
  open<TreeNode>({
    id: text(),
    seq: count(),
    parentId: nullable(text()),
    children: list(text()),
    active: flag(),
    type: text(),
    kind: text(),
    treeKind: choice(["start", "prompt", "answer", "tools", "setting", "other"]),
    label: nullable(text()),
    hidden: flag(),
    inherited: flag(),
    preview: text(),
    costMicros: nullable(count()),
  }),
);
