import { LogError } from "#log/errors";
import { type Disk, type DiskLock, onDisk } from "./disk.ts";

export const LOCK_WAIT_MS = 3_000; // many appends' worth of slow fsyncs; longer means that something is stuck
const RETRY_MS_MAX = 16; // a lock is held for one append, so looking often is right

/** Keeps writers apart: those of this store in a line, those of other processes by a lock of the system's. */
export class Locks {
  readonly #disk: Disk;
  readonly #waitMs: number;
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #paths = new Set<string>();

  constructor(disk: Disk, waitMs: number) {
    this.#disk = disk;
    this.#waitMs = waitMs;
  }

  holds(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Runs the work alone in this store; also alone among processes if `path` is locked by `lockPath`. */
  run<T>(path: string, lockPath: () => Promise<string | null>, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(path) ?? Promise.resolve();
    const run = before.then(() => this.#locked(path, lockPath, work));
    const settled = run.then(
      () => undefined,
      () => undefined,
    );
    this.#queues.set(path, settled);
    void settled.then(() => this.#queues.get(path) === settled && this.#queues.delete(path));
    return run;
  }

  async #locked<T>(path: string, lockPath: () => Promise<string | null>, work: () => Promise<T>): Promise<T> {
    const sidecar = await lockPath();
    if (sidecar === null) return work();
    const lock = await this.#acquire(sidecar);
    this.#paths.add(path);
    try {
      return await work();
    } finally {
      this.#paths.delete(path);
      lock.release();
    }
  }

  async #acquire(lockPath: string): Promise<DiskLock> {
    let waited = 0;
    for (let pause = 1; ; pause = Math.min(pause * 2, RETRY_MS_MAX)) {
      const lock = await onDisk("locking the conversation", () => this.#disk.lock(lockPath));
      if (lock !== null) return lock;
      if (waited >= this.#waitMs) {
        throw new LogError(
          "busy",
          `Another process has held the lock of this conversation for ${this.#waitMs} ms`,
          {
            retryAfterMs: this.#waitMs,
          },
        );
      }
      // A random part, or two writers that wait for each other stay in step.
      const ms = pause * (0.5 + Math.random() / 2);
      await new Promise((resolve) => setTimeout(resolve, ms));
      waited += ms;
    }
  }
}
