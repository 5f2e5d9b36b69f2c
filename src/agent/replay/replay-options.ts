import type { Divergence } from "#log/diff/diff-branches";
import type { EndingClass } from "#log/ending-class";
import type { EntryId } from "#log/ids";
import type { UsageTotals } from "#log/summary";
import type { Host, HostEvent } from "#turn/host";
import type { AgentOptions, AgentResult } from "#agent/agent-options";
import type { ModelInput } from "#agent/models/model";
import type { UnansweredCall, ReplayTools } from "./replay-tools.ts";

/** Whose tools, prompt and rules a replay has; a model is named apart. */
export type ReplayAgent = Omit<AgentOptions, "model" | "fallbackModels" | "replaceTool" | "whenAsked">;

/** Which prompts of a branch are sent again; all unless told. */
export interface ReplayPart {
  /** The first message that is not kept, from 1. */
  readonly fromMessage?: number;
  /** The same by an entry: the prompt that it is, or came of, is the first that is sent. */
  readonly fromEntry?: string;
  /** How many prompts are sent; what came after them is no part of the replay. */
  readonly maxPrompts?: number;
}

export interface ReplayOptions extends ReplayPart {
  /** Each is asked on a fork of its own. */
  readonly models: readonly ModelInput[];
  readonly agent?: ReplayAgent;
  /** `dry-run` unless told: nothing has an effect. */
  readonly tools?: ReplayTools;
  /** Takes the place of what the agent says of its task; recorded in each fork. */
  readonly patchSystem?: string;
  /** Answers of each model, and microdollars, that its replay may take. */
  readonly maxSteps?: number;
  readonly maxCostMicros?: number;
  /** Where the forks are worked on; where the original is unless told. */
  readonly cwd?: string;
  readonly onEvent?: (event: ReplayEvent) => void;
  /** Asked for every effect of live tools, and where the agent's own rules ask; where nobody can be asked they are refused. */
  readonly onPermission?: NonNullable<Host["onPermission"]>;
  /** Stops the replay: what came of it is kept. */
  readonly signal?: AbortSignal;
}

/** What a replay is about, told before anything is sent or written. */
export interface ReplayPlan {
  readonly source: { readonly conversation: string; readonly entry: EntryId; readonly run: string | null };
  readonly keptTo: EntryId;
  readonly models: readonly string[];
  readonly tools: ReplayTools;
  readonly prompts: number;
  /** Tools that the original called or was begun with, and that are not here. */
  readonly absent: readonly string[];
  /** Tools that the original's run was not begun with; empty where nobody recorded that. */
  readonly added: readonly string[];
  /** What each model may cost; absent: there is no limit. */
  readonly maxCostMicros?: number;
  /** Other words take the place of what the agent says of its task. */
  readonly isPatched?: true;
}

/** What one model made of one prompt. */
export interface ReplayedTurn {
  readonly conversation: string;
  /** Which prompt, from 1. */
  readonly number: number;
  /** Which message of the original it is. */
  readonly messageNumber: number;
  readonly turn: string;
  readonly outcome: AgentResult["outcome"];
  readonly class: EndingClass | null;
  /** Why it ended otherwise. */
  readonly message: string;
  readonly steps: number;
  /** The first call that is another than in the original, there or here. */
  readonly divergence: Divergence | null;
  readonly textDiffers: boolean;
}

/** What became of the replay by one model. */
export interface ReplayResult {
  /** The fork that it was made on, and its run. */
  readonly conversation: string;
  readonly run: string;
  /** Where the original has runs with seeds of their own, one for each of those; the last is `run`. */
  readonly runs: readonly string[];
  readonly model: string;
  /** `completed`: all prompts were sent and answered. */
  readonly outcome: AgentResult["outcome"];
  readonly class: EndingClass | null;
  /** Why it ended before all were. */
  readonly message: string;
  readonly prompts: number;
  readonly sent: number;
  readonly steps: number;
  readonly calls: number;
  readonly usage: UsageTotals;
  /** Calls that the record had no answer for. */
  readonly missed: readonly UnansweredCall[];
  /** Where its calls part from the original's; null: they are the same, by name, arguments and order. */
  readonly divergence: Divergence | null;
  readonly textDiffers: boolean;
}

export type ReplayEvent =
  | ({ readonly type: "planned" } & ReplayPlan)
  | {
      readonly type: "forked";
      readonly conversation: string;
      readonly run: string;
      readonly model: string;
    }
  | {
      readonly type: "prompt";
      readonly conversation: string;
      readonly number: number;
      readonly messageNumber: number;
    }
  | ({ readonly type: "missed"; readonly conversation: string } & UnansweredCall)
  | ({ readonly type: "turn" } & ReplayedTurn)
  | ({ readonly type: "ended" } & ReplayResult)
  /** What a host of the loop is told while a prompt is carried. */
  | Exclude<HostEvent, { readonly type: "ended" | "forked" }>;
