import type { EntryType } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { CHAIN_TYPES, ChainReader, type Link } from "#log/projections/chain";
import type { SpaceStore } from "#store/facets";
import { eachEntry, inheritedLogs } from "./read-log.ts";

/** Every upstream id a conversation has held, and those of its sources, with the messages they carried. */
export async function readChain(
  space: SpaceStore,
  conversation: ConversationId,
  chain: ChainReader = new ChainReader(),
): Promise<ChainReader> {
  return readInto(chain, space, conversation, CHAIN_TYPES);
}

/** The same links without what they carried: of a long log, a few entries are read. */
export async function readLinks(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<readonly Omit<Link, "carried">[]> {
  return (await readInto(new ChainReader(false), space, conversation, ["upstream_link"])).links();
}

async function readInto(
  chain: ChainReader,
  space: SpaceStore,
  conversation: ConversationId,
  types: readonly EntryType[],
): Promise<ChainReader> {
  for (const { source, upTo } of await inheritedLogs(space, conversation))
    await eachEntry(space, source, { types, upTo, onEntry: (entry) => chain.add(entry, true) });
  await eachEntry(space, conversation, { types, onEntry: (entry) => chain.add(entry, false) });
  return chain;
}
