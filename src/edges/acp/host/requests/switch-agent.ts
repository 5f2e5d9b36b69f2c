import { LogError } from "#log/errors";
import { priorContextText } from "#upstream/rules/preamble";
import { agentNames } from "#edges/acp/host/bridge-parts";
import type { OpenConversation, ReadySession } from "#edges/acp/host/open-conversation";
import type { BridgeContext } from "#edges/acp/host/open-conversations";
import type { HostRequest } from "#edges/acp/host/wire/host-request";

/** The same conversation, carried on by another agent; says what that one knows of it. */
export async function switchAgent(
  bridge: BridgeContext,
  conversation: OpenConversation,
  name: string,
): Promise<string> {
  const names = agentNames(bridge);
  if (!names.includes(name))
    throw new LogError("invalid_request", `There is no agent ${name}; there are ${names.join(", ")}`);
  const before = conversation.upstream.agent;
  if (before === name) return "";
  await conversation.settings.change({ agent: name });
  let ready: ReadySession;
  try {
    ready = await conversation.connect();
  } catch (error) {
    await conversation.settings.change({ agent: before });
    throw error;
  } finally {
    conversation.view.release();
  }
  const { fidelity, priorContext } = ready.connected;
  const meta = {
    event: "switched",
    from: before,
    agent: name,
    fidelity,
    ...(priorContext === null ? {} : { priorContext: { ...priorContext } }),
  };
  bridge.wire.update(conversation.id, { sessionUpdate: "session_info_update", _meta: { holdfast: meta } });
  if (priorContext !== null) return `With your next message it is sent ${priorContextText(priorContext)}.`;
  return fidelity === "transcript" ? "It has the whole history, tools included." : "";
}

/** `session/set_config_option` for the option that is ours. */
export async function setAgent(
  bridge: BridgeContext,
  conversation: OpenConversation,
  request: HostRequest,
): Promise<void> {
  await switchAgent(bridge, conversation, request.text("value") ?? "");
  if (request.id !== null)
    bridge.wire.respond(request.id, JSON.stringify({ configOptions: conversation.options() }));
}
