import type { SpaceStore } from "#store/facets";
import type { Store } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";

/** A store that counts the entries that leave it: the same on every machine. */
export function countedStore(store: Store = inMemoryStore()): {
  readonly store: Store;
  readonly count: () => number;
} {
  let entries = 0;
  const space = (inner: SpaceStore): SpaceStore => ({
    ...inner,
    window: async (request) => {
      const window = await inner.window(request);
      entries += window.page.entries.length;
      return window;
    },
    page: async (request) => {
      const page = await inner.page(request);
      entries += page.entries.length;
      return page;
    },
    read: async (request) => {
      const read = await inner.read(request);
      entries += read.length;
      return read;
    },
    labelled: async (request) => {
      const facts = await inner.labelled(request);
      entries += facts?.length ?? 0;
      return facts;
    },
  });
  return { store: { ...store, space: (id) => space(store.space(id)) }, count: () => entries };
}
