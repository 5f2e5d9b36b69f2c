import type { ConversationId } from "#log/ids";
import { CHAIN_TYPES, ChainReader } from "#log/projections/chain";
import type { SpaceStore } from "#store/facets";
import { eachEntry, inheritedLogs } from "./read-log.ts";

/** Every upstream id a conversation has held, and those of its sources, with the messages they carried. */
export async function readChain(
  space: SpaceStore,
  conversation: ConversationId,
  chain: ChainReader = new ChainReader(),
): Promise<ChainReader> {
  for (const { source, upTo } of await inheritedLogs(space, conversation))
    await eachEntry(space, source, { types: CHAIN_TYPES, upTo, onEntry: (entry) => chain.add(entry, true) });
  await eachEntry(space, conversation, { types: CHAIN_TYPES, onEntry: (entry) => chain.add(entry, false) });
  return chain;
}
