import { fieldsOf, listIn } from "#log/json/json-fields";
import { isModel } from "#edges/acp/agent/meaning/option-values";
import { type Answer, resultOf } from "#edges/acp/agent/process/connection";
import type { BridgeSession } from "#edges/acp/bridge-upstream";
import { AGENT_OPTION } from "#edges/acp/host/agent-option";
import type { OpenConversation } from "#edges/acp/host/open-conversation";
import type { BridgeContext } from "#edges/acp/host/open-conversations";
import type { HostRequest } from "#edges/acp/host/wire/host-request";
import { appendElement } from "#edges/acp/wire/rewrite";
import { spanAt } from "#edges/acp/wire/spans";
import type { Edit } from "#edges/acp/wire/splice";
import { answerTo, respondWith } from "./forward.ts";
import { setAgent } from "./switch-agent.ts";

interface Asked {
  readonly conversation: OpenConversation;
  readonly session: BridgeSession;
  readonly answer: Answer;
}

/** Settings are the agent's to accept; what it accepted is kept, to be set again in every session to come. */
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
