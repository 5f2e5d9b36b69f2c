import { fieldsOf, listIn } from "#log/json/json-fields";
import { isModel } from "#edges/acp/agent/session-options";
import { type Answer, resultOf } from "#edges/acp/agent/connection";
import type { BridgeSession, ForwardedRequest, HostedAgent } from "#edges/acp/bridge-agents";
import { AGENT_OPTION, agentNames } from "./bridge-parts.ts";
import type { OpenConversation, ReadySession } from "./open-conversation.ts";
import type { BridgeContext } from "./open-conversations.ts";
import type { HostRequest } from "./host-request.ts";
import { type Edit, appendElement, rewriteIds, splice } from "#edges/acp/wire/splice";
import { spanAt } from "#edges/acp/wire/spans";
import { LogError } from "#log/errors";
import { priorContextText } from "#upstream/rules/preamble";

interface Asked {
  readonly conversation: OpenConversation;
  readonly session: BridgeSession;
  readonly answer: Answer;
}

/** The agent decides about a setting; an accepted one is stored and set again in every later session. */
async function ask(conversation: OpenConversation, request: HostRequest): Promise<Asked> {
  const session = await conversation.readySession();
  const answer = await answerTo(request, session.forward(request.message));
  return { conversation, session, answer };
}

export async function setMode(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const { conversation, session, answer } = await ask(
    await bridge.conversations.open(request.session),
    request,
  );
  const mode = request.text("modeId");
  if (answer.error === null && mode !== null && !session.keepsChoices) {
    session.options.setMode(mode);
    await conversation.settings.choose(conversation.upstream.agent, { mode }, null);
  }
  respondWith(bridge, request, { answer, session });
}

export async function setModel(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const { conversation, session, answer } = await ask(
    await bridge.conversations.open(request.session),
    request,
  );
  const model = request.text("modelId");
  if (answer.error === null && model !== null && !session.keepsChoices) {
    session.options.setModel(model);
    await conversation.settings.choose(conversation.upstream.agent, { model }, model);
  }
  respondWith(bridge, request, { answer, session });
}

export async function setOption(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const conversation = await bridge.conversations.open(request.session);
  const configId = request.text("configId");
  const value = request.value("value");
  if (configId === AGENT_OPTION) return setAgent(bridge, conversation, request);
  const { session, answer } = await ask(conversation, request);
  const more: Edit[] = [];
  if (answer.error === null) {
    const own = conversation.agentOption();
    const { bytes, result } = answer.message;
    const list = result === null ? null : spanAt(bytes, result, ["configOptions"]);
    if (list !== null) session.options.setOptions(fieldsOf(resultOf(answer))["configOptions"] ?? null);
    if (list !== null && own !== null) more.push(...appendElement(bytes, list, JSON.stringify(own)));
    const option = listIn(session.options.options).find((one) => one["id"] === configId) ?? { id: configId };
    const model = isModel(option) && typeof value === "string" ? value : null;
    if (configId !== null && value !== undefined && !session.keepsChoices) {
      const options = { [configId]: value };
      await conversation.settings.choose(conversation.upstream.agent, { options }, model);
    }
  }
  respondWith(bridge, request, { answer, session, more });
}

/** The same conversation, carried on by another agent; says what that one knows of it. */
export async function switchAgent(
  bridge: BridgeContext,
  conversation: OpenConversation,
  name: string,
): Promise<string> {
  const names = agentNames(bridge);
  if (!names.includes(name))
    throw new LogError("invalid_request", `Unknown agent "${name}". Use one of ${names.join(", ")}.`);
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
  if (priorContext !== null) return `Your next message is sent with ${priorContextText(priorContext)}.`;
  return fidelity === "transcript" ? "It has the whole history, tools included." : "";
}

/** `session/set_config_option` for the option that is ours. */
async function setAgent(
  bridge: BridgeContext,
  conversation: OpenConversation,
  request: HostRequest,
): Promise<void> {
  await switchAgent(bridge, conversation, request.text("value") ?? "");
  if (request.id !== null)
    bridge.wire.respond(request.id, JSON.stringify({ configOptions: conversation.options() }));
}

/** Whatever is not ours goes to the agent: about a session, or about none. */
export async function forward(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const id = request.text("sessionId");
  const session = id === null ? null : await (await bridge.conversations.open(id)).readySession();
  const upstream = session ?? upstreamFor(bridge, request);
  if (request.id === null) return upstream.notify(request.message);
  const answer = await answerTo(request, await upstream.forward(request.message));
  respondWith(bridge, request, { answer, session });
}

/** Waits for the agent's answer, and cancels the request at the agent if the host does. */
export function answerTo(request: HostRequest, forwarded: ForwardedRequest): Promise<Answer> {
  request.onWithdrawn = () => forwarded.cancel();
  return forwarded.answer;
}

/** A login is for the agent that offers it; anything else without a session is for the first. */
function upstreamFor({ upstreams }: BridgeContext, request: HostRequest): HostedAgent {
  const method = request.method === "authenticate" ? request.text("methodId") : null;
  const offering = method === null ? undefined : upstreams.find(({ logins }) => logins.includes(method));
  return offering ?? upstreams[0];
}

/** Answers the host as the agent did, with the host's id of the request and ours of the session. */
export function respondWith(
  bridge: BridgeContext,
  request: HostRequest,
  reply: { readonly answer: Answer; readonly session: BridgeSession | null; readonly more?: readonly Edit[] },
): void {
  const { message } = reply.answer;
  const { session, more = [] } = reply;
  if (request.id === null || message.id === null) return;
  const ids = session === null ? [] : rewriteIds(message, session.id, session.conversation);
  const own = { span: message.id, text: request.id };
  bridge.wire.send(splice(message.bytes, [...ids, ...more, own]));
}
