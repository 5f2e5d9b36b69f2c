import type { Json } from "#log/json/json-text";
import type { AgentChoices } from "#log/projections/config";
import { type Connection, resultOf } from "./process/connection.ts";
import type { SessionOptions } from "./session-options.ts";
import { fieldsOf, listIn } from "#log/json/json-fields";

type Fields = { readonly [name: string]: Json };

interface SetSession {
  readonly id: string;
  readonly connection: Connection;
  readonly options: SessionOptions;
}

/** Gives a session the mode and options it should have. One it does not know, or refuses, stays as the agent has it. */
export async function replaySettings(session: SetSession, wanted: AgentChoices): Promise<void> {
  const { mode, model, options } = wanted;
  if (model !== undefined && (await set(session, "session/set_model", { modelId: model })) !== REFUSED)
    session.options.setModel(model);
  for (const [configId, value] of Object.entries(options ?? {})) {
    const known = listIn(session.options.options).find((option) => option["id"] === configId);
    if (known === undefined || known["currentValue"] === value) continue;
    const kind = typeof value === "boolean" ? { type: "boolean" } : {};
    const result = await set(session, "session/set_config_option", { configId, ...kind, value });
    if (result["configOptions"] !== undefined) session.options.setOptions(result["configOptions"]);
  }
  if (mode === undefined || fieldsOf(session.options.modes)["currentModeId"] === mode) return;
  if (!modesOf(session.options.modes).includes(mode)) return;
  const done = await set(session, "session/set_mode", { modeId: mode });
  if (done !== REFUSED) session.options.setMode(mode);
}

const REFUSED: Fields = {};

async function set(session: SetSession, method: string, params: Fields): Promise<Fields> {
  const text = JSON.stringify({ sessionId: session.id, ...params });
  const answer = await session.connection.request(method, text);
  return answer.error === null ? { ...fieldsOf(resultOf(answer)) } : REFUSED;
}

function modesOf(modes: Json): readonly Json[] {
  const { availableModes } = fieldsOf(modes);
  return listIn(availableModes ?? null).map((mode) => mode["id"] ?? null);
}
