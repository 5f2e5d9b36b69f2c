import type { ContentBlock, Usage } from "#log/message";
import type { Json } from "#log/json/json-text";
import type { ContextMessage } from "#log/projections/pairs";
import type { Ending } from "#turn/rules/ending";

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

/** What is streamed of an answer. */
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
  /** No answer: why, what had come by then, and what is known to have been used. */
  | {
      readonly answer: null;
      readonly ending: Ending;
      readonly partial: readonly ContentBlock[];
      readonly usage: Usage | null;
    };
