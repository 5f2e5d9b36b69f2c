import { shelfStore } from "#store/shelf-store";
import type { Store } from "#store/store";
import { memoryBacking, type MemoryBacking, memoryShelves } from "./memory-shelves.ts";

export { memoryBacking, type MemoryBacking };

export interface MemoryStoreOptions {
  /** Everything the store keeps; hand the same one to a new store to reopen it. */
  readonly backing?: MemoryBacking;
  readonly nowMs?: () => number;
}

/** A store for tests and throw-away work: every promise but durability. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return shelfStore(memoryShelves(options.backing ?? memoryBacking()), options.nowMs ?? Date.now);
}
