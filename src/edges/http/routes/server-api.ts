import type { Right, RoutesOf } from "./route.ts";
import { RIGHTS } from "./route.ts";
import { answer, anything, choice, count, flag, list, open, text } from "./value-schema.ts";

export interface Health {
  readonly ok: true;
  readonly version: string;
  readonly space: string;
  readonly rights: Right;
  readonly readOnly: boolean;
  /** No more turns are begun: the server is about to stop. */
  readonly draining: boolean;
  readonly turns: number;
  readonly streams: number;
  readonly agents: readonly string[];
  /** The largest file that is imported. */
  readonly importBytes: number;
}

export interface ServerApi {
  health: { readonly response: Health };
  openApi: { readonly response: object };
  getMetrics: { readonly response: Uint8Array };
}

const group = "Server";

export const SERVER_ROUTES: RoutesOf<ServerApi> = {
  health: {
    method: "GET",
    path: "/api/health",
    right: "read",
    group,
    summary: "Says that the store answers, and whose token this is",
    response: answer<Health>({
      ok: anything<true>(),
      version: text(),
      space: text(),
      rights: choice(RIGHTS),
      readOnly: flag(),
      draining: flag(),
      turns: count(),
      streams: count(),
      agents: list(text()),
      importBytes: count(),
    }),
  },
  openApi: {
    method: "GET",
    path: "/api/openapi.json",
    right: "read",
    group,
    summary: "Describes every route, in OpenAPI 3.1",
    response: open<object>({ openapi: text(), paths: open({}) }),
  },
  getMetrics: {
    method: "GET",
    path: "/metrics",
    right: "metrics",
    answers: "bytes",
    types: ["text/plain"],
    group,
    summary: "Gives the figures of the process in the text format of Prometheus",
    response: anything<Uint8Array>(),
  },
};
