import { type Grant, hashOf, newSecret } from "./grant.ts";

const CODE_MS = 300_000;
const SESSION_MS = 86_400_000;
const SESSIONS_MAX = 1_000;

interface Until<T> {
  readonly value: T;
  readonly untilMs: number;
}

/** One-time codes that a browser is opened with, and the cookies they were exchanged for; gone with the process. */
export class LaunchCodes {
  readonly #nowMs: () => number;
  readonly #codes = new Map<string, Until<Grant>>();
  readonly #sessions = new Map<string, Until<Grant>>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A code for one use within minutes. */
  issue(grant: Grant): string {
    const code = newSecret("hfc");
    keep(this.#codes, hashOf(code), { value: grant, untilMs: this.#nowMs() + CODE_MS });
    return code;
  }

  /** What a browser's cookie is to hold; null: the code was used, is too old or never was one. */
  exchange(code: string): string | null {
    const hash = hashOf(code);
    const grant = this.#live(this.#codes, hash);
    this.#codes.delete(hash);
    if (grant === null) return null;
    const session = newSecret("hf");
    keep(this.#sessions, hashOf(session), { value: grant, untilMs: this.#nowMs() + SESSION_MS });
    return session;
  }

  find(session: string): Grant | null {
    return this.#live(this.#sessions, hashOf(session));
  }

  #live(kept: ReadonlyMap<string, Until<Grant>>, hash: string): Grant | null {
    const found = kept.get(hash);
    return found !== undefined && found.untilMs > this.#nowMs() ? found.value : null;
  }
}

/** The oldest goes where there are too many. */
function keep(kept: Map<string, Until<Grant>>, hash: string, one: Until<Grant>): void {
  kept.set(hash, one);
  const [oldest] = kept.keys();
  if (kept.size > SESSIONS_MAX && oldest !== undefined) kept.delete(oldest);
}
