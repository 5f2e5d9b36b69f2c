import type { SpaceId } from "#log/ids";
import { storePort } from "#store/port";
import { checkRemnants, eraseShelf } from "./indexed-erase.ts";
import { shelfReads } from "./indexed-reads.ts";
import { shelfWrites } from "./indexed-writes.ts";
import type { Shelves } from "./indexed-log.ts";
import type { SpaceStore, Store } from "#store/store";

/** The whole port, for stores that keep each conversation by itself. */
export function shelfStore(shelves: Shelves, nowMs: () => number): Store {
  const backup = shelves.backup?.bind(shelves);
  return storePort({
    space: (id) => spaceOf(shelves, id, nowMs),
    spaces: () => shelves.spaces(),
    ...(backup === undefined ? {} : { backup }),
    close: () => shelves.close(),
    [Symbol.asyncDispose]: () => shelves.close(),
  });
}

function spaceOf(shelves: Shelves, space: SpaceId, nowMs: () => number): SpaceStore {
  return {
    ...shelfReads(shelves, space),
    ...shelfWrites(shelves, space, nowMs),
    erase: (conversation) => eraseShelf(shelves, space, conversation),
    check: async (request) => [
      ...(await shelves.check(space, request)),
      ...(await checkRemnants(shelves, space, request)),
    ],
  };
}
