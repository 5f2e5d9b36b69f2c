import type { TreeNode } from "#edges/http/client/views";
import { client } from "./api-client.ts";

const PAGE = 500;
const PAGES_MAX = 200;

/** Every node of a conversation, in the order they were written; `isWhole` is false where there are more than are read. */
export interface WholeTree {
  readonly nodes: readonly TreeNode[];
  readonly leaf: string;
  readonly isWhole: boolean;
}

export async function readTree(conversation: string, signal: AbortSignal): Promise<WholeTree> {
  const nodes: TreeNode[] = [];
  let [cursor, leaf]: [string | null, string] = [null, ""];
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page: Awaited<ReturnType<typeof client.getTree>> = await client.getTree(
      { conversation, limit: PAGE, ...(cursor === null ? {} : { cursor }) },
      { signal },
    );
    nodes.push(...page.nodes);
    ({ leaf, next: cursor } = page);
    if (cursor === null) break;
  }
  return { nodes, leaf, isWhole: cursor === null };
}
