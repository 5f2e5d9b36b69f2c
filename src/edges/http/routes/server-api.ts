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

/** One write, as it was asked for. */
export interface AuditLine {
  readonly time: string;
  readonly token: string;
  readonly space: string;
  readonly operation: string;
  readonly conversation: string | null;
  readonly key: string | null;
  /** Set where it was refused for want of a right, or because nothing may be written. */
  readonly refused: string | null;
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
}

/** Who can carry turns here. */
interface AgentView {
  readonly agent: string;
  /** Those that a client may choose. */
  readonly models: readonly string[];
  /** What it can be made to go through; a simulated agent alone has some. */
  readonly troubles: readonly string[];
}

export interface ServerApi {
  listAgents: { readonly response: { readonly agents: readonly AgentView[] } };
  strikeAgent: {
    readonly params: { readonly agent: string };
    readonly body: { readonly kind: string; readonly phase?: string };
    readonly response: {
      readonly agent: string;
      readonly kind: string;
      /** Where in its work it will happen. */
      readonly phase: string;
      /** It was asked for under its key before: it happens once. */
      readonly deduped: boolean;
    };
  };
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
      agents: list(
        named("Agent", open<AgentView>({ agent: text(), models: list(text()), troubles: list(text()) })),
      ),
    }),
  },
  strikeAgent: {
    method: "POST",
    path: "/api/agents/{agent}/trouble",
    right: "write",
    writes: true,
    group,
    summary: "Lets a simulated agent run into trouble in its next turn in this space",
    params: object<{ readonly agent: string }>({ agent: text({ min: 1, max: 100 }) }),
    body: object<ServerApi["strikeAgent"]["body"]>({
      kind: text({ min: 1, max: 100, about: "one of the agent's `troubles`" }),
      phase: optional(text({ min: 1, max: 100, about: "where in its work; as soon as it can unless given" })),
    }),
    response: answer<ServerApi["strikeAgent"]["response"]>({
      agent: text(),
      kind: text(),
      phase: text(),
      deduped: flag(),
    }),
  },
  getMetrics: {
    method: "GET",
    path: "/metrics",
    right: "metrics",
    answers: "bytes",
    group,
    summary: "Gives the figures of the process in the text format of Prometheus",
    response: anything<Uint8Array>(),
  },
  listAudit: {
    method: "GET",
    path: "/api/audit",
    right: "admin",
    group,
    summary: "Lists the writes that were asked for in this space, by whose token, oldest first",
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
            token: text(),
            space: text(),
            operation: text(),
            conversation: nullable(text()),
            key: nullable(text()),
            refused: nullable(text()),
          }),
        ),
      ),
      next: nullable(count()),
    }),
  },
};
