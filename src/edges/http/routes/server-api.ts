import type { Right, RoutesOf } from "./route.ts";
import { RIGHTS } from "./route.ts";
import {
  answer,
  anything,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  object,
  open,
  optional,
  text,
} from "./value-schema.ts";
import { pageLimit } from "./shared-schemas.ts";

/** One act, by whom it was asked for and what came of it. */
export interface AuditLine {
  readonly time: string;
  /** The name of the token; `local` where a command or a program opened the store itself; null where no token was known. */
  readonly token: string | null;
  readonly space: string;
  readonly operation: string;
  readonly conversation: string | null;
  /** The token that was added or removed. */
  readonly target: string | null;
  readonly key: string | null;
  /** The client's, as the socket or a trusted proxy has it. */
  readonly address: string | null;
  /** `done`, the code of the error, or `intent`: the line was stored before the act. */
  readonly outcome: string;
  /** Of the answer over HTTP. */
  readonly status: number | null;
  /** How often; refused credentials are counted by minute and address. */
  readonly count: number;
}

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

/** Who can carry turns here. */
interface AgentView {
  readonly agent: string;
  /** Those that a client may choose. */
  readonly models: readonly string[];
}

export interface ServerApi {
  listAgents: { readonly response: { readonly agents: readonly AgentView[] } };
  health: { readonly response: Health };
  openApi: { readonly response: object };
  getMetrics: { readonly response: Uint8Array };
  listAudit: {
    readonly query: { readonly month?: string; readonly after?: number; readonly limit?: number };
    readonly response: { readonly lines: readonly AuditLine[]; readonly next: number | null };
  };
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
  listAgents: {
    method: "GET",
    path: "/api/agents",
    right: "read",
    group,
    summary: "Lists the agents that can carry turns, the first being asked where none is named",
    response: answer<ServerApi["listAgents"]["response"]>({
      agents: list(named("Agent", open<AgentView>({ agent: text(), models: list(text()) }))),
    }),
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
  listAudit: {
    method: "GET",
    path: "/api/audit",
    right: "admin",
    group,
    summary: "Lists the writes and exports of this space with their tokens and outcomes, oldest first",
    query: object<ServerApi["listAudit"]["query"]>({
      month: optional(text({ pattern: /^\d{4}-\d{2}$/, about: "YYYY-MM; the current one unless given" })),
      after: optional(count({ about: "the `next` of the page before" })),
      limit: optional(pageLimit),
    }),
    response: answer<ServerApi["listAudit"]["response"]>({
      lines: list(
        named(
          "AuditLine",
          open<AuditLine>({
            time: text(),
            token: nullable(text()),
            space: text(),
            operation: text(),
            conversation: nullable(text()),
            target: nullable(text()),
            key: nullable(text()),
            address: nullable(text()),
            outcome: text(),
            status: nullable(count()),
            count: count(),
          }),
        ),
      ),
      next: nullable(count()),
    }),
  },
};
