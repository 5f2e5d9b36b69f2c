import type { Json } from "#log/json/json-text";
import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";

type Fields = { readonly [name: string]: Json };

/** How a session's modes and options stand. Some agents tell the mode as both; then both say the same. */
export class SessionOptions {
  #modes: Json = null;
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

  get options(): Json {
    return this.#options;
  }

  /** As the agent told them with the session. */
  begin(modes: Json, options: Json): void {
    this.#modes = modes;
    this.#options = options;
  }

  setMode(mode: string): void {
    this.#modes = { ...fieldsOf(this.#modes), currentModeId: mode };
    if (this.#options === null) return;
    this.#options = listIn(this.#options).map((option) =>
      isMode(option) ? withValue(option, mode) : option,
    );
  }

  setOptions(options: Json): void {
    this.#options = options;
    const mode = listIn(options).find((option) => isMode(option))?.["currentValue"];
    const { availableModes = null } = fieldsOf(this.#modes);
    if (listIn(availableModes).some(({ id }) => id === mode))
      this.#modes = { ...fieldsOf(this.#modes), currentModeId: mode ?? null };
  }
}

function isMode(option: Fields): boolean {
  return option["category"] === "mode" || option["id"] === "mode";
}

/** A mode the option does not know is none of its values. */
function withValue(option: Fields, mode: string): Fields {
  const known = listIn(option["options"] ?? null).some(({ value }) => value === mode);
  return known ? { ...option, currentValue: mode } : option;
}
