import type { Json } from "#log/json/json-text";
import { type Fields, fieldsOf, listIn, wordsIn } from "#log/json/json-fields";
import { isModel } from "./meaning/option-values.ts";

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

  /** As the agent told them with the session. */
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
  const known = new Set(available.map(({ modelId }) => modelId));
  const model = wordsIn(options.find((option) => isModel(option))?.["currentValue"]);
  const names = [model, ...options.map(({ currentValue }) => `${model}[${wordsIn(currentValue)}]`)];
  return names.find((name) => known.has(name)) ?? null;
}

function isMode(option: Fields): boolean {
  return option["category"] === "mode" || option["id"] === "mode";
}

/** A mode the option does not know is none of its values. */
function withValue(option: Fields, mode: string): Fields {
  const known = listIn(option["options"] ?? null).some(({ value }) => value === mode);
  return known ? { ...option, currentValue: mode } : option;
}
