import { CLIENT_HEADER, KEY_HEADER, UPLOAD_TYPE } from "#edges/http/routes/route";
import type { Upload } from "#operations/operation";
import { checkNumbers } from "#log/with-defaults";
import { errorOf } from "./api-error.ts";

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:8080`; a page of the server leaves it out. */
  readonly url?: string;
  /** A page of the server has a cookie in its place. */
  readonly token?: string;
  /** How requests are sent; the global fetch unless given. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** How often a request that did not get through is sent again: 4 times by default. `Infinity`: until it does. */
  readonly retries?: number;
  readonly sleep?: (ms: number) => Promise<void>;
}

export interface CallOptions {
  /** The same key is the same write, whoever sends it. Made unless given, so that tries do not add up. */
  readonly key?: string;
  readonly signal?: AbortSignal;
  /** Told the text of an answer that is JSON, as it came: numbers in it may be larger than a program's. */
  readonly onText?: (text: string) => void;
  /** Told what a stream says beside what it tells, such as words that the log does not have yet. */
  readonly onRemark?: (event: string, data: unknown) => void;
}

/** An operation as a request: the input's fields stand in its path, its query and its body. */
export interface ClientRoute {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: readonly string[];
  readonly body?: readonly string[];
  readonly takes?: "bytes";
  readonly answers?: "json" | "events" | "bytes";
  readonly writes?: true;
}

type Input = { readonly [name: string]: unknown };

const FIRST_WAIT_MS = 100;
const WAIT_MS_MAX = 5_000;
const RETRY_AFTER_MS_MAX = 60_000;

/** Sends requests as the table of routes has them, and sends again what did not get through. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #retries: number;
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(options: ClientOptions) {
    checkNumbers(options, { retries: "limit" });
    this.#options = options;
    this.#retries = options.retries ?? 4;
    this.#sleep = options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
  }

  /** Waits before the try of this number. */
  async pause(tries: number): Promise<void> {
    await this.#sleep(Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** tries));
  }

  /** The response of a request that was done; whatever else came of it is thrown. */
  send(
    route: ClientRoute,
    input: Input,
    options: CallOptions & { readonly headers?: Input } = {},
  ): Promise<Response> {
    return this.ask(route, input, { ...options, read: async (response) => response });
  }

  /** What is read of it; an answer that breaks off is asked for again. */
  async ask<T>(
    route: ClientRoute,
    input: Input,
    {
      read,
      ...options
    }: CallOptions & { readonly headers?: Input; readonly read: (response: Response) => Promise<T> },
  ): Promise<T> {
    const key = options.key ?? (route.writes === true ? crypto.randomUUID() : undefined);
    for (let tries = 0; ; tries++) {
      const isLast = tries >= this.#retries;
      try {
        const response = await this.#fetch(
          this.#request(route, input, { ...options, ...(key === undefined ? {} : { key }) }),
        );
        if (response.ok) return await read(response);
        const waitMs = waitOf(response);
        if (isLast || waitMs === null) throw await errorOf(response);
        await response.body?.cancel();
        await this.#sleep(waitMs);
      } catch (error) {
        // What was sent may have been done: under the same key it is not done again.
        if (!isUnsent(error) || isLast || options.signal?.aborted === true) throw error;
        await this.pause(tries);
      }
    }
  }

  #fetch(request: Request): Promise<Response> {
    return (this.#options.fetch ?? fetch)(request);
  }

  #request(
    route: ClientRoute,
    input: Input,
    { key, signal, headers = {} }: CallOptions & { readonly headers?: Input },
  ): Request {
    const { url = "", token } = this.#options;
    const body = bodyOf(route, input);
    return new Request(`${url}${addressOf(route, input)}`, {
      method: route.method,
      headers: {
        [CLIENT_HEADER]: "1",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(key === undefined ? {} : { [KEY_HEADER]: key }),
        ...(body === null
          ? {}
          : { "content-type": route.takes === "bytes" ? UPLOAD_TYPE : "application/json" }),
        ...(headers as { readonly [name: string]: string }),
      },
      ...(body === null ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

/** The server says when a request may work that did not: the conversation is locked, or the store does not answer. */
function waitOf(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1_000, RETRY_AFTER_MS_MAX) : null;
}

/** What fetch throws when nobody answered; an abort is the caller's own. */
function isUnsent(error: unknown): boolean {
  return error instanceof TypeError;
}

function addressOf(route: ClientRoute, input: Input): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(input[name] as string),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(pick(route.query, input) ?? {}))
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function bodyOf(route: ClientRoute, input: Input): string | Upload | null {
  if (route.takes === "bytes") return input["file"] as Upload;
  const body = pick(route.body, input);
  return body === null ? null : JSON.stringify(body);
}

function pick(names: readonly string[] | undefined, input: Input): Input | null {
  if (names === undefined) return null;
  return Object.fromEntries(
    names.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])),
  );
}
