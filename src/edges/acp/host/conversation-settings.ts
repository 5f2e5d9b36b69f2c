import type { EntryBody } from "#log/entry";
import { type Fields, listIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import {
  type AgentChoices,
  type Config,
  readConfig,
  withChoices,
  withConfig,
  withoutCwd,
} from "#log/projections/config";
import { cwdOf } from "#log/projections/settings";
import { isModel } from "#edges/acp/agent/meaning/options";

/** The settings of one conversation: what holds now, written to the log in order. */
export class ConversationSettings {
  #config: Fields;
  /** The config as the log has it. */
  #written: Fields;
  #writing: Promise<void> = Promise.resolve();
  /** The options as the session had them when it was opened. */
  #initial: ReadonlyMap<Json, Json> = new Map();
  readonly #note: (bodies: readonly EntryBody[]) => Promise<void>;

  /** `note` appends to the conversation's log. */
  constructor(config: Fields, note: (bodies: readonly EntryBody[]) => Promise<void>) {
    this.#config = config;
    this.#written = config;
    this.#note = note;
  }

  get config(): Config {
    return readConfig(this.#config);
  }

  /** These members hold from now on. */
  change(changed: Omit<Config, "agents" | "cwd">): Promise<void> {
    return this.#set(withConfig(this.#config, changed), []);
  }

  /** Where it is worked on, where its head names this folder. */
  folder(headCwd: string | null): string | null {
    return cwdOf(this.#config, headCwd);
  }

  /** It is worked on in another folder from now on. */
  moveTo(cwd: string): Promise<void> {
    return this.#set(withoutCwd(this.#config), [{ type: "cwd", cwd }]);
  }

  /** Keeps what was chosen for an agent; `model` when that is a model. */
  choose(agent: string, chosen: AgentChoices, model: string | null): Promise<void> {
    const more: readonly EntryBody[] =
      model === null ? [] : [{ type: "model_change", model, provider: agent }];
    return this.#set(withChoices(this.#config, agent, chosen), more);
  }

  /** The log says which model is at work, whenever another agent or session brings another. */
  async modelAtWork(agent: string, model: string | null): Promise<void> {
    const { working } = this.config;
    if (model === null || (working?.agent === agent && working.model === model)) return;
    const config = withConfig(this.#config, { working: { agent, model } });
    await this.#set(config, [{ type: "model_change", model, provider: agent }]);
  }

  #set(config: Fields, more: readonly EntryBody[]): Promise<void> {
    this.#config = config;
    const write = async (): Promise<void> => {
      const now = this.#config;
      const isNew = JSON.stringify(now) !== JSON.stringify(this.#written);
      const bodies: readonly EntryBody[] = isNew ? [{ type: "config_change", config: now }, ...more] : more;
      if (bodies.length === 0) return;
      // A turn that began meanwhile has taken the conversation over; it takes this along.
      await this.#note(bodies).catch(() => this.#note(bodies));
      this.#written = now;
    };
    // One after the other: two that write at once take the conversation from each other, and one of them is lost.
    const writing = this.#writing.then(write);
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  /** Remembers the options of a session that was just opened, so that later changes can be told from them. */
  sessionBegan(options: Json): void {
    this.#initial = new Map(
      listIn(options).map((option) => [option["id"] ?? null, option["currentValue"] ?? null]),
    );
  }

  /** What a session says of its options now, as far as it differs from how it began. */
  changedSince(options: Json): { readonly options: Fields; readonly model: string | null } {
    const differ = listIn(options).filter(
      (option) =>
        option["currentValue"] !== undefined &&
        this.#initial.get(option["id"] ?? null) !== option["currentValue"],
    );
    const values = differ.map((option) => [wordsIn(option["id"]), option["currentValue"] ?? null] as const);
    const model = differ.find((option) => isModel(option))?.["currentValue"];
    return { options: Object.fromEntries(values), model: typeof model === "string" ? model : null };
  }
}
