import { DatabaseSync } from "node:sqlite";
import { LogError } from "../../../log/errors.ts";
import type { WriterOptions } from "../commands.ts";
import { isBusy, SQLITE_BUSY } from "../errors.ts";
import { checkFile, createSchema, identityOf } from "../files.ts";
import { checkSchemaVersion, SCHEMA_VERSION } from "../tables/schema.ts";
import { Sql } from "../tables/sql.ts";
import { LogRoom } from "./log-room.ts";

const SYNC_FULL = 2;
const BACKOFF_MS_MAX = 20;
const CHECKPOINT_FRAMES = 8_000; // 32 MB of log: hot pages go to the file once, not after every few turns
const RESTART_FRAMES = 3 * CHECKPOINT_FRAMES;
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
  #room: LogRoom | null = null;

  constructor(options: WriterOptions, onOthersWrote: () => void = () => undefined) {
    this.#onOthersWrote = onOthersWrote;
    this.path = options.path;
    this.#busyMs = options.busyMs;
    this.retry(() => checkFile(options.path));
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
    this.#setSynchronous(full);
    let result: T;
    try {
      this.retry(() => this.sql.run("BEGIN IMMEDIATE"));
      this.#lookForOthers();
      if (full && this.synchronous() !== SYNC_FULL) {
        throw new LogError("store_failed", "The disk would not be synced; nothing was written");
      }
      result = work();
      // A folder that was moved away may come back: what is refused must not be in it.
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
  #lookForOthers(): void {
    const found = this.sql.pragma("data_version");
    if (found === this.#dataVersion) return;
    checkSchemaVersion(this.sql.pragma("user_version"), this.path);
    this.#onOthersWrote();
    this.#dataVersion = found;
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

  /** Moves the log into the file when it has grown, and says so; readers may keep it from finishing, which is no harm. */
  checkpointIfGrown(): boolean {
    try {
      const { frames, moved } = this.#log();
      if (frames - moved < CHECKPOINT_FRAMES) return false;
      // Others who write meanwhile keep the log from ever being moved whole; at some length they have to wait for it.
      this.sql.get(`PRAGMA wal_checkpoint(${frames < RESTART_FRAMES ? "PASSIVE" : "RESTART"})`);
    } catch {
      // A full disk, say: the log still holds everything, and the next commit reports what is wrong.
    }
    return true;
  }

  /** Sees to it that the next commits find room in the log. */
  makeRoom(): void {
    try {
      this.#room ??= this.#openRoom();
      if (!this.#room.isShort(this.#log().frames)) return;
      this.sql.run("BEGIN IMMEDIATE");
      try {
        this.#room.grow();
      } finally {
        this.sql.run("ROLLBACK");
      }
    } catch {
      // Another process writes, or the disk is full: commits do without.
    }
  }

  #log(): { readonly frames: number; readonly moved: number } {
    const [, frames = 0, moved = 0] = this.sql.get<number[]>("PRAGMA wal_checkpoint(NOOP)") ?? [];
    return { frames, moved };
  }

  #openRoom(): LogRoom {
    this.checkFileThere();
    const pageBytes = this.sql.pragma("page_size");
    return new LogRoom({ path: this.path, pageBytes, framesMax: CHECKPOINT_FRAMES });
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

  close(): void {
    this.#room?.[Symbol.dispose]();
    this.#room = null; // its number may soon be another file's
    this.sql.db.close();
  }
}
