import { readSettings } from "#conversation/reading";
import type { EntryBody } from "#log/entry";
import { type Fields, listIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import {
  type AgentChoices,
  choicesIn,
  type Config,
  readConfig,
  withChoices,
  withConfig,
  withoutCwd,
} from "#log/projections/config";
import { cwdOf } from "#log/projections/settings";
import type { ConversationId } from "#log/ids";
import { isModel } from "#edges/acp/agent/meaning/option-values";
import type { BridgeParts } from "./bridge-parts.ts";

type Change = (config: Fields) => Fields;

interface ConversationLog {
  /** The config as the log has it. */
  config(): Promise<Fields>;
  /** Appends what the function gives, which is called when nobody else can write. */
  note(bodies: () => Promise<readonly EntryBody[]>): Promise<void>;
}

/** The settings of one conversation: what holds now, written to the log in order. */
export class ConversationSettings {
  /** The config as it was last read or written. */
  #stored: Fields;
  /** Changes that hold already and are not written yet. */
  #pending: Change[] = [];
  #writing: Promise<void> = Promise.resolve();
  /** The options as the session had them when it was opened. */
  #initial: ReadonlyMap<Json, Json> = new Map();
  readonly #log: ConversationLog;

  constructor(stored: Fields, log: ConversationLog) {
    this.#stored = stored;
    this.#log = log;
  }

  get #config(): Fields {
    return this.#pending.reduce((config, change) => change(config), this.#stored);
  }

  get config(): Config {
    return readConfig(this.#config);
  }

  /** These members hold from now on. */
  change(changed: Omit<Config, "agents" | "cwd">): Promise<void> {
    return this.#change((config) => withConfig(config, changed), []);
  }

  /** Where it is worked on, where its head names this folder. */
  folder(headCwd: string | null): string | null {
    return cwdOf(this.#config, headCwd);
  }

  /** It is worked on in another folder from now on. */
  moveTo(cwd: string): Promise<void> {
    return this.#change((config) => withoutCwd(config), [{ type: "cwd", cwd }]);
  }

  /** Keeps what was chosen for an agent; `model` when that is a model. */
  choose(agent: string, chosen: AgentChoices, model: string | null): Promise<void> {
    const more: readonly EntryBody[] =
      model === null ? [] : [{ type: "model_change", model, provider: agent }];
    return this.#change((config) => withChoices(config, agent, chosen), more);
  }

  /** The log says which model is at work, whenever another agent or session brings another. */
  async modelAtWork(agent: string, model: string | null): Promise<void> {
    const { working } = this.config;
    if (model === null || (working?.agent === agent && working.model === model)) return;
    const changed = { working: { agent, model } };
    await this.#change(
      (config) => withConfig(config, changed),
      [{ type: "model_change", model, provider: agent }],
    );
  }

  /** The change is made to what the log has by then: another window may have written it since. */
  #change(change: Change, more: readonly EntryBody[]): Promise<void> {
    const before = this.#config;
    if (more.length === 0 && isSame(change(before), before)) return this.#writing;
    this.#pending.push(change);
    const bodies = async (): Promise<readonly EntryBody[]> => {
      const stored = await this.#log.config();
      const config = change(stored);
      this.#stored = config;
      this.#pending = this.#pending.filter((one) => one !== change);
      return isSame(config, stored) ? more : [{ type: "config_change", config }, ...more];
    };
    // A turn that began meanwhile has taken the conversation over; it takes this along.
    const write = (): Promise<void> => this.#log.note(bodies).catch(() => this.#log.note(bodies));
    // One after the other: two that write at once take the conversation from each other, and one of them is lost.
    const writing = this.#writing.then(write);
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  /** Reads what other windows have written, in line with what is written here; gives what held before. */
  refresh(): Promise<Config> {
    const reading = this.#writing.then(async () => {
      const stored = await this.#log.config();
      const before = this.config;
      this.#stored = stored;
      return before;
    });
    this.#writing = reading.then(
      () => undefined,
      () => undefined,
    );
    return reading;
  }

  /** Remembers the options of a session that was just opened, so that later changes can be told from them. */
  sessionBegan(options: Json): void {
    this.#initial = new Map(
      listIn(options).map((option) => [option["id"] ?? null, option["currentValue"] ?? null]),
    );
  }

  /** What a session says of its options now, as far as it differs from how it began and is not chosen already. */
  changedSince(agent: string, options: Json): { readonly options: Fields; readonly model: string | null } {
    const { options: chosen = {} } = choicesIn(this.config, agent);
    const differ = listIn(options).filter(
      ({ id = null, currentValue }) =>
        currentValue !== undefined &&
        this.#initial.get(id) !== currentValue &&
        chosen[wordsIn(id)] !== currentValue,
    );
    const values = differ.map((option) => [wordsIn(option["id"]), option["currentValue"] ?? null] as const);
    const model = differ.find((option) => isModel(option))?.["currentValue"];
    return { options: Object.fromEntries(values), model: typeof model === "string" ? model : null };
  }
}

function isSame(one: Fields, other: Fields): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The config as the log has it. */
export async function readStoredConfig({ holdfast }: BridgeParts, id: ConversationId): Promise<Fields> {
  const { leaf } = await holdfast.space.head(id);
  return (await readSettings(holdfast.space, id, leaf)).config;
}
