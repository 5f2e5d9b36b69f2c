import type { ContentBlock } from "#log/message";
import type { Json } from "#log/json/json-text";

type JsonObject = { readonly [name: string]: Json };

/** What a tool is given of its call. */
export interface ToolRun {
  /** The same whenever this call is made again. */
  readonly idempotencyKey: string;
  /** Aborted when the turn is over, or the tool's time is. */
  readonly signal: AbortSignal;
  /** Says how far it is; for people, and never sent to a model. What is said in a row is one text. */
  readonly progress: (text: string) => void;
  /**
   * Makes a process known that waits to begin its work (`identityText`): once this resolves, whoever finds the turn
   * after a crash ends its group. A tool that returns has ended what it started.
   */
  readonly recordProcess: (process: string) => Promise<void>;
}

/** What a tool gives. A plain string is the same as its text. */
export interface ToolOutput {
  readonly content: string | readonly ContentBlock[];
  /** Kept with the result and never sent to a model. Its member `stateUpdate` is where `state` is kept. */
  readonly details?: Json;
  /** What changes in the conversation's state: these members are so from here on, null takes one away. */
  readonly state?: JsonObject;
  /** It ran, and this is what went wrong. */
  readonly isError?: boolean;
}

/** What Standard Schema asks of a schema, and what the newer ones say of themselves as JSON Schema. */
export interface StandardSchema<T = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): StandardResult<T> | Promise<StandardResult<T>>;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
    readonly jsonSchema?: { input(options: { readonly target: string }): Record<string, unknown> };
  };
}

type StandardResult<T = unknown> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?:
    | readonly (string | number | symbol | { readonly key: string | number | symbol })[]
    | undefined;
}

/** A tool that Holdfast runs. Undeclared, its effect is never repeated. */
export interface Tool {
  readonly name: string;
  /** Told to the model. */
  readonly description?: string;
  /** What its input has to be: a Standard Schema (zod, valibot, arktype), or a JSON Schema. Any object unless given. */
  readonly input?: StandardSchema | JsonObject;
  /** The JSON Schema told to the model, where the schema cannot say it itself. */
  readonly inputSchema?: JsonObject;
  /** `none`: it changes nothing outside, so it needs no record before it runs and may run again. */
  readonly effect?: "none";
  readonly replay?: "never" | "safe";
  /** How long it may run. */
  readonly timeoutMs?: number;
  /** How much of its text the model is shown; the whole is kept as a blob. */
  readonly outputChars?: number;
  /** A turn is over once it has run, as after an answer. */
  readonly final?: boolean;
  run(input: Json, call: ToolRun): Promise<ToolOutput | string>;
  /** The same without an effect, for replays: what it would have said. */
  dryRun?(input: Json, call: ToolRun): Promise<ToolOutput | string>;
}
