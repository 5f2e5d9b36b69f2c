import type { StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { Head } from "#log/lineage/head";
import type { ConversationId } from "#log/ids";
import { type Disk, type DiskFile, type FileIdentity, onDisk } from "#stores/jsonl/disk/disk";
import { type LogLocation, logPath, tornName } from "#stores/jsonl/file-names";
import { wasSynced } from "./diagnose.ts";
import { type CommitFields, encodeBatch } from "./framing.ts";
import {
  type Cursor,
  FILE_START,
  scanBatches,
  type ScannedBatch,
  type Stop,
  scanRest,
  type Stretch,
} from "./scan-batches.ts";
import { join } from "node:path";
import { CHUNK_BYTES } from "./file-lines.ts";

const SCANS_MAX = 3; // damage must be seen the same twice: a repair by another process may run under a reader
const UNSYNCED_BYTES_MAX = 1_048_576; // bounds what a power cut can take of relaxed batches, and what a list reads back

/** Receives what the file holds. */
export interface LogReader {
  /** A whole batch, each once and in order. Throwing a LogError says that it makes no sense in this log. */
  add(batch: ScannedBatch): void;
  /** The file cannot be read further; after this point only these batches are whole. */
  damaged(damage: FileDamage): void;
}

export interface FileDamage {
  readonly position: number;
  readonly reason: string;
  readonly rest: readonly Stretch[];
}

export interface Written {
  readonly offset: number;
  /** How long each entry's line is, its line break not counted. */
  readonly lengths: readonly number[];
}

/** The bytes of one conversation: how far they are taken in, and the one way to add to them. */
export class LogFile {
  readonly identity: FileIdentity;
  readonly #location: LogLocation;
  readonly #reader: LogReader;
  #cursor: Cursor = FILE_START;
  #synced: number = 0;
  /** The end of the bytes that were read and not written here: their writer may not have synced them. */
  #foreign: number = 0;
  #seenSize: number = 0;
  /** A batch that makes no sense in this log: nothing after it is handed over. */
  #misfit: Stop | null = null;
  #damaged: boolean = false;
  /** Scans and writes, one after the other: both move the cursor. */
  #queue: Promise<unknown> = Promise.resolve();
  #waiting: Promise<boolean> | null = null;
  #writing: boolean = false;

  constructor(location: LogLocation, identity: FileIdentity, reader: LogReader) {
    this.#location = location;
    this.identity = identity;
    this.#reader = reader;
  }

  /** Where the last whole batch ends. */
  get end(): number {
    return this.#cursor.offset;
  }

  /** The size when the file was last looked at; more than `end` when an unfinished batch follows. */
  get seenSize(): number {
    return this.#seenSize;
  }

  /** Reads what was appended since; false when the file is gone or was replaced. */
  refresh(): Promise<boolean> {
    // This process holds the lock while it writes, so no other process can have appended.
    if (this.#writing) return Promise.resolve(true);
    this.#waiting ??= this.#next(() => {
      this.#waiting = null;
      return this.#readNew();
    });
    return this.#waiting;
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(work);
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #readNew(): Promise<boolean> {
    const { disk } = this.#location;
    const stat = await disk.stat(logPath(this.#location));
    if (stat === null || stat.identity !== this.identity || stat.size < this.end) return false;
    this.#seenSize = stat.size;
    if ((stat.size === this.end && this.end > 0) || this.#damaged) return true;
    await using file = await disk.open(logPath(this.#location), "read");
    let before: Stop | null = null;
    for (let scan = 0; scan < SCANS_MAX; scan++) {
      const { identity, size } = await file.stat();
      if (identity !== this.identity || size < this.end) return false;
      this.#seenSize = size;
      const stop = await scanBatches(file, size, this.#cursor, (batch) => this.#add(batch));
      if (this.#misfit !== null) {
        await this.#giveUp(file, this.#misfit);
        return true;
      }
      if (stop === null) return true;
      // The first batch was on the disk before the file had a name, so it cannot be unfinished.
      if (stop.start > 0 && !(await wasSynced(file, stop.start, size))) return true;
      if (before?.position === stop.position) {
        // An erase writes zeros over the file it has replaced: that is not damage.
        if ((await disk.stat(logPath(this.#location)))?.identity !== this.identity) return false;
        await this.#giveUp(file, stop);
        return true;
      }
      before = stop;
    }
    return true;
  }

  #add(batch: ScannedBatch): void {
    if (this.#misfit !== null) return;
    const { commit, start, end } = batch;
    try {
      this.#reader.add(batch);
    } catch (error) {
      if (!isLogError(error)) throw error;
      this.#misfit = { start, position: start, reason: error.message };
      return;
    }
    // A file gets its name only when its first batch is on the disk.
    this.#synced = Math.max(this.#synced, start === 0 ? end : commit.synced);
    this.#foreign = end;
    this.#cursor = { offset: end, sum: commit.sum, seq: commit.to };
  }

  async #giveUp(file: DiskFile, { position, reason }: Stop): Promise<void> {
    this.#damaged = true;
    const { offset, seq } = this.#cursor;
    const from = { position: this.#misfit === null ? offset : offset + 1, seq };
    this.#reader.damaged({ position, reason, rest: await scanRest(file, this.#seenSize, from) });
  }

  /** Adds one batch: when it fails, nothing of it is there, now or after a restart. */
  async append(
    entries: readonly StoredEntry[],
    commit: Omit<CommitFields, "synced" | "prev">,
    head: Head,
    full: boolean,
  ): Promise<Written> {
    const written = await this.#alone("writing to", async (file) => {
      const offset = this.end;
      if (full && this.#synced < this.#foreign) {
        // Without this, processes that append once each would never say that what they found was on the disk,
        // and damage to it could not be told from a torn tail.
        await file.sync();
        this.#synced = offset;
      }
      const batch = encodeBatch(entries, { ...commit, synced: this.#synced, prev: this.#cursor.sum }, head);
      const end = offset + batch.bytes.length;
      const sync = full || end - this.#synced > UNSYNCED_BYTES_MAX;
      await addBytes(file, batch.bytes, { offset, sync });
      this.#cursor = { offset: end, sum: batch.sum, seq: commit.to };
      this.#seenSize = end;
      if (sync) this.#synced = end;
      return { offset, lengths: batch.lengths };
    });
    this.#location.wake();
    return written;
  }

  /** Sets an unfinished batch aside without adding anything. */
  repair(): Promise<void> {
    return this.#alone("repairing", () => Promise.resolve());
  }

  #alone<T>(doing: string, work: (file: DiskFile) => Promise<T>): Promise<T> {
    const { conversation, disk } = this.#location;
    if (!this.#location.holdsLock()) {
      throw new LogError("busy", `Another process is creating conversation ${conversation}. Try again.`);
    }
    return this.#next(async () => {
      this.#writing = true;
      try {
        return await onDisk(`${doing} conversation ${conversation}`, async () => {
          await using file = await disk.open(logPath(this.#location), "write");
          await this.#clearTail(file);
          return await work(file);
        });
      } finally {
        this.#writing = false;
      }
    });
  }

  /** Sets an unfinished batch aside, so that the next one begins where the last whole one ends. */
  async #clearTail(file: DiskFile): Promise<void> {
    const { identity, size } = await file.stat();
    if (identity !== this.identity || size < this.end) throw fileGone(this.#location.conversation);
    if (size === this.end) return;
    await setAside(this.#location, file, { from: this.end, to: size });
    this.#synced = this.end;
    this.#seenSize = this.end;
  }
}

export function fileGone(conversation: ConversationId): LogError {
  return new LogError(
    "store_gone",
    `Another program removed, replaced or truncated the file of conversation ${conversation}`,
    { conversation },
  );
}

/** All of the bytes or none: what a failed write left is cut off again, so the next one cannot fuse with it. */
async function addBytes(
  file: DiskFile,
  bytes: Uint8Array,
  options: { readonly offset: number; readonly sync: boolean },
): Promise<void> {
  try {
    await file.write(bytes, options.offset);
    if (options.sync) await file.sync();
  } catch (error) {
    // Failing that, the bytes have no commit or are not acknowledged; the next writer sets them aside.
    await file.truncate(options.offset).catch(() => undefined);
    throw error;
  }
}

const COPIES_MAX = 1_000; // a repair cut off between copy and cut leaves a copy; that never happens this often

/**
 * Moves the bytes of an unfinished batch into a file of their own. They are safe there before they leave the log,
 * and the log is cut, and the cut on the disk, before anything is written in their place.
 */
async function setAside(
  location: LogLocation,
  file: DiskFile,
  range: { readonly from: number; readonly to: number },
): Promise<void> {
  const { disk, folder } = location;
  await using torn = await openNew(disk, (copy) =>
    join(folder, tornName(location.conversation, range.from, copy)),
  );
  for (let offset = range.from; offset < range.to; offset += CHUNK_BYTES) {
    await torn.write(await file.read(offset, Math.min(CHUNK_BYTES, range.to - offset)), offset - range.from);
  }
  await torn.sync();
  await disk.syncFolder(folder);
  await file.truncate(range.from);
  await file.sync();
}

async function openNew(disk: Disk, pathOf: (copy: number) => string): Promise<DiskFile> {
  for (let copy = 0; ; copy++) {
    if (copy < COPIES_MAX && (await disk.stat(pathOf(copy))) !== null) continue;
    return disk.open(pathOf(copy), "create");
  }
}
