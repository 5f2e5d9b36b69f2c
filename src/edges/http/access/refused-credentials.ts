import { siteOf } from "#edges/http/guard/client-address";
import type { AuditAct } from "./audit-log.ts";
import { SERVER_SPACE } from "./grant.ts";

const MINUTE_MS = 60_000;
const ADDRESSES_MAX = 20;

/** Credentials that were refused, by minute and address: however many come, they make a few lines a minute. */
export class RefusedCredentials {
  readonly #counts = new Map<string | null, AuditAct & { count: number }>();
  #minute = 0;

  /** Counts one. Gives the lines of the minute before, once that is over. */
  count(outcome: string, address: string | null, nowMs: number): readonly AuditAct[] {
    const minute = Math.floor(nowMs / MINUTE_MS);
    const ended = minute === this.#minute ? [] : this.empty();
    this.#minute = minute;
    const site = address === null ? null : siteOf(address);
    // The rest share a line without an address.
    const key = this.#counts.has(site) || this.#counts.size < ADDRESSES_MAX ? site : null;
    const known = this.#counts.get(key);
    const time = new Date(nowMs).toISOString();
    const line = { token: null, space: SERVER_SPACE, operation: "authenticate", outcome, address: key, time };
    this.#counts.set(key, { ...(known ?? line), time, count: (known?.count ?? 0) + 1 });
    return ended;
  }

  /** Gives the lines of the minute that is counted now, and counts anew. */
  empty(): readonly AuditAct[] {
    const lines = [...this.#counts.values()];
    this.#counts.clear();
    return lines;
  }
}
