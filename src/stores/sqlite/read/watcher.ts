import type { StoredEntry } from "../../../log/entry.ts";
import type { SpaceId } from "../../../log/ids.ts";
import type { TailRequest } from "../../../store/store.ts";
import type { Reader } from "./reader.ts";

const POLL_MS = 50; // how late a commit of another process may be noticed
const TAIL_ENTRIES_MAX = 256; // a slow reader is given this many at a time; its backlog stays on disk

/** Wakes those who wait for a conversation to grow: at once within the process, by polling for other processes. */
export class Watcher {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #version: () => string;
  #timer: NodeJS.Timeout | null = null;
  #seen: string | null = null;
  #closed: boolean = false;

  constructor(version: () => string) {
    this.#version = version;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when the conversation may have changed, when the signal fires, or at the end. */
  async changed(name: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#closed || signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(wake));
    signal?.addEventListener("abort", wake, { once: true });
    this.#startPolling();
    await promise;
    signal?.removeEventListener("abort", wake);
    waiting.delete(wake);
    if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name);
    if (this.#waiting.size === 0) this.#stopPolling();
  }

  wake(name: string): void {
    for (const wake of this.#waiting.get(name) ?? []) wake();
  }

  #startPolling(): void {
    if (this.#timer !== null) return;
    this.#seen = null; // what was committed before the timer started counts as new: waking once too often is no harm
    this.#timer = setInterval(() => this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  #stopPolling(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #poll(): void {
    let version: string | null;
    try {
      version = this.#version();
    } catch {
      version = null; // whoever waits finds out what is wrong by reading
    }
    if (version === this.#seen && version !== null) return;
    this.#seen = version;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const waiting of this.#waiting.values()) for (const wake of waiting) wake();
  }

  close(): void {
    this.#closed = true;
    this.#stopPolling();
    this.#wakeAll();
  }
}

export function tailName(space: string, conversation: string): string {
  return `${space} ${conversation}`;
}

/** Own entries after a seq, as they are committed, until the signal or the end of the store. */
export async function* tailEntries(
  read: <T>(work: (reader: Reader) => T) => Promise<T>,
  watcher: Watcher,
  space: SpaceId,
  request: TailRequest,
): AsyncGenerator<StoredEntry> {
  const { conversation, signal } = request;
  let { after } = request;
  const ended = (): boolean => watcher.closed || signal?.aborted === true;
  while (!ended()) {
    const batch = await read((reader) =>
      reader.read(space, { conversation, after, limit: TAIL_ENTRIES_MAX }),
    );
    for (const stored of batch) {
      if (ended()) return;
      after = stored.seq;
      yield stored;
    }
    if (batch.length === 0) await watcher.changed(tailName(space, conversation), signal);
  }
}
