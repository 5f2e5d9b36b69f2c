import { useEffect, useRef } from "preact/hooks";
import type { TreeNode } from "#edges/http/client/views";
import type { Entry } from "#log/entry";
import { client } from "../../data/api-client.ts";
import { live } from "../../data/live-stream.ts";
import { type Loaded, useLoaded } from "../../data/loaded.ts";
import { readTree, type WholeTree } from "../../data/whole-tree.ts";
import { costText, spentText } from "../../parts/numbers.ts";
import { openedConversation } from "../conversation/opened-conversation.ts";
import type { CarryMark, ForkMark } from "./tree-rows.ts";

/** All that the page shows. */
export interface TreeData extends WholeTree {
  readonly forks: readonly ForkMark[];
  readonly carries: ReadonlyMap<string, CarryMark>;
}

const FORKS_PAGE = 500;
const FORK_PAGES_MAX = 4;
const LINKS_MAX = 500;
const SETTLE_MS = 400; // a turn writes many entries in a row
const SETTLE_LONG_MS = 3_000;
const LONG_NODES = 5_000;

async function readForks(conversation: string, signal: AbortSignal): Promise<readonly ForkMark[]> {
  const { replays } = await client.listReplays({ limit: FORKS_PAGE }, { signal });
  const replayed = new Map(
    replays.flatMap(({ plan, results }) =>
      results.map((one, at) => [
        (one as { readonly conversation?: string }).conversation ?? "",
        `on ${plan.models[at] ?? "another model"}, tools ${plan.tools}`,
      ]),
    ),
  );
  const forks: ForkMark[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < FORK_PAGES_MAX; pages++) {
    const page: Awaited<ReturnType<typeof client.listConversations>> = await client.listConversations(
      { forkOf: conversation, limit: FORKS_PAGE, ...(cursor === null ? {} : { cursor }) },
      { signal },
    );
    for (const { conversation: of, origin, title, summary } of page.conversations) {
      if (origin === null) continue;
      const replay = replayed.get(of);
      const cost = `new ${summary === null ? costText(null) : spentText(summary.usage)}`;
      forks.push({
        conversation: of,
        entry: origin.entry,
        title: title ?? of,
        isReplay: replay !== undefined,
        about: replay ?? cost,
      });
    }
    cursor = page.next;
    if (cursor === null) break;
  }
  return forks;
}

/** The first node of its own that each session but the first carried. */
async function readCarries(
  conversation: string,
  nodes: readonly TreeNode[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, CarryMark>> {
  const [{ links }, page] = await Promise.all([
    client.getChain({ conversation }, { signal }),
    client.listEntries({ conversation, types: ["upstream_link"], limit: LINKS_MAX }, { signal }),
  ]);
  const own = nodes.filter(({ inherited }) => !inherited).toSorted((one, other) => one.seq - other.seq);
  const carries = new Map<string, CarryMark>();
  let at = 0;
  const first = links.findIndex(({ inherited }) => !inherited);
  for (const [index, entry] of page.entries.entries()) {
    const place = first + index;
    if (entry.type !== "upstream_link" || place < 1) continue;
    while (at < own.length && (own[at]?.seq ?? 0) < entry.seq) at++;
    const node = own[at];
    if (node !== undefined) carries.set(node.id, { place, reason: entry.reason });
  }
  return carries;
}

async function readData(conversation: string, signal: AbortSignal): Promise<TreeData> {
  const [tree, forks] = await Promise.all([readTree(conversation, signal), readForks(conversation, signal)]);
  return { ...tree, forks, carries: await readCarries(conversation, tree.nodes, signal) };
}

const changesTree = ({ type, parentId }: Entry): boolean =>
  parentId !== null || type === "label" || type === "hide" || type === "leaf" || type === "upstream_link";

/** Reads the tree, and again when it has grown. */
export function useTreeData(conversation: string): Loaded<TreeData> {
  const loaded = useLoaded((signal) => readData(conversation, signal), [conversation]);
  const head = openedConversation(conversation)?.view.headSeq;
  const { reload } = loaded;
  const nodes = useRef(0);
  nodes.current = loaded.value?.nodes.length ?? 0;
  // Told behind what was known before the tree was read, not behind what is known once it is there.
  useEffect(() => {
    if (head === undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unwatch = live.watch(conversation, head, (entry) => {
      const settle = nodes.current > LONG_NODES ? SETTLE_LONG_MS : SETTLE_MS;
      if (changesTree(entry)) timer ??= setTimeout(() => ((timer = undefined), reload()), settle);
    });
    return () => (clearTimeout(timer), unwatch());
  }, [conversation, head === undefined]);
  return loaded;
}
