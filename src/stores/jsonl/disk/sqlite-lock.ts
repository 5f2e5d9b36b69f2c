import { randomBytes } from "node:crypto";
import { closeSync, linkSync, openSync, statSync, unlinkSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { DiskLock } from "./disk.ts";

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const ATTEMPTS_MAX = 8; // each one lost means that an erase removed the lock file in between

/**
 * Locks by an exclusive transaction on an empty SQLite file: Node has no flock, and this lock is the system's,
 * so it ends with the process, also at SIGKILL. It excludes other handles of this process too. Nothing is ever
 * written to the file. Every call returns at once, so the event loop never waits for another writer.
 */
export function lockFile(path: string): DiskLock | null {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const before = identityOf(path) ?? makeLockFile(path);
    const database = openQuietly(path);
    if (!begin(database)) return null;
    // An erase removes the lock file with everything else. Whoever locked the removed one starts over.
    if (before === identityOf(path)) return { release: () => database.close() };
    database.close();
  }
  return null;
}

function begin(database: DatabaseSync): boolean {
  try {
    // Without a journal beside it, so that a full disk does not keep anyone from the lock: what fails is then the write.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    database.close();
    if (errcodeOf(error) === SQLITE_BUSY) return false;
    throw asSystemError(error);
  }
}

function openQuietly(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw asSystemError(error);
  }
}

/** Born under another name: closing a handle of the lock file itself would end this process's locks on it. */
function makeLockFile(path: string): string | undefined {
  const tempFile = `${path}-${randomBytes(6).toString("hex")}`;
  closeSync(openSync(tempFile, "wx", 0o600));
  try {
    linkSync(tempFile, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    unlinkSync(tempFile);
  }
  return identityOf(path);
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`;
}

function errcodeOf(error: unknown): unknown {
  return error instanceof Error && "errcode" in error ? error.errcode : undefined;
}

/** SQLite's answers in the words of the system, which the store already understands. */
function asSystemError(error: unknown): unknown {
  const errcode = errcodeOf(error);
  if (errcode === SQLITE_FULL)
    return Object.assign(new Error("there is no room for the lock", { cause: error }), { code: "ENOSPC" });
  if (errcode === SQLITE_READONLY)
    return Object.assign(new Error("the lock file is read-only", { cause: error }), { code: "EROFS" });
  if (errcode === SQLITE_CANTOPEN)
    return Object.assign(new Error("the lock file cannot be opened", { cause: error }), { code: "EACCES" });
  return Object.assign(new Error("the lock file cannot be used", { cause: error }), { code: "EIO" });
}
