import { flag, list, named, nullable, open, type Schema, text } from "#edges/http/routes/value-schema";

/** A node of the tree, without what it says but for the beginning of it. */
export interface TreeNode {
  readonly id: string;
  readonly parentId: string | null;
  readonly children: readonly string[];
  /** On the branch that ends at the leaf. */
  readonly active: boolean;
  readonly type: string;
  /** Who or what it is in one word: of a message user, assistant or result, else its type. */
  readonly kind: string;
  readonly label: string | null;
  readonly hidden: boolean;
  readonly inherited: boolean;
  /** As it is stored: whoever shows it makes it harmless. */
  readonly preview: string;
}

export const treeNode: Schema<TreeNode> = named(
  "TreeNode",
  open<TreeNode>({
    id: text(),
    parentId: nullable(text()),
    children: list(text()),
    active: flag(),
    type: text(),
    kind: text(),
    label: nullable(text()),
    hidden: flag(),
    inherited: flag(),
    preview: text(),
  }),
);
