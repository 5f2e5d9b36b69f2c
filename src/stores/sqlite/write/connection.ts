import { DatabaseSync } from "node:sqlite";
import { LogError } from "../../../log/errors.ts";
import type { WriterOptions } from "../commands.ts";
import { isBusy, SQLITE_BUSY } from "../errors.ts";
import { checkFile, createSchema, identityOf } from "../files.ts";
import { checkSchemaVersion, SCHEMA_VERSION } from "../tables/schema.ts";
import { Sql } from "../tables/sql.ts";

const SYNC_FULL = 2;
const BACKOFF_MS_MAX = 20;
const CHECKPOINT_FRAMES = 8_000; // 32 MB of log: hot pages go to the file once, not after every few turns
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** The one connection that writes. It lives in the writer's thread, so it may wait; nothing else ever does. */
export class Connection {
  readonly sql: Sql;
  readonly path: string;
  readonly #busyMs: number;
  readonly #identity: string | null;
  #full: boolean | null = null;

  constructor(options: WriterOptions) {
    this.path = options.path;
    this.#busyMs = options.busyMs;
    checkFile(options.path);
    this.sql = new Sql(new DatabaseSync(options.path, { timeout: 0, enableForeignKeyConstraints: false }));
    try {
      this.#configure(options);
    } catch (error) {
      this.sql.db.close();
      throw error;
    }
    this.#identity = identityOf(options.path);
  }

  #configure(options: WriterOptions): void {
    const { db } = this.sql;
    this.retry(() => {
      const version = this.sql.pragma("user_version");
      checkSchemaVersion(version, options.path);
      if (version < SCHEMA_VERSION) createSchema(db);
      db.exec("PRAGMA journal_mode = WAL");
    });
    db.exec("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384");
    // Checkpoints run after the acknowledgement, never inside a commit someone waits for.
    db.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864");
    if (options.bytesMax === null) return;
    const pages = Math.ceil(options.bytesMax / this.sql.pragma("page_size"));
    db.exec(`PRAGMA max_page_count = ${pages}`);
  }

  /** Waits for other processes with growing pauses, up to the limit. */
  retry<T>(work: () => T): T {
    const until = performance.now() + this.#busyMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, BACKOFF_MS_MAX)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() + pauseMs > until) throw error;
      }
      Atomics.wait(sleeping, 0, 0, pauseMs);
    }
  }

  /** Runs `work` in one transaction. When this returns the work is committed; when it throws nothing of it is. */
  transaction<T>(full: boolean, work: () => T): T {
    this.checkFileThere();
    this.#setSynchronous(full);
    this.retry(() => this.sql.run("BEGIN IMMEDIATE"));
    let result: T;
    try {
      // Another process may have migrated the file since it was opened.
      checkSchemaVersion(this.sql.pragma("user_version"), this.path);
      if (full && this.synchronous() !== SYNC_FULL) {
        throw new LogError("store_failed", "The disk would not be synced; nothing was written");
      }
      result = work();
      this.sql.run("COMMIT");
    } catch (error) {
      if (this.sql.db.isTransaction) this.sql.run("ROLLBACK");
      throw error;
    }
    this.checkFileThere();
    return result;
  }

  /** Prepared anew each time: SQLite answers this one when it compiles the statement. */
  synchronous(): number {
    return Number(this.sql.db.prepare("PRAGMA synchronous").get()?.["synchronous"]);
  }

  #setSynchronous(full: boolean): void {
    if (this.#full === full) return;
    this.sql.db.exec(`PRAGMA synchronous = ${full ? "FULL" : "NORMAL"}`);
    this.#full = full;
  }

  /** An open file can be written to after it was deleted; what goes there is lost, so nobody may be told it is safe. */
  checkFileThere(): void {
    if (identityOf(this.path) === this.#identity) return;
    throw new LogError(
      "store_gone",
      `${this.path} was deleted or replaced while in use; nothing more is written to it`,
      { path: this.path },
    );
  }

  /** Moves the log into the file when it has grown; readers may keep it from finishing, which is no harm. */
  checkpointIfGrown(): void {
    const state = this.sql.get<[number, number, number]>("PRAGMA wal_checkpoint(NOOP)");
    if (state === undefined || state[1] - state[2] < CHECKPOINT_FRAMES) return;
    try {
      this.sql.get("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // A full disk, say: the log still holds everything, and the next commit reports what is wrong.
    }
  }

  /** Empties the log, so that erased bytes are in no file; fails with `busy` while someone still reads old pages. */
  emptyLog(): void {
    this.retry(() => {
      if (!this.tryEmptyLog())
        throw Object.assign(new Error("erased, but a reader still holds old pages"), {
          errcode: SQLITE_BUSY,
        });
    });
  }

  tryEmptyLog(): boolean {
    return this.sql.get<[number, number, number]>("PRAGMA wal_checkpoint(TRUNCATE)")?.[0] === 0;
  }

  close(): void {
    this.sql.db.close();
  }
}
