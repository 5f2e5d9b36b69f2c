import type { Clock } from "#conversation/clock";
import { siteOf } from "./client-address.ts";
import { Refusal } from "./failures.ts";

interface Bucket {
  tokens: number;
  atMs: number;
}

export interface RateLimits {
  /** Requests a second that one token may make for good, and how many at once. */
  readonly perSecond: number;
  readonly burst: number;
}

const BUCKETS_MAX = 10_000;

/** So many requests for each token: one that asks too often does not slow the others down. */
export class RateLimit {
  readonly #limits: RateLimits;
  readonly #clock: Pick<Clock, "steadyMs">;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: RateLimits, clock: Pick<Clock, "steadyMs">) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** `by` says in an error what is asked too often. */
  check(name: string, by: string = "with this token"): void {
    const { perSecond, burst } = this.#limits;
    const atMs = this.#clock.steadyMs();
    const bucket = this.#buckets.get(name) ?? { tokens: burst, atMs };
    const tokens = Math.min(burst, bucket.tokens + ((atMs - bucket.atMs) / 1_000) * perSecond);
    const isAllowed = tokens >= 1;
    this.#buckets.delete(name);
    this.#buckets.set(name, { tokens: isAllowed ? tokens - 1 : tokens, atMs });
    // The one that was asked with longest ago is full again by now, or nobody has it any more.
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > BUCKETS_MAX && oldest !== undefined) this.#buckets.delete(oldest);
    if (isAllowed) return;
    const seconds = Math.max(1, Math.ceil((1 - tokens) / perSecond));
    throw new Refusal("too_many", `More than ${perSecond} requests per second ${by}`, {
      headers: { "retry-after": String(seconds) },
    });
  }
}

/** So many requests for each address and purpose, where no token is known. Those without an address share one measure. */
export class SiteRates {
  readonly #rates: RateLimit;

  constructor(limits: RateLimits, clock: Pick<Clock, "steadyMs">) {
    this.#rates = new RateLimit(limits, clock);
  }

  check(address: string | null, purpose: string): void {
    this.#rates.check(`${address === null ? "" : siteOf(address)} ${purpose}`, purpose);
  }
}
