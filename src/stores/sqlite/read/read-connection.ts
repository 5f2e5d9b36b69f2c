import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { isLogError } from "#log/errors";
import { isBusy, storeClosed, toLogError } from "#stores/sqlite/sqlite-errors";
import { checkFile, realFile, walBytes } from "#stores/sqlite/files";
import {
  migratedCopy,
  checkSchemaVersion,
  SCHEMA_VERSION,
  schemaVersionOf,
} from "#stores/sqlite/tables/schema";
import { Reader } from "./reader.ts";

const RETRIES_MAX = 50; // of a millisecond and more: another process is just opening or closing the file

/** The connection that reads, in the thread that asks. */
export class ReadConnection {
  readonly #path: string;
  readonly #readOnly: boolean;
  #reader: Reader | null = null;
  #stamp: string | null = null;
  #opened: number = 0;
  #closed: boolean = false;

  constructor(path: string, readOnly: boolean) {
    this.#path = realFile(path);
    this.#readOnly = readOnly;
    checkFile(this.#path);
    this.#open();
  }

  #open(): Reader {
    this.#reader?.close();
    this.#reader = null; // opening may fail while another process opens or closes the file; then it is tried again
    this.#stamp = this.#readOnly && walBytes(this.#path) === 0 ? this.#stampOf() : null;
    // Opening a file without a log for reading would make one; as an immutable file it is left as it is.
    const url = this.#stamp === null ? this.#path : new URL(`${pathToFileURL(this.#path).href}?immutable=1`);
    const db = this.#connect(url);
    this.#reader = new Reader(db);
    this.#opened++;
    return this.#reader;
  }

  #connect(url: string | URL): DatabaseSync {
    const db = new DatabaseSync(url, { readOnly: true, timeout: 0 });
    try {
      db.exec("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384");
      if (!this.#readOnly || schemaVersionOf(db) >= SCHEMA_VERSION) return db;
      this.#stamp ??= this.#stampOf();
      const copy = migratedCopy(String(url));
      db.close();
      return copy;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** How an unopened file looks from outside; any writer changes it before or while it writes. */
  #stampOf(): string {
    const { mtimeMs, size, ino } = statSync(this.#path);
    return `${ino} ${size} ${mtimeMs} ${walBytes(this.#path)}`;
  }

  /** Answers without blocking while another process opens or closes the file. */
  async read<T>(work: (reader: Reader) => T, readLive: ReadLive = eachByItself): Promise<T> {
    for (let retries = 0; ; retries++) {
      try {
        return this.#readOnce(work, readLive);
      } catch (error) {
        if (!isBusy(error) || retries >= RETRIES_MAX) throw this.#explain(error);
      }
      await new Promise((done) => setTimeout(done, 1 + retries));
    }
  }

  /** The same of one moment, whatever is committed meanwhile. */
  readSnapshot<T>(work: (reader: Reader) => T): Promise<T> {
    return this.read(work, asOfOneMoment);
  }

  #readOnce<T>(work: (reader: Reader) => T, readLive: ReadLive = eachByItself): T {
    if (this.#closed) throw storeClosed(this.#path);
    const reader = this.#reader ?? this.#open();
    return this.#stamp === null ? readLive(reader, work) : this.#readStill(work, readLive);
  }

  /** Reads a file that no process has open; if one opens it meanwhile, the result is discarded. */
  #readStill<T>(work: (reader: Reader) => T, readLive: ReadLive): T {
    const before = this.#stampOf();
    const reader = before === this.#stamp && this.#reader !== null ? this.#reader : this.#open();
    if (this.#stamp === null) return readLive(reader, work);
    try {
      const result = work(reader);
      if (this.#stampOf() === this.#stamp) return result;
    } catch (error) {
      if (this.#stampOf() === this.#stamp) throw error;
    }
    return this.#readStill(work, readLive);
  }

  /** A file that another process migrated fails in odd ways; name the cause. */
  #explain(error: unknown): Error {
    const failed = toLogError(error, this.#path);
    if (failed.code === "store_failed" && this.#reader !== null && !this.#closed) {
      checkSchemaVersion(this.#reader.sql.pragma("user_version"), this.#path);
    }
    return failed;
  }

  /** An older version wrote the file, so it must be migrated before it is used. */
  isOutdated(): boolean {
    return this.#readOnce((reader) => schemaVersionOf(reader.sql.db)) < SCHEMA_VERSION;
  }

  /** Answers at once, and fails at once while another process opens or closes the file. */
  now<T>(work: (reader: Reader) => T): T {
    return this.#readOnce(work);
  }

  /** Differs from before when someone else has committed. */
  version(): string {
    const version = this.now((reader) => reader.sql.pragma("data_version"));
    return `${this.#opened} ${version}`;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#reader?.close();
  }
}

/** How a file that others may write to is asked. */
type ReadLive = <T>(reader: Reader, work: (reader: Reader) => T) => T;

/**
 * An answer takes several statements, and entries never change, so each may look by itself. Only an erase in between
 * can make them disagree, which looks like damage: then all of them are asked again about one moment.
 */
function eachByItself<T>(reader: Reader, work: (reader: Reader) => T): T {
  try {
    return work(reader);
  } catch (error) {
    if (!isLogError(error, "damaged")) throw error;
  }
  return asOfOneMoment(reader, work);
}

function asOfOneMoment<T>(reader: Reader, work: (reader: Reader) => T): T {
  reader.sql.run("BEGIN");
  try {
    return work(reader);
  } finally {
    reader.sql.run("COMMIT");
  }
}
