import type { ClientOptions } from "#edges/http/client/transport";
import type { Clock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { createFaultClient } from "../../../ui/src/data/fault-client.ts";
import type { ClientOf } from "#edges/http/client/client";
import { type Client, createClient } from "#edges/http/client/index";
import { HttpHandler, type HttpOptions, knownNames, type ServerLog, StoredTokens } from "#edges/http/index";
import { type FaultApi, FAULT_OPERATIONS } from "#edges/http/faults/fault-api";
import { OPERATIONS, type OperationName } from "#edges/http/routes/api";
import type { Route, Right } from "#edges/http/routes/route";
import { openApiDocument } from "#edges/http/routes/open-api";
import { openHoldfast } from "#open";

const PORT = 8080;
export const URL_HERE: string = `http://127.0.0.1:${PORT}`;

export interface Served extends AsyncDisposable {
  readonly holdfast: Holdfast;
  readonly handler: HttpHandler;
  /** What nobody expected. */
  readonly errors: unknown[];
  token(rights: Right, space?: string): Promise<string>;
  /** `patient`: what is busy is asked again, as clients do; a turn may be let go of a moment after its end was told. */
  client(token: string, patient?: "patient"): Client & ClientOf<FaultApi>;
  /** A request to a path, with these headers. */
  ask(path: string, init?: RequestInit): Promise<Response>;
}

/** A server in this process, asked by its handler: every answer is held against the schema of its route. */
export async function serve(
  options: Partial<HttpOptions> & { readonly store?: string } = {},
): Promise<Served> {
  const { store = "memory:", ...more } = options;
  const holdfast = options.holdfast ?? (await openHoldfast({ store }));
  const errors: unknown[] = [];
  const names = knownNames({ port: PORT });
  const log: ServerLog = (_level, message, fields) => {
    if (message === "Unexpected error") errors.push(fields);
  };
  const handler = new HttpHandler({ names, log, ...more, holdfast });
  const tokens = new StoredTokens(holdfast);
  let made = 0;
  return {
    holdfast,
    handler,
    errors,
    token: async (rights, space = "default") =>
      (await tokens.add({ token: `${rights}-${++made}`, space, rights })).secret,
    client: (token, patient) => {
      const how: ClientOptions = {
        url: URL_HERE,
        token,
        fetch: checked(handler.fetch),
        retries: patient === undefined ? 0 : 1_000,
        sleep: () => new Promise((resolve) => setTimeout(resolve, 5)),
      };
      return { ...createClient(how), ...createFaultClient(how) };
    },
    ask: (path, init = {}) => handler.fetch(new Request(`${URL_HERE}${path}`, init)),
    [Symbol.asyncDispose]: async () => {
      await handler.flush();
      await holdfast.close();
      if (errors.length > 0) throw new Error("The server met something unexpected", { cause: errors[0] });
    },
  };
}

/** Those of every server and those of a simulated agent. */
export const ALL_OPERATIONS: readonly (readonly [OperationName | keyof FaultApi, Route])[] = [
  ...OPERATIONS,
  ...FAULT_OPERATIONS,
];

const ROWS = ALL_OPERATIONS.map(([name, route]) => {
  const path = new RegExp(`^${route.path.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  return { name, route, path };
});

/** The operations that were answered as their rows say; files that share a process begin each with none. */
export const exercised: Set<string> = new Set();

function checked(fetch: HttpHandler["fetch"]): HttpHandler["fetch"] {
  return async (request) => {
    const response = await fetch(request);
    const { pathname } = new URL(request.url);
    const row = ROWS.find(({ route, path }) => route.method === request.method && path.test(pathname));
    if (row === undefined || !response.ok) return response;
    exercised.add(row.name);
    checkType(row.name, response);
    if ((row.route.answers ?? "json") !== "json") return response;
    const value: unknown = await response.clone().json();
    const problems = row.route.response.problems(value);
    if (problems.length > 0)
      throw new Error(`${row.name} answers otherwise than it says: ${problems.join("; ")}`);
    if (response.status !== (row.route.status ?? 200))
      throw new Error(`${row.name} answers ${response.status}`);
    return response;
  };
}

const TYPES = new Map<string, readonly string[]>([
  ...FAULT_OPERATIONS.map(([name]) => [name, ["application/json"]] as const),
  ...Object.values(openApiDocument("")["paths"] as object).flatMap((methods: object) =>
    Object.values(methods).map(({ operationId, responses }: DocumentedOperation) => {
      const [answered] = Object.values(responses);
      return [operationId, Object.keys(answered?.content ?? {})] as const;
    }),
  ),
]);

interface DocumentedOperation {
  readonly operationId: string;
  readonly responses: { readonly [status: string]: { readonly content?: object } };
}

function checkType(name: string, response: Response): void {
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
  if (TYPES.get(name)?.includes(type) !== true)
    throw new Error(`${name} answers ${type}, which is not documented`);
}

/** Time that passes by `advance`; `setDate` moves the date alone, as an administrator or a time server does. */
export interface HandClock extends Clock {
  advance(ms: number): void;
  setDate(byMs: number): void;
}

export function handClock(startMs: number = Date.UTC(2026, 0, 1)): HandClock {
  let steadyMs = 1_000;
  let dateMs = startMs - steadyMs;
  return {
    nowMs: () => dateMs + steadyMs,
    steadyMs: () => steadyMs,
    advance: (ms) => void (steadyMs += ms),
    setDate: (byMs) => void (dateMs += byMs),
    sleep: async () => undefined,
  };
}
