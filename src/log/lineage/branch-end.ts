import type { EntryId } from "#log/ids";

/** A node of a tree, as far as a way to an end needs it. */
interface TreeStep {
  readonly children: readonly EntryId[];
  /** On the branch that the conversation continues on. */
  readonly active: boolean;
}

/** The end of a branch through a node: of the active one, else of the newest. */
export function branchEnd(node: EntryId, get: (id: EntryId) => TreeStep | undefined): EntryId {
  let end = node;
  for (;;) {
    const children = get(end)?.children ?? [];
    const next = children.find((child) => get(child)?.active) ?? children.at(-1);
    if (next === undefined) return end;
    end = next;
  }
}
