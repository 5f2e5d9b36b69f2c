import type { EntryBody } from "#log/entry";
import { cwdOf, isAskedDirectly, modelChange, type Settings } from "#log/projections/settings";
import type { AgentWork } from "#agent/loop/loop-turn";
import type { ResolvedOptions } from "#agent/agent-options";
import type { AgentModel, ModelInput } from "./model.ts";
import { idOfModel } from "./open-model.ts";

/** The model a turn asks, and where it works. */
export interface ModelSelection {
  readonly model: AgentModel;
  /** Those that are asked in its place, in order. */
  readonly fallbacks: readonly AgentModel[];
  readonly cwd: string | null;
  readonly config: Settings["config"];
  /** What has to be written where it is another than before. */
  readonly bodies: readonly EntryBody[];
}

/** Which model is asked in which conversation; those that are named are opened once. */
export class ModelChoice {
  readonly #options: Pick<ResolvedOptions, "model" | "fallbackModels" | "openModel">;
  readonly #opened = new Map<string, Promise<AgentModel>>();

  constructor(options: Pick<ResolvedOptions, "model" | "fallbackModels" | "openModel">) {
    this.#options = options;
  }

  /** The one told, else the conversation's, else the agent's own. */
  async choose(work: AgentWork, input: ModelInput | undefined): Promise<ModelSelection> {
    const { conversation, owner, warm } = work;
    const head = owner.unchangedHead ?? (await conversation.head());
    const settings = warm.context.settingsAt(head) ?? (await conversation.settings());
    const { cwd } = head;
    const model = await this.#open(input ?? modelOfSettings(settings) ?? this.#options.model);
    const others = await Promise.all(this.#options.fallbackModels.map((one) => this.#open(one)));
    const fallbacks = others.filter(({ id }) => id !== model.id);
    const bodies = settings.model === model.id ? [] : [modelChange(model.id)];
    const { config } = settings;
    return { model, fallbacks, bodies, config, cwd: cwdOf(config, cwd) };
  }

  /** Why a model that a conversation names cannot be asked here; null when it can, or is another agent's own. */
  async problem(model: string): Promise<string | null> {
    const chosen = modelOfSettings({ model });
    if (chosen === null) return null;
    return this.#open(chosen).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  }

  async #open(input: ModelInput): Promise<AgentModel> {
    const { model: own, openModel } = this.#options;
    // A conversation names a model that was handed in as an object by its id.
    if (typeof input === "string" && typeof own !== "string" && idOfModel(own) === input)
      return openModel(own);
    if (typeof input !== "string") return openModel(input);
    const opening = this.#opened.get(input) ?? openModel(input);
    this.#opened.set(input, opening);
    opening.catch(() => this.#opened.delete(input));
    return opening;
  }
}

/** The model of a conversation that can be asked here; that of an agent which carried it before has a name that says nothing. */
export function modelOfSettings(settings: Pick<Settings, "model" | "modelProvider">): string | null {
  const { model } = settings;
  const direct = isAskedDirectly(settings) ?? (model === "sim" || model?.includes("/"));
  return direct === true ? model : null;
}
