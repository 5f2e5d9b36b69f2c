import { resultOf } from "#edges/acp/agent/process/connection";
import { isModel } from "#edges/acp/agent/meaning/options";
import { spanAt } from "#edges/acp/wire/spans";
import type { Edit } from "#edges/acp/wire/splice";
import type { Floor } from "./floor.ts";
import { passAnswer, sendOn } from "./forward.ts";
import type { HostRequest } from "./wire/requests.ts";
import { appendElement } from "./wire/rewrite.ts";
import { AGENT_OPTION, agentOption } from "./state.ts";
import { setAgent } from "./switching.ts";
import { fieldsOf, listIn } from "#log/json/json-fields";

/** Settings are the agent's to accept; what it accepted is kept, to be set again in every session to come. */
export async function setMode(floor: Floor, request: HostRequest): Promise<void> {
  const desk = await floor.desk(request.session);
  const session = await floor.session(desk);
  const answer = await sendOn(request, session.connection, session);
  const mode = request.text("modeId");
  if (answer.error === null && mode !== null) {
    session.standing.setMode(mode);
    await desk.choose(floor.agentOf(desk).agent, { mode }, null);
  }
  passAnswer(floor, request, { answer, session });
}

export async function setModel(floor: Floor, request: HostRequest): Promise<void> {
  const desk = await floor.desk(request.session);
  const session = await floor.session(desk);
  const answer = await sendOn(request, session.connection, session);
  const model = request.text("modelId");
  if (answer.error === null && model !== null) await desk.choose(floor.agentOf(desk).agent, { model }, model);
  passAnswer(floor, request, { answer, session });
}

export async function setOption(floor: Floor, request: HostRequest): Promise<void> {
  const desk = await floor.desk(request.session);
  const configId = request.text("configId");
  const value = request.value("value");
  if (configId === AGENT_OPTION) return setAgent(floor, desk, request);
  const session = await floor.session(desk);
  const answer = await sendOn(request, session.connection, session);
  const own = agentOption(floor, desk);
  const more: Edit[] = [];
  if (answer.error === null) {
    const { bytes, result } = answer.message;
    const list = result === null ? null : spanAt(bytes, result, ["configOptions"]);
    if (list !== null) session.standing.setOptions(fieldsOf(resultOf(answer))["configOptions"] ?? null);
    if (list !== null && own !== null) more.push(...appendElement(bytes, list, JSON.stringify(own)));
    const option = listIn(session.standing.options).find((one) => one["id"] === configId) ?? {
      id: configId,
    };
    const model = isModel(option) && typeof value === "string" ? value : null;
    if (configId !== null && value !== undefined)
      await desk.choose(floor.agentOf(desk).agent, { options: { [configId]: value } }, model);
  }
  passAnswer(floor, request, { answer, session, more });
}
