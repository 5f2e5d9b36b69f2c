import { decodeEntry } from "#log/codec";
import type { EntryType, StoredEntry } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { CHAIN_TYPES, type ChainEntry, ChainReader, type Link } from "#log/projections/chain";
import type { SpaceStore } from "#store/facets";
import { eachStored, inheritedBranch } from "./read-log.ts";

/** Every upstream id a conversation has held, and those of its sources, with the messages they carried. */
export async function readChain(
  space: SpaceStore,
  conversation: ConversationId,
  chain: ChainReader = new ChainReader(),
): Promise<ChainReader> {
  // Without a link nothing was carried, and most of a log are messages.
  const isEmpty = (await readLinks(space, conversation)).length === 0;
  return isEmpty ? chain : readLineage(space, conversation, CHAIN_TYPES, chain);
}

/** The same links without what they carried: of a long log, a few entries are read. */
export async function readLinks(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<readonly Omit<Link, "carried">[]> {
  return (await readLineage(space, conversation, ["upstream_link"], new ChainReader(false))).links();
}

/** Reads the entries of a conversation and, before them, those its branch has of the logs it was forked from: their `source`. */
export async function readLineage<R extends { add(entry: ChainEntry, source: ConversationId | null): void }>(
  space: SpaceStore,
  conversation: ConversationId,
  types: readonly EntryType[],
  reader: R,
): Promise<R> {
  for (const { source, upTo } of await inheritedBranch(space, conversation))
    await eachStored(space, source, {
      types,
      upTo,
      onStored: (stored) => reader.add(inChain(stored), source),
    });
  await eachStored(space, conversation, { types, onStored: (stored) => reader.add(inChain(stored), null) });
  return reader;
}

/** Most of a log are messages, and of those it is enough to know where they are. */
function inChain(stored: StoredEntry): ChainEntry {
  const { type, id, seq } = stored;
  return type === "message" ? { type, id, seq } : decodeEntry(stored);
}
