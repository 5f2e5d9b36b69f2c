import type { HandlersOf } from "#edges/http/handlers/asked";
import { isLogError } from "#log/errors";
import { adoptAgentSession, readAgentSessions } from "#transfer/agent-sessions";
import type { AgentSessionApi } from "./agent-session-api.ts";

export const AGENT_SESSION_HANDLERS: HandlersOf<AgentSessionApi> = {
  listAgentSessions: async ({ server, holdfast }) => ({
    sessions: await readAgentSessions(holdfast, server.agentRecords),
  }),

  async adoptAgentSession({ server, holdfast, body }) {
    const { agent, session } = body;
    try {
      return { conversation: (await adoptAgentSession(holdfast, server.agentRecords, body)).id };
    } catch (error) {
      // What came again finds it there, or being made: it is what was asked for.
      if (!isLogError(error, "conversation_not_found") && !isLogError(error, "conversation_exists"))
        throw error;
      const made = await holdfast.conversation(`${agent}:${session}`).catch(() => null);
      if (made === null) throw error;
      return { conversation: made.id };
    }
  },
};
