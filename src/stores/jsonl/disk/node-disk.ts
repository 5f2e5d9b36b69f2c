import { type BigIntStats, closeSync, linkSync, openSync, statSync, unlinkSync, watch } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import type { Disk, DiskFile, DiskLock, FileStat } from "./disk.ts";
import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

const FILE_MODE = 0o600; // conversations hold secrets: their owner alone reads them
const FOLDER_MODE = 0o700;
const FLAGS = { read: "r", write: "r+", create: "wx+" } as const;

/** The disk of this machine. */
export const nodeDisk: Disk = {
  async stat(path) {
    try {
      return statOf(await stat(path, { bigint: true }));
    } catch (error) {
      if (isCode(error, "ENOENT", "ENOTDIR")) return null;
      throw error;
    }
  },
  async open(path, mode) {
    return new NodeFile(await open(path, FLAGS[mode], FILE_MODE));
  },
  async link(from, to) {
    try {
      await link(from, to);
      return true;
    } catch (error) {
      if (isCode(error, "EEXIST")) return false;
      throw error;
    }
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { force: true }),
  async removeFolder(path) {
    try {
      await rmdir(path);
    } catch (error) {
      if (!isCode(error, "ENOENT")) throw error;
    }
  },
  async list(path) {
    try {
      return await readdir(path);
    } catch (error) {
      if (isCode(error, "ENOENT", "ENOTDIR")) return [];
      throw error;
    }
  },
  async makeFolder(path) {
    await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  },
  async syncFolder(path) {
    await using folder = await open(path, "r");
    await folder.sync();
  },
  watch(folder, tell) {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => tell(name));
      watcher.on("error", () => tell(null));
      return { [Symbol.dispose]: () => watcher.close() };
    } catch {
      return null; // too many are watched already, or this system has no such thing
    }
  },
  async lock(path) {
    return lockFile(path);
  },
};

class NodeFile implements DiskFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async stat(): Promise<FileStat> {
    return statOf(await this.#handle.stat({ bigint: true }));
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(length);
    let got = 0;
    while (got < length) {
      const { bytesRead } = await this.#handle.read(bytes, got, length - got, offset + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return bytes.subarray(0, got);
  }

  async write(bytes: Uint8Array, offset: number): Promise<void> {
    let put = 0;
    while (put < bytes.length)
      put += (await this.#handle.write(bytes, put, bytes.length - put, offset + put)).bytesWritten;
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size);
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function statOf(stats: BigIntStats): FileStat {
  return {
    identity: `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`,
    size: Number(stats.size),
    modifiedMs: Number(stats.mtimeMs),
  };
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

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
function lockFile(path: string): DiskLock | null {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const before = identityOf(path) ?? makeLockFile(path);
    const database = openQuietly(path);
    if (!begin(database)) return null;
    // An erase removes the lock file with everything else. A process that locked the removed one starts over.
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
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file && `${file.dev}:${file.ino}:${file.birthtimeNs}`;
}

function errcodeOf(error: unknown): unknown {
  return error instanceof Error && "errcode" in error ? error.errcode : undefined;
}

/** SQLite's answers in the words of the system, which the store already understands. */
function asSystemError(error: unknown): unknown {
  const errcode = errcodeOf(error);
  if (errcode === SQLITE_FULL)
    return Object.assign(new Error("the disk has no space for the lock file", { cause: error }), {
      code: "ENOSPC",
    });
  if (errcode === SQLITE_READONLY)
    return Object.assign(new Error("the lock file is read-only", { cause: error }), { code: "EROFS" });
  if (errcode === SQLITE_CANTOPEN)
    return Object.assign(new Error("the lock file cannot be opened", { cause: error }), { code: "EACCES" });
  return Object.assign(new Error("the lock file cannot be locked", { cause: error }), { code: "EIO" });
}
