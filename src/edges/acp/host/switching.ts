import { LogError } from "#log/errors";
import { toldInWords } from "#sending/rules/told";
import type { Desk } from "./desk.ts";
import type { Floor, Ready } from "./floor.ts";
import type { HostRequest } from "./wire/requests.ts";
import { withAgentOption } from "./state.ts";

/** The same conversation, carried on by another agent; says what that one knows of it. */
export async function switchAgent(floor: Floor, desk: Desk, name: string): Promise<string> {
  if (!floor.agents.some(({ agent }) => agent === name))
    throw new LogError(
      "invalid_request",
      `There is no agent ${name}; there are ${floor.agents.map(({ agent }) => agent).join(", ")}`,
    );
  const before = floor.agentOf(desk).agent;
  if (before === name) return "";
  await desk.change({ agent: name });
  let ready: Ready;
  try {
    ready = await floor.connect(desk);
  } catch (error) {
    await desk.change({ agent: before });
    throw error;
  } finally {
    floor.openGate(desk);
  }
  const { fidelity, told } = ready.connected;
  const word = {
    event: "switched",
    from: before,
    agent: name,
    fidelity,
    ...(told === null ? {} : { told: { ...told } }),
  };
  floor.wire.update(desk.id, { sessionUpdate: "session_info_update", _meta: { holdfast: word } });
  if (told !== null) return `With your next message it is told ${toldInWords(told)}.`;
  return fidelity === "transcript" ? "It has the whole history, tools included." : "";
}

/** Another agent has other modes and options. */
export function tellState(floor: Floor, desk: Desk): void {
  const held = floor.sessionHeld(desk);
  const options = withAgentOption(floor, desk, held?.standing.options ?? null);
  if (options !== null)
    floor.wire.update(desk.id, { sessionUpdate: "config_option_update", configOptions: options });
}

/** `session/set_config_option` for the option that is ours. */
export async function setAgent(floor: Floor, desk: Desk, request: HostRequest): Promise<void> {
  await switchAgent(floor, desk, request.text("value") ?? "");
  const options = withAgentOption(floor, desk, floor.sessionHeld(desk)?.standing.options ?? null);
  if (request.id !== null) floor.wire.respond(request.id, JSON.stringify({ configOptions: options }));
}
