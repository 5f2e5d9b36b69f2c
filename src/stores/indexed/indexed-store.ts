import { ALL_FACETS } from "#store/facets";
import { storePort } from "#store/port";
import { TailFeeds } from "#store/tail-feeds";
import { checkNeededByForks, eraseLog } from "./indexed-erase.ts";
import { type ReadContext, shelfReads } from "./indexed-reads.ts";
import { shelfWrites } from "./indexed-writes.ts";
import type { IndexedLogs } from "./indexed-log.ts";
import type { Store } from "#store/store";
import type { SpaceStore } from "#store/facets";

/** The whole port, for stores that keep each conversation separately. */
export function indexedStore(logs: IndexedLogs, nowMs: () => number): Store {
  const feeds = new TailFeeds(() => logs.closed);
  const backup = logs.backup?.bind(logs);
  return storePort({
    facets: ALL_FACETS,
    space: (space) => spaceOf({ logs, space, feeds, nowMs }),
    spaces: () => logs.spaces(),
    ...(backup === undefined ? {} : { backup }),
    close: () => logs.close(),
  });
}

function spaceOf(reading: ReadContext): SpaceStore {
  const { logs, space, nowMs } = reading;
  return {
    ...shelfReads(reading),
    ...shelfWrites(logs, space, nowMs),
    erase: (conversation) => eraseLog(logs, space, conversation),
    check: async (request) => [
      ...(await logs.check(space, request)),
      ...(await checkNeededByForks(logs, space, request)),
    ],
  };
}
