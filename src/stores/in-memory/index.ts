import { indexedStore } from "#stores/indexed/indexed-store";
import type { Store } from "#store/store";
import { inMemoryBacking, type InMemoryBacking, inMemoryLogs } from "./in-memory-logs.ts";

export { inMemoryBacking, type InMemoryBacking };

export interface InMemoryStoreOptions {
  /** Everything the store keeps; hand the same one to a new store to reopen it. */
  readonly backing?: InMemoryBacking;
  readonly nowMs?: () => number;
}

/** A store for tests and throw-away work: every promise but durability. */
export function inMemoryStore(options: InMemoryStoreOptions = {}): Store {
  return indexedStore(inMemoryLogs(options.backing ?? inMemoryBacking()), options.nowMs ?? Date.now);
}
