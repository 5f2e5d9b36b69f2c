import { Translator } from "#edges/acp/agent/translate";
import type { PromptEvent, Upstream } from "#upstream/upstream";
import type { Json } from "#log/json/json-text";
import { dialectOf } from "#vendors/adapters";
import { vendorOf } from "#vendors/known-vendors";
import { aroundSessions, throughPort } from "./agent-watch.ts";

/**
 * An agent as the bridge hears it: what it says goes out as updates of the Agent Client Protocol, with or without ids of its
 * messages, and is given its meaning again by the bridge.
 */
export function asAcp(upstream: Upstream, withIds: boolean): Upstream {
  const vendor = vendorOf(upstream.agent);
  const [agentInfo = null] = INTRODUCED[upstream.agent]?.slice(withIds ? 0 : 1) ?? [];
  const dialect = dialectOf(vendor, { agentInfo });
  return aroundSessions(upstream, (session) =>
    throughPort(session, async function* (request) {
      const translator = new Translator(dialect);
      for await (const event of session.prompt(request)) yield retold(event, translator, withIds);
    }),
  );
}

/** Adapters as they introduce themselves: those of today send ids, Claude's sent none once, and one of somebody else's may not. */
const INTRODUCED: { readonly [agent: string]: readonly [withIds: Json, without: Json] } = {
  claude: [
    { name: "@agentclientprotocol/claude-agent-acp", version: "0.99.1" },
    { name: "@agentclientprotocol/claude-agent-acp", version: "0.25.3" },
  ],
  codex: [
    { name: "@agentclientprotocol/codex-acp", version: "2.6.0" },
    { name: "codex-by-others", version: "1.0.0" },
  ],
};

function retold(event: PromptEvent, translator: Translator, withIds: boolean): PromptEvent {
  if (event.type !== "text") return event;
  const content = { type: "text", text: event.text };
  const named = withIds ? { messageId: "message" } : {};
  return translator.event({ sessionUpdate: "agent_message_chunk", content, ...named }, event.text.length);
}
