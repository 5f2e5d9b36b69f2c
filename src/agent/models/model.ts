import type { LanguageModelV4 } from "@ai-sdk/provider";

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
  readonly model: LanguageModelV4;
  /** How many tokens it takes; null when that is not known. */
  readonly window: number | null;
  /** How many tokens it gives at most; null: as many as its package says. */
  readonly maxOutput: number | null;
  /** Null when it is not known; what was used is reported all the same. */
  readonly price: Price | null;
}

/** `provider/name`, a model of the AI SDK, or one with what is known of it. */
export type ModelGiven = string | LanguageModelV4 | AgentModel;
