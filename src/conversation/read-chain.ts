import type { Entry, EntryType } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { CHAIN_TYPES, ChainReader, type Link } from "#log/projections/chain";
import type { SpaceStore } from "#store/facets";
import { eachEntry, inheritedBranch } from "./read-log.ts";

/** Every upstream id a conversation has held, and those of its sources, with the messages they carried. */
export async function readChain(
  space: SpaceStore,
  conversation: ConversationId,
  chain: ChainReader = new ChainReader(),
): Promise<ChainReader> {
  return readLineage(space, conversation, CHAIN_TYPES, chain);
}

/** The same links without what they carried: of a long log, a few entries are read. */
export async function readLinks(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<readonly Omit<Link, "carried">[]> {
  return (await readLineage(space, conversation, ["upstream_link"], new ChainReader(false))).links();
}

/** Reads the entries of a conversation and, before them, those its branch has of the logs it was forked from: their `source`. */
export async function readLineage<R extends { add(entry: Entry, source: ConversationId | null): void }>(
  space: SpaceStore,
  conversation: ConversationId,
  types: readonly EntryType[],
  reader: R,
): Promise<R> {
  for (const { source, upTo } of await inheritedBranch(space, conversation))
    await eachEntry(space, source, { types, upTo, onEntry: (entry) => reader.add(entry, source) });
  await eachEntry(space, conversation, { types, onEntry: (entry) => reader.add(entry, null) });
  return reader;
}
