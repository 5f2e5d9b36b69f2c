/**
 * A model of the AI SDK's provider interface (`LanguageModelV4`), as far as it is told apart here: whoever hands one in has its
 * package, and nobody else needs it, not even for its types.
 */
interface LanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<unknown>;
}

/** Microdollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** A model to ask. */
export interface AgentModel {
  /** `provider/name`: what it is called in the log. */
  readonly id: string;
  readonly model: LanguageModel;
  /** How many tokens it takes; null when that is not known. */
  readonly window: number | null;
  /** How many tokens it gives at most; null: as many as its package says. */
  readonly maxOutput: number | null;
  /** Null when it is not known; what was used is reported all the same. */
  readonly price: Price | null;
}

/** `provider/name`, a model of the AI SDK, or one with what is known of it. */
export type ModelInput = string | LanguageModel | AgentModel;
