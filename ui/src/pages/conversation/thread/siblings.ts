import type { TreeNode } from "#edges/http/client/views";
import { readTree } from "../../../data/whole-tree.ts";

/** Where branches part: the children of each node that has several, and how to get from one of them to an end. */
export interface Siblings {
  /** The ids beside a node, itself among them, in the order they were written; empty where it is alone. */
  beside(parent: string | null): readonly string[];
  /** The end that a branch through this node is gone on with: the active one, else the newest. */
  endOf(node: string): string;
  /** Whether it is known to be on the branch that the conversation itself goes on with, or on another one. */
  isActive(node: string): boolean;
  isAway(node: string): boolean;
}

export const NO_SIBLINGS: Siblings = {
  beside: () => [],
  endOf: (node) => node,
  isActive: () => false,
  isAway: () => false,
};

export function siblingsIn(nodes: readonly TreeNode[]): Siblings {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const beside = (parent: string | null): readonly string[] => {
    const children = parent === null ? [] : (byId.get(parent)?.children ?? []);
    return children.length > 1 ? children : [];
  };
  const endOf = (node: string): string => {
    let at = node;
    for (;;) {
      const children = byId.get(at)?.children ?? [];
      const next = children.find((child) => byId.get(child)?.active === true) ?? children.at(-1);
      if (next === undefined) return at;
      at = next;
    }
  };
  return {
    beside,
    endOf,
    isActive: (node) => byId.get(node)?.active === true,
    isAway: (node) => byId.get(node)?.active === false,
  };
}

/** Reads the whole tree: only for conversations that have branches. */
export async function readSiblings(conversation: string, signal: AbortSignal): Promise<Siblings> {
  return siblingsIn((await readTree(conversation, signal)).nodes);
}
