import { type Clock, realSleep } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { type AuditAct, AuditLog } from "./audit-log.ts";
import { SERVER_SPACE } from "./grant.ts";
import type { HttpRequest } from "#edges/http/exchange";
import { siteOf } from "#edges/http/guard/client-address";
import { KEY_HEADER } from "#edges/http/routes/route";
import type { RequestLine, RequestLog, RequestToAudit } from "#edges/http/server-log";

const MINUTE_MS = 60_000;
const KEY_CHARS_MAX = 200;
const ID_CHARS_MAX = 128;
const CREDENTIALS: ReadonlySet<string | undefined> = new Set(["wrong_token", "wrong_code"]);

/** What the audit log has of a request to an operation that writes or exports. */
export function auditOf({ url, headers }: HttpRequest, isExport: boolean): RequestToAudit {
  const key = headers.get(KEY_HEADER)?.slice(0, KEY_CHARS_MAX) ?? null;
  const ids = isExport ? url.searchParams.getAll("conversation") : [];
  return { isExport, key, conversations: ids.map((id) => id.slice(0, ID_CHARS_MAX)) };
}

/** What the audit log has of requests: writes, exports and refused credentials. A server that only reads stores none. */
export class RequestAudit {
  readonly #log: AuditLog;
  readonly #clock: Clock;
  readonly #readOnly: boolean;
  readonly #refused = new RefusedCredentials();
  #minute: AbortController | null = null;

  constructor(
    holdfast: Holdfast,
    { clock, readOnly, log }: { clock: Clock; readOnly: boolean; log: RequestLog },
  ) {
    this.#log = new AuditLog(holdfast, clock, (error) => log.auditWaits(error));
    this.#clock = clock;
    this.#readOnly = readOnly;
  }

  /** Throws while lines of a space cannot be stored: what cannot be recorded is not done. */
  async check(space: string): Promise<void> {
    if (!this.#readOnly) await this.#log.check(space);
  }

  /** Records a request. An export waits until its line is on disk; null: nothing else waits. */
  answered(line: RequestLine, status: number): Promise<void> | null {
    if (this.#readOnly) return null;
    const { token, space, route, audit, code, address } = line;
    if (token === undefined && CREDENTIALS.has(code)) this.#count(code ?? "", address);
    if (token === undefined || space === undefined || route === undefined || audit === undefined) return null;
    // An act may end well after its answer was given up: then there is a code, of an answer that was another.
    const outcome = status < 400 ? "done" : (code ?? "unexpected");
    const about = { token, space, operation: route, outcome, status, address, key: audit.key };
    const named = audit.conversations.length > 0 ? audit.conversations : [line.conversation ?? null];
    const acts: AuditAct[] = [];
    for (const conversation of named) acts.push({ ...about, conversation });
    if (audit.isExport && outcome === "done") return this.#log.store(acts);
    for (const act of acts) this.#log.add(act);
    return null;
  }

  async read(asked: Parameters<AuditLog["read"]>[0]): ReturnType<AuditLog["read"]> {
    if (asked.space === SERVER_SPACE) this.#endMinute();
    return this.#log.read(asked);
  }

  /** Stores what waits, as far as the store accepts it. */
  async flush(): Promise<void> {
    this.#endMinute();
    await this.#log.flush().catch(() => undefined); // that is logged
  }

  #count(code: string, address: string | null): void {
    for (const act of this.#refused.count(code, address, this.#clock.nowMs())) this.#log.add(act);
    if (this.#minute !== null) return;
    const minute = new AbortController();
    this.#minute = minute;
    void this.#endLater(minute);
  }

  async #endLater(minute: AbortController): Promise<void> {
    await realSleep(MINUTE_MS, minute.signal, true);
    if (this.#minute === minute) this.#endMinute();
  }

  #endMinute(): void {
    this.#minute?.abort();
    this.#minute = null;
    for (const act of this.#refused.empty()) this.#log.add(act);
  }
}

const ADDRESSES_MAX = 20;

/** Credentials that were refused, by minute and address: however many come, they make a few lines a minute. */
class RefusedCredentials {
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
