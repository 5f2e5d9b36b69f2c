import type { RoutesOf } from "#edges/http/routes/route";
import { answer, list, named, nullable, object, open, text } from "#edges/http/routes/value-schema";

/** A session that only an agent has, in its folder on the server's machine. */
interface AgentSessionView {
  readonly agent: string;
  readonly session: string;
  readonly cwd: string | null;
  readonly title: string | null;
  readonly updatedAt: string;
}

export interface AgentSessionApi {
  listAgentSessions: { readonly response: { readonly sessions: readonly AgentSessionView[] } };
  adoptAgentSession: {
    readonly body: { readonly agent: string; readonly session: string };
    readonly response: { readonly conversation: string };
  };
}

const group = "Agent sessions";

export const AGENT_SESSION_ROUTES: RoutesOf<AgentSessionApi> = {
  listAgentSessions: {
    method: "GET",
    path: "/api/agent-sessions",
    right: "admin",
    group,
    summary: "Lists the sessions that only an agent has, in its folder on the server's machine, newest first",
    response: answer<AgentSessionApi["listAgentSessions"]["response"]>({
      sessions: list(
        named(
          "AgentSession",
          open<AgentSessionView>({
            agent: text(),
            session: text(),
            cwd: nullable(text()),
            title: nullable(text()),
            updatedAt: text(),
          }),
        ),
      ),
    }),
  },
  adoptAgentSession: {
    method: "POST",
    path: "/api/agent-sessions",
    right: "admin",
    writes: true,
    status: 201,
    group,
    summary:
      "Makes a conversation of a session that only an agent has; it can be gone on with there and here",
    body: object<AgentSessionApi["adoptAgentSession"]["body"]>({
      agent: text({ min: 1, max: 100 }),
      session: text({ min: 1, max: 200 }),
    }),
    response: answer<AgentSessionApi["adoptAgentSession"]["response"]>({ conversation: text() }),
  },
};
