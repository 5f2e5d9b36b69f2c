import type { SpaceStore, Store } from "#store/store";
import { type Timeline, whileAlive } from "./timeline.ts";

/** A store that answers only the living, and holds time still while it works. */
export function killableStore(store: Store, timeline: Timeline, death: AbortSignal): Store {
  const call = <T>(work: () => Promise<T>): Promise<T> =>
    death.aborted ? new Promise<T>(() => undefined) : whileAlive(timeline.freeze(work()), death);
  return {
    space: (id) => killableSpace(store.space(id), call),
    spaces: () => call(() => store.spaces()),
    close: () => call(() => store.close()),
    [Symbol.asyncDispose]: () => call(() => store.close()),
  };
}

function killableSpace(space: SpaceStore, call: <T>(work: () => Promise<T>) => Promise<T>): SpaceStore {
  return {
    create: (request) => call(() => space.create(request)),
    fork: (request) => call(() => space.fork(request)),
    append: (request) => call(() => space.append(request)),
    findAppend: (conversation, key) => call(() => space.findAppend(conversation, key)),
    acquire: (request) => call(() => space.acquire(request)),
    renew: (request) => call(() => space.renew(request)),
    head: (conversation) => call(() => space.head(conversation)),
    entry: (conversation, id) => call(() => space.entry(conversation, id)),
    ids: (request) => call(() => space.ids(request)),
    labelled: (request) => call(() => space.labelled(request)),
    page: (request) => call(() => space.page(request)),
    latest: (request) => call(() => space.latest(request)),
    read: (request) => call(() => space.read(request)),
    // A tail waits for what may never come, so time does not wait for it.
    tail: (request) => space.tail(request),
    list: (request) => call(() => space.list(request)),
    search: (request) => call(() => space.search(request)),
    putBlob: (conversation, bytes) => call(() => space.putBlob(conversation, bytes)),
    getBlob: (conversation, digest) => call(() => space.getBlob(conversation, digest)),
    erase: (conversation) => call(() => space.erase(conversation)),
    check: (request) => call(() => space.check(request)),
  };
}
