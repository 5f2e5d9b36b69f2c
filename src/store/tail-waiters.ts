const HOLD_MS = 2_147_483_647; // the longest a timer can be set for: it holds the process open and does nothing

/** How a store finds out what it is not told: a look now and then, while somebody waits. */
export interface Look {
  readonly everyMs: number;
  look(): void;
  /** Nobody waits any more. */
  rest(): void;
}

export interface Waiter<EntryPosition> {
  /** What the one who waits has seen of the conversation. */
  readonly position: EntryPosition;
  readonly wake: () => void;
}

const NO_LOOK: Look = { everyMs: HOLD_MS, look: () => undefined, rest: () => undefined };

/** The tails of a store that wait for their conversations to grow. One timer serves all of them and keeps the process alive. */
export class TailWaiters<EntryPosition> {
  readonly #byName = new Map<string, Set<Waiter<EntryPosition>>>();
  readonly #look: Look;
  #timer: NodeJS.Timeout | null = null;
  #closed: boolean = false;

  constructor(look: Look = NO_LOOK) {
    this.#look = look;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The conversations somebody waits for. */
  names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  of(name: string): Iterable<Waiter<EntryPosition>> {
    return this.#byName.get(name) ?? [];
  }

  /** Resolves when the conversation may have changed, at the signal, or when the store is closed. */
  async wait(name: string, position: EntryPosition, signal: AbortSignal | undefined): Promise<void> {
    if (this.#closed || signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { position, wake: (): void => resolve() };
    this.#add(name, waiter);
    signal?.addEventListener("abort", waiter.wake, { once: true });
    await promise;
    signal?.removeEventListener("abort", waiter.wake);
    this.#remove(name, waiter);
  }

  #add(name: string, waiter: Waiter<EntryPosition>): void {
    const waiting = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, waiting.add(waiter));
    this.#timer ??= setInterval(() => this.#tick(), this.#look.everyMs);
    this.#timer.ref();
  }

  #remove(name: string, waiter: Waiter<EntryPosition>): void {
    const waiting = this.#byName.get(name);
    waiting?.delete(waiter);
    if (waiting?.size === 0) this.#byName.delete(name);
    // It stops at its next tick: most who are woken wait again at once.
    if (this.#byName.size === 0) this.#timer?.unref();
  }

  #tick(): void {
    if (this.#byName.size === 0) this.#stop();
    else this.#look.look();
  }

  #stop(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#look.rest();
  }

  wake(name: string): void {
    for (const { wake } of this.of(name)) wake();
  }

  wakeAll(): void {
    for (const name of this.#byName.keys()) this.wake(name);
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    this.wakeAll();
  }
}
