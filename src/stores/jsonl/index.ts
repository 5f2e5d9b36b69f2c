import { resolve } from "node:path";
import { checkNumbers } from "#log/with-defaults";
import { indexedStore } from "#stores/indexed/indexed-store";
import type { Store } from "#store/store";
import type { Disk } from "./disk/disk.ts";
import { nodeDisk } from "./disk/node-disk.ts";
import { JsonlLogs } from "./jsonl-logs.ts";
import { LOCK_WAIT_MS } from "./disk/locks.ts";

export { salvage } from "./salvage.ts";

export interface JsonlStoreOptions {
  /** Holds a folder per space; made when the first conversation is. */
  readonly dir: string;
  readonly nowMs?: () => number;
  /** Refuses every write, repairs nothing and makes no file. */
  readonly readOnly?: boolean;
  /** How long an append waits for another process's before it answers `busy`. */
  readonly lockWaitMs?: number;
  readonly disk?: Disk;
}

/** A store of plain files: one per conversation, one entry per line, as docs/reference/format.md describes them. */
export function jsonlStore(options: JsonlStoreOptions): Store {
  checkNumbers(options, { lockWaitMs: "limit" });
  const { dir, nowMs = Date.now, disk = nodeDisk, readOnly = false, lockWaitMs = LOCK_WAIT_MS } = options;
  return indexedStore(new JsonlLogs({ dir: resolve(dir), disk, readOnly, nowMs, lockWaitMs }), nowMs);
}
