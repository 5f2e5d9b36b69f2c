import type { TreeNode } from "#edges/http/client/index";
import { client } from "./api-client.ts";

const PAGE = 500;
const PAGES_MAX = 200;

/** Every node of a conversation, page by page. */
export async function readTree(conversation: string, signal: AbortSignal): Promise<readonly TreeNode[]> {
  const nodes: TreeNode[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page: { readonly nodes: readonly TreeNode[]; readonly next: string | null } = await client.getTree(
      { conversation, limit: PAGE, ...(cursor === null ? {} : { cursor }) },
      { signal },
    );
    nodes.push(...page.nodes);
    cursor = page.next;
    if (cursor === null) break;
  }
  return nodes;
}
