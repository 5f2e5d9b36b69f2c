import { type Grant, hashOf, newSecret } from "./grant.ts";

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
  readonly #nowMs: () => number;
  readonly #keeper: AccessKeeper | null;
  readonly #codes: Map<string, KeptGrant>;
  readonly #sessions: Map<string, KeptGrant>;

  constructor(nowMs: () => number, keeper: AccessKeeper | null = null) {
    this.#nowMs = nowMs;
    this.#keeper = keeper;
    const { codes = [], sessions = [] } = keeper?.known ?? {};
    this.#codes = new Map(codes.map((one) => [one.hash, one]));
    this.#sessions = new Map(sessions.map((one) => [one.hash, one]));
  }

  /** A code for one use within minutes; `to` is where it leads, unless to where all do. */
  issue(grant: Grant, to?: string): string {
    const code = newSecret("hfc");
    const untilMs = this.#nowMs() + CODE_MS;
    this.#add(this.#codes, { hash: hashOf(code), grant, untilMs, ...(to === undefined ? {} : { to }) });
    return code;
  }

  /** What a browser's cookie is to hold; null: the code was used, is too old or never was one. */
  exchange(code: string): { readonly session: string; readonly to: string | null } | null {
    const hash = hashOf(code);
    const found = this.#live(this.#codes, hash);
    this.#codes.delete(hash);
    if (found === null) return null;
    const session = newSecret("hf");
    const untilMs = this.#nowMs() + SESSION_MS;
    this.#add(this.#sessions, { hash: hashOf(session), grant: found.grant, untilMs });
    return { session, to: found.to ?? null };
  }

  find(session: string): Grant | null {
    return this.#live(this.#sessions, hashOf(session))?.grant ?? null;
  }

  #live(kept: ReadonlyMap<string, KeptGrant>, hash: string): KeptGrant | null {
    const found = kept.get(hash);
    return found !== undefined && found.untilMs > this.#nowMs() ? found : null;
  }

  /** The oldest goes where there are too many. */
  #add(kept: Map<string, KeptGrant>, one: KeptGrant): void {
    kept.set(one.hash, one);
    const [oldest] = kept.keys();
    if (kept.size > SESSIONS_MAX && oldest !== undefined) kept.delete(oldest);
    this.#keeper?.keep({ codes: [...this.#codes.values()], sessions: [...this.#sessions.values()] });
  }
}
