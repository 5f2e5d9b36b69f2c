import type { Disk } from "./disk.ts";

const POLL_MS = 50; // another process's append is seen within this; one stat per watched file costs microseconds

/** What a waiter last knew of the file. */
export interface Known {
  readonly identity: string;
  readonly size: number;
}

/** Waits for files to change: at once for this process's writes, by looking at the file for everyone else's. */
export class Watch {
  readonly #disk: Disk;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  wake(path: string): void {
    for (const wake of this.#waiting.get(path) ?? []) wake();
  }

  /** Resolves when the file is not as known any more, or at the signal. Never keeps the process alive. */
  async changed(path: string, known: Known, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(path) ?? new Set<() => void>();
    this.#waiting.set(path, waiting.add(resolve));
    const poll = setInterval(() => {
      this.#disk.stat(path).then(
        (stat) => (stat?.identity === known.identity && stat.size === known.size ? undefined : resolve()),
        resolve, // what went wrong is said to the one who looks next
      );
    }, POLL_MS);
    poll.unref();
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearInterval(poll);
    waiting.delete(resolve);
    if (waiting.size === 0 && this.#waiting.get(path) === waiting) this.#waiting.delete(path);
  }
}
