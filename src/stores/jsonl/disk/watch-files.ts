import { dirname, join } from "node:path";
import { TailWaiters } from "#store/tail-feeds";
import type { Disk } from "./disk.ts";

const POLL_MS = 50;
const STATS_PER_POLL = 16; // where the system tells nothing: so many files are seen within one poll
// Where it does, a network disk may still keep to itself what other machines write: a slow look, once a second at most.
const HEARD_STATS_PER_POLL = 5;
const ROUND_POLLS = 20;

/** What a waiter last knew of the file. */
export interface FileVersion {
  readonly identity: string;
  readonly size: number;
}

/**
 * Waits for files to change: at once for this process's writes, by what the system tells of a folder for everyone
 * else's, and by a look at a few files at a time for what it does not tell.
 */
export class Watch {
  readonly #disk: Disk;
  readonly #waiters: TailWaiters<FileVersion>;
  readonly #folders = new Map<string, Disposable | null>();
  /** The files that are looked at in turn, and how many have been. */
  #round: readonly string[] = [];
  #looked: number = 0;
  #polls: number = 0;

  constructor(disk: Disk) {
    this.#disk = disk;
    this.#waiters = new TailWaiters({ everyMs: POLL_MS, look: () => this.#look(), rest: () => this.#rest() });
  }

  get closed(): boolean {
    return this.#waiters.closed;
  }

  wake(path: string): void {
    this.#waiters.wake(path);
  }

  /** Resolves when the file is not as known any more, at the signal, or at the end. */
  async changed(path: string, version: FileVersion, signal: AbortSignal | undefined): Promise<void> {
    const woken = this.#waiters.wait(path, version, signal);
    if (!this.closed) this.#listen(dirname(path));
    // Writes after the last read and before the wait began cause no event.
    await this.#check(path);
    await woken;
  }

  #listen(folder: string): void {
    if (this.#folders.has(folder)) return;
    const watch = this.#disk.watch?.(folder, (name) => {
      if (name === null) this.#unheard(folder);
      else if (!this.#isIdle(join(folder, name))) void this.#check(join(folder, name));
    });
    this.#folders.set(folder, watch ?? null);
  }

  #isIdle(path: string): boolean {
    for (const _ of this.#waiters.of(path)) return false;
    return true;
  }

  /** The system has stopped telling, so from here on it is looked at. */
  #unheard(folder: string): void {
    this.#folders.get(folder)?.[Symbol.dispose]();
    this.#folders.set(folder, null);
  }

  async #check(path: string): Promise<void> {
    try {
      const stat = await this.#disk.stat(path);
      for (const { position: version, wake } of this.#waiters.of(path))
        if (stat?.identity !== version.identity || stat.size !== version.size) wake();
    } catch {
      this.#waiters.wake(path); // what went wrong is said to the one who reads next
    }
  }

  #look(): void {
    const unheard = [...this.#folders.values()].some((watch) => watch === null);
    if (this.#looked >= this.#round.length) {
      if (!unheard && ++this.#polls < ROUND_POLLS) return;
      this.#polls = 0;
      this.#round = this.#waiters.names();
      this.#looked = 0;
    }
    const until = Math.min(
      this.#looked + (unheard ? STATS_PER_POLL : HEARD_STATS_PER_POLL),
      this.#round.length,
    );
    for (const path of this.#round.slice(this.#looked, until))
      if (!this.#isIdle(path)) void this.#check(path);
    this.#looked = until;
  }

  #rest(): void {
    for (const watch of this.#folders.values()) watch?.[Symbol.dispose]();
    this.#folders.clear();
    this.#round = [];
    this.#looked = 0;
  }

  close(): void {
    this.#waiters.close();
    this.#rest();
  }
}
