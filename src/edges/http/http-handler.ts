import type { Holdfast } from "#conversation/holdfast";
import { type Grant, mayDo } from "./access/grant.ts";
import { IdempotencyLog } from "./access/idempotency-log.ts";
import { LaunchCodes } from "./access/launch-codes.ts";
import { auditOf, RequestAudit } from "./access/request-audit.ts";
import { StoredLinks } from "./access/stored-links.ts";
import { StoredTokens } from "./access/stored-tokens.ts";
import { answerWith } from "./answers.ts";
import { FetchRequest, type HttpAnswer, type HttpRequest, responseOf } from "./exchange.ts";
import { EventStreams } from "./events/event-stream.ts";
import { Views } from "#operations/views/views";
import { RunningReplays } from "./replays/running-replays.ts";
import { Uploads } from "./transfers/uploads.ts";
import { CancelRequests } from "./turns/cancel-requests.ts";
import { RunningTurns } from "./turns/running-turns.ts";
import { checkRequest } from "./guard/check-request.ts";
import { checkPage, checkSender } from "./guard/check-sender.ts";
import { type Peer, TrustedProxies } from "./guard/client-address.ts";
import { failureOf, Refusal } from "./guard/failures.ts";
import { Deadline } from "./guard/deadline.ts";
import { type Identified, identify } from "./guard/identify.ts";
import { RateLimit, SiteRates } from "./guard/rate-limit.ts";
import { STRICT_HEADERS } from "./guard/strict-headers.ts";
import type { Handler, RouteRequest, ServerParts } from "./handlers/route-request.ts";
import { HANDLERS } from "./handlers/handlers.ts";
import { type HttpOptions, type ResolvedHttpOptions, resolveHttpOptions } from "./http-options.ts";
import { FAULT_OPERATIONS } from "./faults/fault-api.ts";
import { FAULT_HANDLERS } from "./faults/fault-handlers.ts";
import { OPERATIONS } from "./routes/api.ts";
import type { Route } from "./routes/route.ts";
import { RouteTable } from "./routes/route-table.ts";
import { newLine, type OnError, REQUEST_ID_HEADER, RequestLog, type RequestLine } from "./server-log.ts";
import { HEALTH_MS, StoreProbe } from "./store-probe.ts";
import { UiFiles } from "./pages/ui-files.ts";

/** A request that reached its operation. */
interface Routed {
  readonly name: string;
  readonly route: Route;
  readonly params: { readonly [name: string]: string };
  readonly request: HttpRequest;
  readonly who: Identified;
  readonly line: RequestLine;
}

const ROUTES = new RouteTable<string>(OPERATIONS);
/** With those that a simulated agent adds. */
const ROUTES_AND_FAULTS = new RouteTable<string>([...OPERATIONS, ...FAULT_OPERATIONS]);
const ALL_HANDLERS: { readonly [name: string]: Handler<object> } = { ...HANDLERS, ...FAULT_HANDLERS };
const HEALTH_PATH = "/api/health";

/** Every verb over HTTP, as one function from request to response; whoever listens hands requests to it. */
export class HttpHandler {
  readonly #options: ResolvedHttpOptions;
  readonly #rates: RateLimit;
  readonly #siteRates: SiteRates;
  readonly #stored: StoredTokens;
  readonly #codes: LaunchCodes;
  readonly #proxies: TrustedProxies;
  readonly #audit: RequestAudit;
  readonly #answers: IdempotencyLog;
  readonly #spaces = new Map<string, Holdfast>();
  readonly #routes: RouteTable<string>;
  readonly #turns: RunningTurns;
  readonly #streams: EventStreams;
  readonly #uploads: Uploads;
  readonly #views = new Views();
  readonly #pages: UiFiles | null;
  readonly #log: RequestLog;
  readonly #probe: StoreProbe;
  readonly #replays: RunningReplays;
  readonly #parts: ServerParts;
  #isDraining = false;
  /** For `app.get("*", (c) => handler.fetch(c.req.raw))` and alike, it may be taken off the object. The peer is for the audit log. */
  readonly fetch: (request: Request, peer?: Peer) => Promise<Response> = async (request, peer = {}) =>
    responseOf(await this.answer(new FetchRequest(request, peer)));

