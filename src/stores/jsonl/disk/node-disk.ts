import { type BigIntStats, watch } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import type { Disk, DiskFile, FileStat } from "./disk.ts";
import { lockFile } from "./sqlite-lock.ts";

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

  async read(at: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(length);
    let got = 0;
    while (got < length) {
      const { bytesRead } = await this.#handle.read(bytes, got, length - got, at + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return bytes.subarray(0, got);
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    let put = 0;
    while (put < bytes.length)
      put += (await this.#handle.write(bytes, put, bytes.length - put, at + put)).bytesWritten;
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
