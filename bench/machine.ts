import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { alternate, type Side, type Timing } from "./sample.ts";

/** What the figures depend on besides the code. */
export interface Machine {
  readonly node: string;
  readonly sqlite: string;
  readonly cores: number;
  /** What else runs: above the number of cores, times are other people's. */
  readonly load: number;
  /** Writing 8 KB to the end of a file and syncing it, on the disk the stores lie on. */
  readonly fsync: Timing;
}

const SYNC_BYTES = 8_192;
const SYNCS = 200;

export async function describeMachine(dir: string): Promise<Machine> {
  const db = new DatabaseSync(":memory:");
  const sqlite = String(db.prepare("SELECT sqlite_version() AS version").get()?.["version"]);
  db.close();
  using probe = new SyncProbe(join(dir, "fsync"));
  const { fsync } = await alternate({ fsync: probe.side }, { rounds: SYNCS, warmup: 10, limitMs: 10_000 });
  const [load = 0] = loadavg();
  return { node: process.versions.node, sqlite, cores: availableParallelism(), load, fsync };
}

/** A file that can be synced again and again, to know what the disk asks for that right now. */
export class SyncProbe implements Disposable {
  readonly #file: number;
  readonly side: Side;

  constructor(path: string) {
    const file = openSync(path, "w");
    const bytes = Buffer.alloc(SYNC_BYTES, 1);
    this.#file = file;
    this.side = { before: () => writeSync(file, bytes), run: () => fdatasyncSync(file) };
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
