import type { Json } from "#log/json/json-text";
import { type Fields, fieldsOf, listIn, wordsIn } from "#log/json/json-fields";
import type { AgentChoices } from "#log/projections/config";
import { type Connection, resultOf } from "./connection.ts";

/** A session's modes, models and options as they are now. An agent may report a mode or a model twice; both then agree. */
export class SessionOptions {
  #modes: Json = null;
  #models: Json = null;
  #options: Json = null;
  #commands: ReadonlySet<string> = new Set();

  /** The names of the commands it offers. */
  get commands(): ReadonlySet<string> {
    return this.#commands;
  }

  setCommands(commands: Json): void {
    this.#commands = new Set(listIn(commands).map(({ name }) => wordsIn(name)));
  }

  get modes(): Json {
    return this.#modes;
  }

  /** The models in the older protocol's shape; null when the agent reports none. */
  get models(): Json {
    return this.#models;
  }

  get options(): Json {
    return this.#options;
  }

  /** As the agent sent them with the session. */
  begin({ modes = null, models = null, configOptions = null }: Fields): void {
    this.#modes = modes;
    this.#models = models;
    this.#options = configOptions;
  }

  setMode(mode: string): void {
    this.#modes = { ...fieldsOf(this.#modes), currentModeId: mode };
    this.#setValue(isMode, mode);
  }

  /** The model by its name in the older protocol. */
  setModel(model: string): void {
    if (this.#models !== null) this.#models = { ...fieldsOf(this.#models), currentModelId: model };
    this.#setValue(isModel, model);
  }

  #setValue(isOne: (option: Fields) => boolean, value: string): void {
    if (this.#options === null) return;
    this.#options = listIn(this.#options).map((option) =>
      isOne(option) ? withValue(option, value) : option,
    );
  }

  setOptions(options: Json): void {
    this.#options = options;
    const mode = listIn(options).find((option) => isMode(option))?.["currentValue"];
    const { availableModes = null } = fieldsOf(this.#modes);
    if (listIn(availableModes).some(({ id }) => id === mode))
      this.#modes = { ...fieldsOf(this.#modes), currentModeId: mode ?? null };
    const model = olderName(this.#models, listIn(options));
    if (model !== null) this.#models = { ...fieldsOf(this.#models), currentModelId: model };
  }
}

/** The older protocol's name for the model the options choose. Codex names a model together with its effort. */
function olderName(models: Json, options: readonly Fields[]): string | null {
  const available = listIn(fieldsOf(models)["availableModels"] ?? null);
  const ids = new Set(available.map(({ modelId }) => modelId));
  const model = wordsIn(options.find((option) => isModel(option))?.["currentValue"]);
  const names = [model, ...options.map(({ currentValue }) => `${model}[${wordsIn(currentValue)}]`)];
  return names.find((name) => ids.has(name)) ?? null;
}

function isMode(option: Fields): boolean {
  return option["category"] === "mode" || option["id"] === "mode";
}

/** A mode the option does not know is none of its values. */
function withValue(option: Fields, mode: string): Fields {
  const isAvailable = listIn(option["options"] ?? null).some(({ value }) => value === mode);
  return isAvailable ? { ...option, currentValue: mode } : option;
}

/** The option that chooses the model. */
export function isModel(option: Fields): boolean {
  return option["category"] === "model" || option["id"] === "model";
}

interface SetSession {
  readonly id: string;
  readonly connection: Connection;
  readonly options: SessionOptions;
}

/** Gives a session the mode and options it should have. One it does not know, or refuses, stays as the agent has it. */
export async function replaySettings(session: SetSession, choices: AgentChoices): Promise<void> {
  const { mode, model, options } = choices;
  if (model !== undefined && (await set(session, "session/set_model", { modelId: model })) !== REFUSED)
    session.options.setModel(model);
  for (const [configId, value] of Object.entries(options ?? {})) {
    const current = listIn(session.options.options).find((option) => option["id"] === configId);
    if (current === undefined || current["currentValue"] === value) continue;
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
