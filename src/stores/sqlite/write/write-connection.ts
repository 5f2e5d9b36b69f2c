import { DatabaseSync } from "node:sqlite";
import { LogError } from "#log/errors";
import type { WriterOptions } from "#stores/sqlite/thread/messages";
import { isBusy, SQLITE_BUSY } from "#stores/sqlite/sqlite-errors";
import { checkFile, createSchema, identityOf } from "#stores/sqlite/files";
import { checkSchemaVersion, SCHEMA_VERSION, schemaVersionOf } from "#stores/sqlite/tables/schema";
import { Sql } from "#stores/sqlite/tables/sql";

const SYNC_FULL = 2;
const STATE = "SELECT data_version, synchronous FROM pragma_data_version, pragma_synchronous";
const BACKOFF_MS_MAX = 20;
const CHECKPOINT_FRAMES = 1_000; // SQLite's own default: 4 MB
const RESTART_FRAMES = 4 * CHECKPOINT_FRAMES;
const LOG_BYTES_KEPT = 8_388_608; // a log file that one large write has grown beyond this is shrunk
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** The one connection that writes. It lives in the writer's thread, so it may wait; nothing else ever does. */
export class Connection {
  readonly sql: Sql;
  readonly path: string;
  readonly #busyMs: number;
  readonly #identity: string | null;
  readonly #onOthersWrote: () => void;
  #dataVersion: number | null = null;
  #full: boolean | null = null;
  readonly #sizesLog: boolean;

  constructor(options: WriterOptions, onOthersWrote: () => void = () => undefined) {
    this.#onOthersWrote = onOthersWrote;
    this.path = options.path;
    this.#busyMs = options.busyMs;
    this.retry(() => checkFile(options.path));
    this.sql = new Sql(new DatabaseSync(options.path, { timeout: 0, enableForeignKeyConstraints: false }));
    try {
      this.#sizesLog = canSizeLog(this.sql);
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
      const version = schemaVersionOf(db);
      checkSchemaVersion(version, options.path);
      if (version < SCHEMA_VERSION) createSchema(db);
      db.exec("PRAGMA journal_mode = WAL");
    });
    db.exec("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384");
    // Checkpoints run after the acknowledgement, not inside a commit someone waits for, where SQLite can say when.
    const frames = this.#sizesLog ? 0 : CHECKPOINT_FRAMES;
    db.exec(`PRAGMA wal_autocheckpoint = ${frames}; PRAGMA journal_size_limit = ${LOG_BYTES_KEPT}`);
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
    this.#setSynchronous(full);
    let result: T;
    try {
      this.retry(() => this.sql.run("BEGIN IMMEDIATE"));
      const [version, synchronous] = this.#state();
      this.#lookForOthers(version);
      if (full && synchronous !== SYNC_FULL) {
        throw new LogError("store_failed", "The disk cannot be synced (fsync)");
      }
      result = work();
      // A folder that was moved away may come back: it must not hold a rejected write.
      this.checkFileThere();
      this.sql.run("COMMIT");
    } catch (error) {
      if (this.sql.db.isTransaction) this.sql.run("ROLLBACK");
      this.checkFileThere(); // an odd error of SQLite may come of that
      throw error;
    }
    this.checkFileThere();
    return result;
  }

  /** Another process may have written, or migrated the file, since the last transaction. */
  #lookForOthers(version: number): void {
    if (version === this.#dataVersion) return;
    checkSchemaVersion(this.sql.pragma("user_version"), this.path);
    this.#onOthersWrote();
    this.#dataVersion = version;
  }

  synchronous(): number {
    return this.#state()[1];
  }

  /** As a table function the second is evaluated each time; SQLite answers the plain pragma when it compiles the statement. */
  #state(): readonly [dataVersion: number, synchronous: number] {
    return this.sql.get(STATE) ?? [0, 0];
  }

  #setSynchronous(full: boolean): void {
    if (this.#full === full) return;
    this.sql.db.exec(`PRAGMA synchronous = ${full ? "FULL" : "NORMAL"}`);
    this.#full = full;
  }

  /** An open file can be written to after it was deleted; such writes are lost and must not be acknowledged. */
  checkFileThere(): void {
    if (identityOf(this.path) === this.#identity) return;
    throw new LogError(
      "store_gone",
      `${this.path} was deleted or replaced while in use. This process no longer writes to it.`,
      { path: this.path },
    );
  }

  /** Moves the log into the file when it has grown; readers may keep it from finishing, which does no harm. */
  checkpointIfGrown(): void {
    if (!this.#sizesLog) return;
    try {
      const [, frames = 0, moved = 0] = this.sql.get<number[]>("PRAGMA wal_checkpoint(NOOP)") ?? [];
      if (frames - moved < CHECKPOINT_FRAMES) return;
      // Others who write meanwhile keep the log from ever being moved whole; at some length they have to wait for it.
      this.sql.get(`PRAGMA wal_checkpoint(${frames < RESTART_FRAMES ? "PASSIVE" : "RESTART"})`);
    } catch {
      // A full disk, say: the log still holds everything, and the next commit reports what is wrong.
    }
  }

  /** Empties the log, so that erased bytes are in no file; fails with `busy` while someone still reads old pages. */
  emptyLog(): void {
    this.retry(() => {
      if (!this.tryEmptyLog())
        throw Object.assign(new Error("a reader still holds old pages"), { errcode: SQLITE_BUSY });
    });
  }

  /** Whether the log is empty now; on a full disk, say, it fails. */
  tryEmptyLog(): boolean {
    return this.sql.get<[number, number, number]>("PRAGMA wal_checkpoint(TRUNCATE)")?.[0] === 0;
  }

  /** The file alone is whole afterwards, also while other processes have it open, unless one of them is reading. */
  close(): void {
    try {
      this.tryEmptyLog();
    } catch {
      // A full disk, say: what is in the log stays in the log.
    }
    this.sql.db.close();
  }
}

/** Whether this SQLite says how long its log is without doing anything about it: from 3.51 on. */
function canSizeLog(sql: Sql): boolean {
  const [version = ""] = sql.get<[string]>("SELECT sqlite_version()") ?? [];
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 3 || (major === 3 && minor >= 51);
}
