import { pageBack } from "../log/family.ts";
import type { ConversationId, SpaceId } from "../log/ids.ts";
import { notFound } from "./shelf-family.ts";
import type { Shelf, Shelves } from "./shelf.ts";
import type { LogIndex } from "../log/log-index.ts";

/** Erases one conversation, then any erased ancestor that was kept only for it. */
export async function eraseShelf(shelves: Shelves, space: SpaceId, conversation: ConversationId): Promise<void> {
  const shelf = await shelves.open(space, conversation);
  if (shelf === null || shelf.unlisted) throw notFound(conversation);
  let at: Shelf | null = shelf;
  while (at !== null) {
    const doomed: Shelf = at;
    const source: ConversationId | undefined = doomed.index.head.origin?.source;
    const keep = await seqsNeeded(shelves, space, doomed);
    await shelves.locked(space, doomed.conversation, () => shelves.reduce(space, doomed.conversation, keep));
    const above: Shelf | null = source === undefined ? null : await shelves.open(space, source);
    at = above?.unlisted ? above : null;
  }
}

/** The seqs that forks still stand on: inherited nodes, what hides them, and the log's first entry. Null: nobody. */
async function seqsNeeded(shelves: Shelves, space: SpaceId, doomed: Shelf): Promise<ReadonlySet<number> | null> {
  const indexes = new Map<ConversationId, LogIndex>();
  for (const { conversation } of await shelves.list(space)) {
    const shelf = await shelves.open(space, conversation);
    if (shelf !== null) indexes.set(conversation, shelf.index);
  }
  const needed = new Set<number>();
  for (const [conversation, index] of indexes) {
    const { origin } = index.head;
    if (conversation === doomed.conversation || origin === null) continue;
    if (origin.source === doomed.conversation) needed.add(1);
    for (const node of pageBack(indexes, origin, Number.POSITIVE_INFINITY).nodes) {
      if (node.conversation !== doomed.conversation) continue;
      needed.add(1).add(node.seq);
      for (const seq of doomed.index.hidesOf(node.id)) needed.add(seq);
    }
  }
  return needed.size === 0 ? null : needed;
}
