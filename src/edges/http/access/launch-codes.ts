import type { Clock } from "#conversation/clock";
import { type Grant, hashOf, newSecret } from "./grant.ts";
import type { StoredLinks } from "./stored-links.ts";

const CODE_MS = 300_000;
const SESSION_MS = 86_400_000;
const SESSIONS_MAX = 1_000;

/** Something a browser is let in by, known by its hash. */
interface KeptGrant {
  readonly hash: string;
  readonly grant: Grant;
  readonly untilMs: number;
  /** Of a code: the page it opens. */
  readonly to?: string;
}

/** The same in the process that made it: its end by a clock that is never set. */
type LiveGrant = Omit<KeptGrant, "untilMs"> & { readonly endMs: number };

/** What browsers are let in by, without any secret: for a server that takes the place of one that died. */
export interface KeptAccess {
  readonly codes: readonly KeptGrant[];
  readonly sessions: readonly KeptGrant[];
}

/** Keeps for whoever starts the server again what browsers were let in by. */
export interface AccessKeeper {
  /** Of the server before; null where there was none. */
  readonly known: KeptAccess | null;
  keep(access: KeptAccess): void;
}

/** One-time codes that a browser is opened with, and the cookies they were exchanged for; gone with the process unless kept. */
export class LaunchCodes {
  readonly #clock: Pick<Clock, "nowMs" | "steadyMs">;
  readonly #keeper: AccessKeeper | null;
  readonly #codes: Map<string, LiveGrant>;
  readonly #sessions: Map<string, LiveGrant>;

  /** Codes that commands left in the store. */
  readonly #links: Pick<StoredLinks, "redeem"> | null;

  constructor(
    clock: Pick<Clock, "nowMs" | "steadyMs">,
    links: Pick<StoredLinks, "redeem"> | null,
    keeper: AccessKeeper | null = null,
  ) {
    this.#clock = clock;
    this.#links = links;
    this.#keeper = keeper;
    const { codes = [], sessions = [] } = keeper?.known ?? {};
    this.#codes = new Map(codes.map((one) => [one.hash, this.#live(one, CODE_MS)]));
    this.#sessions = new Map(sessions.map((one) => [one.hash, this.#live(one, SESSION_MS)]));
  }

  /** A code for one use within minutes; `to` is where it leads, unless to where all do. */
  issue(grant: Grant, to?: string): string {
    const code = newSecret("hfc");
    const endMs = this.#clock.steadyMs() + CODE_MS;
    this.#add(this.#codes, { hash: hashOf(code), grant, endMs, ...(to === undefined ? {} : { to }) });
    return code;
  }

  /**
   * What a browser's cookie is to hold; null: the code was used, is too old or never was one. `limit` throws where too many are tried
   * that this process did not issue.
   */
  async exchange(
    code: string,
    limit: () => void,
  ): Promise<{ readonly session: string; readonly to: string | null } | null> {
    const hash = hashOf(code);
    const own = this.#find(this.#codes, hash);
    this.#codes.delete(hash);
    if (own === null) limit();
    const grant = own?.grant ?? (await this.#links?.redeem(code)) ?? null;
    if (grant === null) return null;
    const session = newSecret("hf");
    const endMs = this.#clock.steadyMs() + SESSION_MS;
    this.#add(this.#sessions, { hash: hashOf(session), grant, endMs });
    return { session, to: own?.to ?? null };
  }

  find(session: string): Grant | null {
    return this.#find(this.#sessions, hashOf(session))?.grant ?? null;
  }

  #find(grants: ReadonlyMap<string, LiveGrant>, hash: string): LiveGrant | null {
    const found = grants.get(hash);
    return found !== undefined && found.endMs > this.#clock.steadyMs() ? found : null;
  }

  /** The oldest goes where there are too many. */
  #add(grants: Map<string, LiveGrant>, one: LiveGrant): void {
    grants.set(one.hash, one);
    const [oldest] = grants.keys();
    if (grants.size > SESSIONS_MAX && oldest !== undefined) grants.delete(oldest);
    const kept = (all: ReadonlyMap<string, LiveGrant>): readonly KeptGrant[] =>
      Array.from(all.values(), ({ endMs, ...grant }) => ({ ...grant, untilMs: this.#dateOf(endMs) }));
    this.#keeper?.keep({ codes: kept(this.#codes), sessions: kept(this.#sessions) });
  }

  /** A date is all that two processes share of time; one that was set since lengthens nothing beyond a new grant. */
  #live({ untilMs, ...grant }: KeptGrant, longestMs: number): LiveGrant {
    const leftMs = Math.min(untilMs - this.#clock.nowMs(), longestMs);
    return { ...grant, endMs: this.#clock.steadyMs() + leftMs };
  }

  #dateOf(endMs: number): number {
    return this.#clock.nowMs() + endMs - this.#clock.steadyMs();
  }
}
