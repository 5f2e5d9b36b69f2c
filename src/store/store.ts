import type { SpaceId } from "#log/ids";
import type { Facet, LogStore, SpaceStore } from "./facets.ts";
import type { Backup, BackupRequest, StoreHealth } from "./requests.ts";

/**
 * The port every store implements. A store carries out what the rules in src/log decide and holds none of its own;
 * `storeContract` of `holdfast/testing` says, as runnable cases, what each verb promises. Whoever opens a store closes it.
 */
export interface Store extends AsyncDisposable {
  /** The facets it has. A verb of another facet fails with `facet_missing`. */
  readonly facets: readonly Facet[];
  /** A handle that sees one space and nothing else. */
  space(id: SpaceId): SpaceStore;
  /** Every space with at least one conversation. */
  spaces(): Promise<readonly SpaceId[]>;
  /**
   * Copies the whole store, every space of it, while it is in use: what was acknowledged before is in the copy, which
   * opens like any store. It appears whole or not at all, and replaces nothing. Stores that keep nothing have none.
   */
  backup?(request: BackupRequest): Promise<Backup>;
  /** How it is doing now: asked once, and answered also where it cannot be reached. Stores without a server have none. */
  health?(): Promise<StoreHealth>;
  /** Finishes the accepted calls, then closes every file, thread and timer. */
  close(): Promise<void>;
}

/** What the author of a store writes: the log, and the facets it declares. `storePort` makes a store of it. */
export interface StoreDriver extends Omit<Store, "space" | typeof Symbol.asyncDispose> {
  space(id: SpaceId): LogStore & Partial<SpaceStore>;
}
