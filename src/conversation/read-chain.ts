import { decodeEntry } from "#log/codec";
import type { EntryType, StoredEntry } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { CHAIN_TYPES, type ChainEntry, ChainReader, type Link } from "#log/projections/chain";
import type { Projection } from "#log/projections/projection";
import type { SpaceStore } from "#store/facets";
import { LiveProjections, type LogBounds } from "./live-projection.ts";
import { eachStored, inheritedBranch } from "./read-log.ts";
import type { ConversationReader } from "./conversation-reader.ts";
import { spaceOf } from "./on-space.ts";

/** Every upstream id a conversation has held, and those of its sources, with the messages they carried. */
export async function readChain(
  log: ConversationReader,
  chain: ChainReader = new ChainReader(),
): Promise<ChainReader> {
  // Without a link nothing was carried, and most of a log are messages.
  const isEmpty = (await readLinks(log)).length === 0;
  return isEmpty ? chain : readLineage(spaceOf(log), log.id, chain, { types: CHAIN_TYPES });
}

/** A chain that is kept up to date. `isWhole`: its messages were read; without a link there is no need to. */
export interface LiveChain {
  readonly chain: ChainReader;
  readonly isWhole: boolean;
}

const CHAINS: Projection<LiveChain> = {
  types: CHAIN_TYPES,
  start: () => ({ chain: new ChainReader(), isWhole: true }),
  add(live, entry) {
    if (live.isWhole) live.chain.add(entry, null);
    // The first session of a log may have carried messages before it: then they are read.
    return !live.isWhole && entry.type === "upstream_link" ? null : live;
  },
};

const ENTRIES_ADDED_MAX = 2_048;

export function liveChains(bounds: LogBounds<LiveChain>): LiveProjections<LiveChain> {
  return new LiveProjections(CHAINS, bounds, (space, conversation) => ({
    addedMax: ENTRIES_ADDED_MAX,
    begin: async () => {
      const head = await space.head(conversation);
      const isWhole = (await linksOf(space, conversation)).length > 0;
      const chain = new ChainReader();
      if (isWhole) await readLineage(space, conversation, chain, { types: CHAIN_TYPES, upTo: head.headSeq });
      const [last = null] = await space.read({
        conversation,
        types: CHAIN_TYPES,
        newestFirst: true,
        after: head.headSeq + 1,
        limit: 1,
      });
      return { state: { chain, isWhole }, last, head };
    },
  }));
}

/** The same links without what they carried: of a long log, a few entries are read. */
export function readLinks(log: ConversationReader): Promise<readonly Omit<Link, "carried">[]> {
  return linksOf(spaceOf(log), log.id);
}

async function linksOf(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<readonly Omit<Link, "carried">[]> {
  const chain = new ChainReader(false);
  return (await readLineage(space, conversation, chain, { types: ["upstream_link"] })).links();
}

/** Reads the entries of a conversation and, before them, those its branch has of the logs it was forked from: their `source`. */
export async function readLineage<R extends { add(entry: ChainEntry, source: ConversationId | null): void }>(
  space: SpaceStore,
  conversation: ConversationId,
  reader: R,
  { types, upTo }: { readonly types: readonly EntryType[]; readonly upTo?: number },
): Promise<R> {
  for (const log of await inheritedBranch(space, conversation))
    await eachStored(space, log.source, {
      types,
      upTo: log.upTo,
      onStored: (stored) => reader.add(inChain(stored), log.source),
    });
  await eachStored(space, conversation, {
    types,
    ...(upTo === undefined ? {} : { upTo }),
    onStored: (stored) => reader.add(inChain(stored), null),
  });
  return reader;
}

/** Most of a log are messages, and of those it is enough to know where they are. */
function inChain(stored: StoredEntry): ChainEntry {
  const { type, id, seq } = stored;
  return type === "message" ? { type, id, seq } : decodeEntry(stored);
}
