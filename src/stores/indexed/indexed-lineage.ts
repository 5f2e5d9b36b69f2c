import { isLogError, LogError } from "#log/errors";
import { type Family } from "#log/lineage/lineage";
import type { ConversationId, SpaceId } from "#log/ids";
import type { LogIndex } from "#log/lineage/log-index";
import type { Shelf, Shelves } from "./indexed-log.ts";

const ATTEMPTS_MAX = 4; // each one lost means that another erase cut into the same read

/** A conversation's shelf with the shelves of everything it was forked from. */
export interface ShelfFamily {
  readonly shelf: Shelf;
  readonly shelves: ReadonlyMap<ConversationId, Shelf>;
  readonly indexes: Family;
}

export function notFound(conversation: ConversationId): LogError {
  return new LogError("conversation_not_found", `There is no conversation ${conversation} here`, {
    conversation,
  });
}

/**
 * Reads again what an erase in another process cut into: a source was replaced by what its forks need, or a fork
 * went. What is really gone or damaged is so the next time too.
 */
export async function settled<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const max = isLogError(error, "store_gone") ? ATTEMPTS_MAX : isLogError(error, "damaged") ? 2 : 1;
      if (attempt >= max) throw error;
    }
  }
}

/** A conversation as it is now; null also when it went a moment ago. */
export function openNow(
  shelves: Shelves,
  space: SpaceId,
  conversation: ConversationId,
): Promise<Shelf | null> {
  return settled(() => shelves.open(space, conversation));
}

/** Opens a conversation as its space sees it; an erased one is not there, though its forks still read from it. */
export async function openFamily(
  shelves: Shelves,
  space: SpaceId,
  conversation: ConversationId,
): Promise<ShelfFamily> {
  const family = await openReachable(shelves, space, conversation);
  if (family.shelf.damage) throw family.shelf.damage;
  return family;
}

/** Only the conversation itself, for verbs that need nothing of what it was forked from. */
export async function openShelf(
  shelves: Shelves,
  space: SpaceId,
  conversation: ConversationId,
): Promise<Shelf> {
  const shelf = await shelves.open(space, conversation);
  if (shelf === null || shelf.unlisted) throw notFound(conversation);
  return shelf;
}

/** The same, where it must be whole. */
export async function openWhole(
  shelves: Shelves,
  space: SpaceId,
  conversation: ConversationId,
): Promise<Shelf> {
  const shelf = await openShelf(shelves, space, conversation);
  if (shelf.damage) throw shelf.damage;
  return shelf;
}

/** The same for reads that can do with what lies before a damage, and say so themselves when they cannot. */
export async function openReachable(
  shelves: Shelves,
  space: SpaceId,
  conversation: ConversationId,
): Promise<ShelfFamily> {
  return familyOf(shelves, space, await openShelf(shelves, space, conversation));
}

/** A shelf with everything above it. */
export async function familyOf(shelves: Shelves, space: SpaceId, shelf: Shelf): Promise<ShelfFamily> {
  const { conversation } = shelf;
  const members = new Map<ConversationId, Shelf>([[conversation, shelf]]);
  const indexes = new Map<ConversationId, LogIndex>([[conversation, shelf.index]]);
  let below = shelf;
  let source = shelf.index.head.origin?.source;
  while (source !== undefined) {
    const above: Shelf | null = below.source ?? (await shelves.open(space, source));
    if (above === null)
      throw new LogError(
        "damaged",
        `The conversation ${source} that ${conversation} was forked from is missing`,
        { conversation: source },
      );
    members.set(source, above);
    indexes.set(source, above.index);
    below = above;
    source = above.index.head.origin?.source;
  }
  return { shelf, shelves: members, indexes };
}