  constructor(options: HttpOptions) {
    this.#options = resolveHttpOptions(options);
    const { holdfast, clock, limits, agents, ui, log, readOnly, trustedProxies } = this.#options;
    this.#log = new RequestLog(log);
    const onError: OnError = (error, about) => this.#log.unexpected(error, about);
    this.#rates = new RateLimit(limits, clock);
    this.#siteRates = new SiteRates(limits, clock);
    this.#stored = new StoredTokens(holdfast, clock);
    const links = readOnly ? null : new StoredLinks(holdfast, clock);
    this.#codes = new LaunchCodes(clock, links, this.#options.keptAccess);
    this.#proxies = new TrustedProxies(trustedProxies);
    this.#audit = new RequestAudit(holdfast, { clock, readOnly, log: this.#log });
    this.#probe = new StoreProbe(holdfast);
    this.#answers = new IdempotencyLog(holdfast, clock);
    this.#turns = new RunningTurns(agents, new CancelRequests(holdfast), onError);
    const isSimulated = Object.values(agents).some(({ faults }) => faults !== undefined);
    this.#routes = isSimulated ? ROUTES_AND_FAULTS : ROUTES;
    this.#streams = new EventStreams(limits);
    this.#uploads = new Uploads(limits);
    this.#pages = ui === null ? null : new UiFiles(ui);
    this.#replays = new RunningReplays(this.#options.replays, onError);
    this.#parts = this.#shared();
  }

  /** A code that opens one browser, once, within minutes: at `/launch?code=CODE`. `to` is a path of a page to open there. */
  launchCode(grant: Grant, to?: string): string {
    return this.#codes.issue(grant, to);
  }

  /** Stores the audit lines that wait; `listen` calls it when it closes. */
  flush(): Promise<void> {
    return this.#audit.flush();
  }

