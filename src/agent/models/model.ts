import type { ContentBlock, Usage } from "#log/message";
import type { Json } from "#log/json/json-text";
import type { ContextMessage } from "#log/projections/pairs";
import type { Ending } from "#turn/rules/ending"; /**
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
  /** Null if unknown; usage is reported anyway. */
  readonly price: Price | null;
}

/** `provider/name`, a model of the AI SDK, or a model with its facts. */
export type ModelInput = string | LanguageModel | AgentModel;

/** A tool as a model is told of it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: { readonly [name: string]: Json };
}

/** What a model is asked, before a provider's own form of it. */
export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  /** With the bytes of images in them. */
  readonly messages: readonly ContextMessage[];
  /** What changes from call to call; one block behind the newest message. */
  readonly reminder: string | null;
  /** Names what requests with a common beginning have in common, for providers that want to know. */
  readonly cacheKey: string;
}

/** A streamed part of an answer. */
export type ModelEvent =
  | { readonly type: "text" | "thinking"; readonly text: string }
  /** The input of a call is being written; `chars` of it by now. */
  | { readonly type: "call"; readonly call: string; readonly name: string; readonly chars: number };

/** How an answer ended, where it did: `paused` wants to be asked on with what there is. */
export type Finish = "stop" | "calls" | "length" | "filtered" | "paused";

/** A whole answer. */
export interface ModelAnswer {
  /** In the order of the stream. Calls have ids of their own within it, and inputs that are JSON, or else the text that came. */
  readonly content: readonly ContentBlock[];
  /** Ids of calls whose input is no JSON, or was cut by the output limit: they are not run. */
  readonly brokenCalls: readonly string[];
  readonly finish: Finish;
  /** With its cost, where the price is known; null when nothing was reported. */
  readonly usage: Usage | null;
  readonly warnings: readonly string[];
}

/** What became of one call of a model. */
export type ModelOutcome =
  | { readonly answer: ModelAnswer; readonly ending: null }
  /** No answer: the reason, the blocks received by then, and the known usage. */
  | {
      readonly answer: null;
      readonly ending: Ending;
      readonly partial: readonly ContentBlock[];
      readonly usage: Usage | null;
    };
