import { pageBack } from "../log/family.ts";
import type { ConversationId, SpaceId } from "../log/ids.ts";
import { familyOf, notFound } from "./shelf-family.ts";
import type { Shelf, Shelves } from "./shelf.ts";

/** Erases one conversation, then any erased ancestor that was kept only for it. */
export async function eraseShelf(
  shelves: Shelves,
  space: SpaceId,
  conversation: ConversationId,
): Promise<void> {
  const shelf = await shelves.open(space, conversation);
  if (shelf === null || shelf.unlisted) throw notFound(conversation);
  let at: Shelf | null = shelf;
  while (at !== null) {
    const doomed: Shelf = at;
    const source: ConversationId | undefined = doomed.index.head.origin?.source;
    // A fork is made under its source's lock, so none can begin between the count and the cut.
    await shelves.locked(space, doomed.conversation, async () => {
      await shelves.reduce(space, doomed.conversation, await seqsNeeded(shelves, space, doomed.conversation));
    });
    const above: Shelf | null = source === undefined ? null : await shelves.open(space, source);
    at = above?.unlisted ? above : null;
  }
}

/** The seqs that forks still stand on: inherited nodes, what hides them, and the log's first entry. Null: nobody. */
async function seqsNeeded(
  shelves: Shelves,
  space: SpaceId,
  doomed: ConversationId,
): Promise<ReadonlySet<number> | null> {
  const needed = new Set<number>();
  for (const listed of await shelves.list(space)) {
    if (listed.origin === null || listed.conversation === doomed) continue;
    const shelf = await shelves.open(space, listed.conversation);
    const origin = shelf?.index.head.origin;
    if (!shelf || !origin) continue;
    if (origin.source === doomed) needed.add(1);
    const { indexes } = await familyOf(shelves, space, shelf);
    for (const node of pageBack(indexes, origin, Number.POSITIVE_INFINITY).nodes) {
      if (node.conversation !== doomed) continue;
      needed.add(1).add(node.seq);
      for (const seq of indexes.get(doomed)?.hidesOf(node.id) ?? []) needed.add(seq);
    }
  }
  return needed.size === 0 ? null : needed;
}
