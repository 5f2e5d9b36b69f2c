import { Agent } from "#agent/agent";
import { serversFor } from "#agent/mcp/given-servers";
import type { McpServers } from "#agent/mcp/mcp-servers";
import { withDefaults } from "#log/with-defaults";
import type { LoadedLoop } from "#edges/acp/carrier";
import { EditorServers } from "./editor-servers.ts";
import { type AgentLoop, LoopAgent } from "./loop-agent.ts";
import { LoopCarrier } from "./loop-carrier.ts";

/** An agent loop for a bridge that carries its conversations with it. */
export function carryLoop(given: AgentLoop): LoadedLoop {
  return {
    carry({ holdfast, clock, paramsOf, show }) {
      const editor = new EditorServers();
      const shared = given.loop.servers ?? null;
      const servers = (id: string): readonly McpServers[] => [
        ...serversFor(shared, id),
        ...editor.of(id, paramsOf(id)),
      ];
      const loop = new Agent(holdfast, { ...withDefaults({ clock }, given.loop), servers });
      const agent = new LoopAgent(holdfast, loop, given, editor);
      return { carrier: new LoopCarrier({ holdfast, loop, agent, show }), upstreams: [agent] };
    },
  };
}