  /** From here on nothing is begun. Tails end, turns are waited for so long and then stopped, which is recorded. */
  async drain(graceMs: number = 0): Promise<void> {
    this.#isDraining = true;
    this.#streams.stop();
    await Promise.all([this.#turns.drain(graceMs), this.#replays.drain()]);
    await this.flush();
  }

  /** The same without the objects of fetch, for `listen`. */
  async answer(request: HttpRequest): Promise<HttpAnswer> {
    const sinceMs = performance.now();
    const line = newLine(request, this.#proxies.clientOf(request.peer, request.headers));
    const { answerMs } = this.#options.limits;
    const deadline = new Deadline(
      request.url.pathname === HEALTH_PATH ? Math.min(HEALTH_MS, answerMs) : answerMs,
    );
    const { status, headers, body } = await deadline
      .hold(this.#recorded(request, line, deadline))
      .catch((error: unknown) => this.#failed(error, line));
    const ms = performance.now() - sinceMs;
    this.#options.metrics?.answered({ method: line.method, status, ms });
    this.#log.ended(line, status, ms);
    const all = { ...STRICT_HEADERS, ...headers, [REQUEST_ID_HEADER]: line.requestId };
    if (request.method !== "HEAD") return { status, headers: all, body };
    if (body instanceof ReadableStream) void body.cancel();
    return { status, headers: all, body: null };
  }

  /** An answer that goes out once its audit line is stored, where it has one. */
  async #recorded(request: HttpRequest, line: RequestLine, deadline: Deadline): Promise<HttpAnswer> {
    const answer = await this.#guarded(request, line, deadline).catch((error: unknown) =>
      this.#failed(error, line),
    );
    const storing = this.#audit.answered(line, answer.status);
    if (storing === null) return answer;
    try {
      await storing;
      return answer;
    } catch (error) {
      if (answer.body instanceof ReadableStream) await answer.body.cancel();
      return this.#failed(error, line);
    }
  }

  #failed(error: unknown, line: RequestLine): HttpAnswer {
    const { status, body, headers } = failureOf(error);
    line.error = error;
    line.code = body.error.code;
    this.#options.metrics?.refused(body.error.code);
    return {
      status,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    };
  }

  async #guarded(request: HttpRequest, line: RequestLine, deadline: Deadline): Promise<HttpAnswer> {
    const { names, findGrant, cookie } = this.#options;
    const { method, url } = request;
    const probed = await this.#probe.answer(request, this.#isDraining);
    if (probed !== null) return probed;
    checkSender(request, names);
    const limit = (): void => this.#siteRates.check(line.address, "without a valid token");
    if (url.pathname === "/launch" && method === "GET") return this.#launch(request, limit);
    const limitPages = (): void => this.#siteRates.check(line.address, "for pages");
    const page = (await this.#pages?.find(request, limitPages)) ?? null;
    if (page !== null) return page;
    const places = { stored: this.#stored, codes: this.#codes, own: findGrant };
    const sources = { ...places, cookieName: cookie.name, limit };
    const who = await identify(request, sources);
    line.token = who.grant.token;
    line.space = who.grant.space;
    this.#rates.check(who.grant.token);
    const found = this.#routes.find(url.pathname);
    if (found === null) throw new Refusal("wrong_path", `Unknown route ${method} ${url.pathname}`);
    const operation = found.methods.get(method === "HEAD" ? "GET" : method);
    if (operation === undefined)
      throw new Refusal("wrong_method", `${url.pathname} does not support ${method}`);
    const [name, route] = operation;
    if (route.long === true) deadline.lift();
    return this.#run({ name, route, params: found.params, request, who, line });
  }

  /** Exchanges the code for a cookie, and leaves no trace of it in the address. Only wrong codes are limited. */
  async #launch(request: HttpRequest, limit: () => void): Promise<HttpAnswer> {
    const launched = await this.#codes.exchange(request.url.searchParams.get("code") ?? "", limit);
    if (launched === null) {
      // Whoever opens a link twice is a person: the pages go on where they are known, and else say what to do.
      if (this.#pages !== null && wantsPage(request))
        return { status: 303, headers: { location: "/" }, body: null };
      throw new Refusal("wrong_code", "The launch code is invalid, expired or already used");
    }
    const { name, secure } = this.#options.cookie;
    const cookie = `${name}=${launched.session}; Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
    const location = launched.to ?? (this.#pages === null ? HEALTH_PATH : "/");
    return { status: 303, headers: { location, "set-cookie": cookie }, body: null };
  }

  async #run({ name, route, params, request, who, line }: Routed): Promise<HttpAnswer> {
    const { grant } = who;
    line.route = name;
    for (const id of ["conversation", "turn"] as const)
      if (params[id] !== undefined) line[id] = params[id].slice(0, 128);
    const [isWrite, isExport] = [route.writes === true, route.exports === true];
    if (isWrite || isExport) line.audit = auditOf(request, isExport);
    this.#checkRight(route, grant);
    if (who.byCookie && isWrite) checkPage(request);
    const { bodyBytes: bytes, bodyMs: ms } = this.#options.limits;
    const checked = await checkRequest(request, route, params, { bytes, ms });
    if (isWrite) await this.#audit.check(grant.space);
    const input = { ...checked.params, ...checked.query, ...checked.body };
    const routed: RouteRequest = {
      bodyText: checked.bodyText,
      upload: checked.upload,
      key: checked.key,
      server: this.#parts,
      holdfast: this.#space(grant.space),
      grant,
      isValid: who.isValid,
      brokeOff: (error) => this.#log.brokeOff(line, error),
      received: request,
    };
    const act = async (): Promise<unknown> => ALL_HANDLERS[name]?.(input, routed);
    const { brokeOff } = routed;
    if (route.kept !== true || checked.key === undefined) return answerWith(await act(), route, { brokeOff });
    const words = JSON.stringify([checked.params, checked.body]);
    const write = { space: grant.space, operation: name, key: checked.key, asked: words };
    const { answer, repeated } = await this.#answers.once(write, act);
    return answerWith(answer, route, { repeated, brokeOff });
  }

  #checkRight(route: Route, grant: Grant): void {
    if (!mayDo(grant, route.right))
      throw new Refusal(
        "no_right",
        `This requires ${route.right} permission. The token has ${grant.rights}.`,
      );
    if (route.writes !== true) return;
    if (this.#options.readOnly) throw new Refusal("only_reading", "This server is read-only");
    if (this.#isDraining)
      throw new Refusal("stopping", "The server is stopping", { headers: { "retry-after": "1" } });
  }

  #space(name: string): Holdfast {
    const known = this.#spaces.get(name);
    if (known !== undefined) return known;
    const space = this.#options.holdfast.inSpace(name);
    this.#spaces.set(name, space);
    return space;
  }

  #shared(): ServerParts {
    const { version, readOnly, clock, cwd, skills, place, metrics, agentRecords } = this.#options;
    const parts = {
      audit: this.#audit,
      turns: this.#turns,
      streams: this.#streams,
      uploads: this.#uploads,
      views: this.#views,
      replays: this.#replays,
      probe: this.#probe,
    };
    const settled = { version, readOnly, clock, cwd, skills, place, metrics, agentRecords };
    return { ...parts, ...settled, isDraining: () => this.#isDraining };
  }
}

function wantsPage(request: HttpRequest): boolean {
  return /\btext\/html\b/.test(request.headers.get("accept") ?? "");
}
