import { Translator } from "#edges/acp/agent/meaning/translate";
import type { PromptEvent, Upstream } from "#sending/upstream";
import { vendorOf } from "#vendors/known-vendors";
import { aroundSessions, throughPort } from "./agent-watch.ts";

/**
 * An agent as the bridge hears it: what it says goes out as updates of the Agent Client Protocol, with or without ids of its
 * messages, and is given its meaning again by the bridge.
 */
export function asAcp(upstream: Upstream, withIds: boolean): Upstream {
  const { dialect } = vendorOf(upstream.agent);
  return aroundSessions(upstream, (session) =>
    throughPort(session, async function* (request) {
      const translator = new Translator(dialect);
      for await (const event of session.prompt(request)) yield retold(event, translator, withIds);
    }),
  );
}

function retold(event: PromptEvent, translator: Translator, withIds: boolean): PromptEvent {
  if (event.type !== "text") return event;
  const content = { type: "text", text: event.text };
  const named = withIds ? { messageId: "message" } : {};
  return translator.event({ sessionUpdate: "agent_message_chunk", content, ...named });
}
