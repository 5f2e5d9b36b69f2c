import type { TurnHolder } from "#log/entry";
import type { Clock } from "#conversation/clock";
import { chooseEvicted, type HeldFacts, type HeldWeight, isWithin } from "./choose-evicted.ts";
import { type PoolLimits, type PoolOptions, settlePool } from "./pool-options.ts";

/** How much is held. */
export interface PoolUse extends HeldWeight {
  readonly conversations: number;
  /** How many of them are in use. */
  readonly inUse: number;
}

/** A held thing as the pool accounts for it. */
export interface PoolItem extends HeldFacts {
  weight: HeldWeight;
  usedAtMs: number;
  /** Takes it from whoever held it, and begins to let it go. */
  evict(): void;
}

/**
 * What is held of conversations between turns, by whoever holds it: the limits are of all of it together. What is over them
 * goes in the background; nobody waits for it but who needs the same conversation again.
 */
export class Pool implements AsyncDisposable {
  readonly #address: string | null;
  #limits: PoolLimits;
  readonly #clock: Clock;
  /** Least recently used first. */
  readonly #items = new Set<PoolItem>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #closed = new AbortController();
  readonly #total = { conversations: 0, messages: 0, processes: 0 };
  #isWatching: boolean = false;

  constructor(options: PoolOptions = {}) {
    const { limits, address, clock } = settlePool(options);
    this.#address = address;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** What a turn says of who holds its conversation from then on; null where nobody says so, or nothing is held. */
  get holder(): TurnHolder | null {
    const address = this.#address;
    if (address === null || this.#limits.conversations === 0) return null;
    return { address, forMs: Math.min(Math.round(this.#limits.idleMs), HOLDER_MS_MAX) };
  }

  /** How much is held now. */
  use(): PoolUse {
    return { ...this.#total, inUse: [...this.#items].filter(({ inUse }) => inUse).length };
  }

  /** For those who hold things: it is used from now on, or was until now, and costs so much. */
  used(item: PoolItem, weight: HeldWeight): void {
    this.dropped(item);
    item.weight = weight;
    item.usedAtMs = this.#clock.steadyMs();
    this.#items.add(item);
    this.#count(item, 1);
    if (!item.inUse) this.#evict();
  }

  /** The same: it is held no more. */
  dropped(item: PoolItem): void {
    if (this.#items.delete(item)) this.#count(item, -1);
  }

  /** The same: what it occupied is given back when this resolves. */
  leaving(gone: Promise<void>): void {
    this.#leaving.add(gone);
    void gone.then(() => this.#leaving.delete(gone));
  }

  #count({ weight }: PoolItem, sign: 1 | -1): void {
    this.#total.conversations += sign;
    this.#total.messages += sign * weight.messages;
    this.#total.processes += sign * weight.processes;
  }

  /** Holds nothing from here on. What is in use goes when it is used no more. */
  async close(): Promise<void> {
    this.#limits = { ...this.#limits, conversations: 0 };
    this.#closed.abort();
    this.#evict();
    while (this.#leaving.size > 0) await Promise.all(this.#leaving);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #evict(): void {
    const { idleMs } = this.#limits;
    const atMs = this.#clock.steadyMs();
    const next = this.#leastUsed();
    const isDue = next !== null && atMs - next.usedAtMs >= idleMs;
    if (isDue || !isWithin(this.#total, this.#limits))
      for (const item of chooseEvicted([...this.#items], this.#limits, atMs)) item.evict();
    this.#watch();
  }

  #leastUsed(): PoolItem | null {
    for (const item of this.#items) if (!item.inUse) return item;
    return null;
  }

  /** One timer for all: it wakes when the least recently used may go, or has been used since. */
  #watch(): void {
    const next = this.#leastUsed();
    const { idleMs } = this.#limits;
    if (this.#isWatching || next === null || idleMs === Number.POSITIVE_INFINITY) return;
    this.#isWatching = true;
    const forMs = Math.max(0, next.usedAtMs + idleMs - this.#clock.steadyMs());
    void this.#wake(Math.min(forMs, SLEEP_MS_MAX));
  }

  async #wake(afterMs: number): Promise<void> {
    await this.#clock.sleep(afterMs, this.#closed.signal);
    this.#isWatching = false;
    if (!this.#closed.signal.aborted) this.#evict();
  }
}

const HOLDER_MS_MAX = 86_400_000; // who holds things for longer says so again with the next turn
const SLEEP_MS_MAX = 2 ** 31 - 1; // a timer that is told more fires at once

/** A pool that was handed in, or one of one's own. */
export function asPool(pool: Pool | PoolOptions): Pool {
  return pool instanceof Pool ? pool : new Pool(pool);
}
