import type { TurnHolder } from "#log/entry";
import { type Clock, idleClock, systemClock } from "#conversation/clock";
import { LogError } from "#log/errors";
import { checkNumbers, withDefaults } from "#log/with-defaults";

/** How much is held. */
export interface PoolUse extends PoolWeight {
  readonly conversations: number;
  /** How many of them are in use. */
  readonly inUse: number;
}

/** A held thing as the pool accounts for it. */
export interface PoolItem extends SessionFacts {
  weight: PoolWeight;
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
  used(item: PoolItem, weight: PoolWeight): void {
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

/** The most that is held while nobody uses it. */
export interface PoolLimits {
  readonly conversations: number;
  readonly messages: number;
  /** Processes of agents and MCP servers. */
  readonly processes: number;
  /** For how long. */
  readonly idleMs: number;
}

export interface PoolOptions extends Partial<PoolLimits> {
  /**
   * `live`: what is held stays until the host lets it go. `rebuild`: nothing is held after a call. `hybrid`: what is used
   * stays within the limits, the rest is made anew from the log; so unless told. Limits count in `hybrid` alone, and may be given
   * in every mode: a host that chooses the mode by its environment need not choose the other options with it.
   */
  readonly mode?: "live" | "rebuild" | "hybrid";
  /**
   * Where this host is reached, in words of its own choosing. Written with the start of every turn, so that a router can
   * send here what follows; a hint, nothing rests on it.
   */
  readonly address?: string;
  readonly clock?: Clock;
}

interface SettledPool {
  readonly limits: PoolLimits;
  readonly address: string | null;
  readonly clock: Clock;
}

const NONE = Number.POSITIVE_INFINITY;
const LIVE: PoolLimits = { conversations: NONE, messages: NONE, processes: NONE, idleMs: NONE };
const REBUILD: PoolLimits = { ...LIVE, conversations: 0 };
const HYBRID: PoolLimits = { conversations: 256, messages: 100_000, processes: 32, idleMs: 900_000 };
const ADDRESS_CHARS_MAX = 1_024;

/** Time that does not keep a process alive which has nothing else to do. */
const ownClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => idleClock.sleep(ms, signal),
};

/** Says what the caller got wrong before anything is held. */
function settlePool(options: PoolOptions): SettledPool {
  const { mode = "hybrid", address = null, clock = ownClock } = options;
  if (mode !== "hybrid" && mode !== "live" && mode !== "rebuild")
    throw wrong("mode", "must be live, rebuild or hybrid");
  checkNumbers(options, { conversations: "limit", messages: "limit", processes: "limit", idleMs: "limit" });
  if (
    address !== null &&
    (typeof address !== "string" || address === "" || address.length > ADDRESS_CHARS_MAX)
  )
    throw wrong("address", `must be a string of 1 to ${ADDRESS_CHARS_MAX} characters`);
  const { conversations, messages, processes, idleMs } = withDefaults(HYBRID, options);
  const hybrid: PoolLimits = { conversations, messages, processes, idleMs };
  const limits = mode === "live" ? LIVE : mode === "rebuild" ? REBUILD : hybrid;
  return { limits, address, clock };
}

function wrong(name: string, why: string): LogError {
  return new LogError("invalid_request", `${name} ${why}`, { name });
}

/** What a held thing costs. */
export interface PoolWeight {
  readonly messages: number;
  readonly processes: number;
}

/** What the rule knows of a held thing. */
interface SessionFacts {
  readonly weight: PoolWeight;
  /** When it was last used. */
  readonly usedAtMs: number;
  /** It is in use, and stays. */
  readonly inUse: boolean;
}

type Totals = PoolWeight & { readonly conversations: number };

/**
 * What goes, of things that come least recently used first: whatever nobody used for too long, then, as long as a limit is
 * passed, the least recently used of those that count towards it. What is in use counts and stays.
 */
export function chooseEvicted<T extends SessionFacts>(
  items: readonly T[],
  limits: PoolLimits,
  atMs: number,
): readonly T[] {
  const gone = new Set(items.filter((one) => isIdle(one, limits, atMs)));
  for (const [limit, countsFor] of COUNTED) {
    let total = 0;
    for (const one of items) if (!gone.has(one)) total += countsFor(one.weight);
    for (const one of items) {
      if (total <= limits[limit]) break;
      if (one.inUse || gone.has(one) || countsFor(one.weight) === 0) continue;
      gone.add(one);
      total -= countsFor(one.weight);
    }
  }
  return items.filter((one) => gone.has(one));
}

const COUNTED: readonly (readonly [keyof Totals, (weight: PoolWeight) => number])[] = [
  ["conversations", () => 1],
  ["messages", ({ messages }) => messages],
  ["processes", ({ processes }) => processes],
];

function isIdle({ inUse, usedAtMs }: SessionFacts, { idleMs }: PoolLimits, atMs: number): boolean {
  return !inUse && atMs - usedAtMs >= idleMs;
}

function isWithin(totals: Totals, limits: PoolLimits): boolean {
  return COUNTED.every(([limit]) => totals[limit] <= limits[limit]);
}
