import type { Divergence } from "#log/diff/diff-branches";
import type { EndingClass } from "#log/ending-class";
import type { EntryId } from "#log/ids";
import type { UsageTotals } from "#log/summary";
import type { Host, HostEvent } from "#turn/host";
import type { AgentOptions, AgentResult } from "#agent/agent-options";
import type { ModelInput } from "#agent/models/model";
import type { Json } from "#log/json/json-text";
import type { StandardSchema, Tool, ToolOutput } from "#turn/effects/tool";
import { toolDefinition } from "#agent/tools/tool-schema";

/** Whose tools, prompt and rules a replay has; a model is named apart. */
export type ReplayAgent = Omit<AgentOptions, "model" | "fallbackModels" | "replaceTool" | "whenAsked">;

/** The prompts of a branch to replay (default: all). */
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
  /** How tools run (default: `dry-run`, without side effects). */
  readonly tools?: ReplayTools;
  /** Takes the place of what the agent says of its task; recorded in each fork. */
  readonly patchSystem?: string;
  /** Answers of each model, and microdollars, that its replay may take. */
  readonly maxSteps?: number;
  readonly maxCostMicros?: number;
  /** The folder of the forks (default: that of the original). */
  readonly cwd?: string;
  readonly onEvent?: (event: ReplayEvent) => void;
  /** Decides on every side effect of live tools, and on calls for which the agent's rules ask. Without it, such calls are refused. */
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
  /** Tools that the original run did not start with; empty if its tools are not recorded. */
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

/** What becomes of a model's calls in a replay. */
export type ReplayTools = "dry-run" | "recorded" | "live";

export const REPLAY_TOOLS: readonly ReplayTools[] = ["dry-run", "recorded", "live"];

/** A call of a replay that the original has no answer for. */
export interface UnansweredCall {
  readonly name: string;
  readonly input: Json;
}

/** What the original's call of this tool with these arguments gave, the next one of them; null: there is none. */
type AnswerLookup = (call: UnansweredCall) => Promise<ToolOutput | null>;

const RESULT_CHARS_MAX = 1_048_576; // what was shown to a model once is shown again as it was

const AS_SENT: StandardSchema = {
  "~standard": { version: 1, vendor: "holdfast", validate: (value) => ({ value }) },
};

/** Without effects: what has none runs, what can say what it would do says so, everything else is told as not run. */
export function dryRunTool(tool: Tool): Tool {
  if (tool.effect === "none") return tool;
  if (tool.dryRun !== undefined)
    return standIn(tool, async (input, call) => tool.dryRun?.(input, call) ?? "");
  return standIn(tool, async () => ({
    isError: true,
    content: `${tool.name} was not run: this is a replay, and the tool has no dry run. Continue as if it were not available.`,
  }));
}

/** By the record alone: no tool runs, and what a model sent is looked up as it sent it. */
export function recordedTool(tool: Tool, answerOf: AnswerLookup): Tool {
  const { inputSchema } = toolDefinition(tool);
  const run: Tool["run"] = async (input) =>
    (await answerOf({ name: tool.name, input })) ?? {
      isError: true,
      content: `${tool.name} was not run: this is a replay, and the record contains no such call. Continue without it.`,
    };
  return { ...standIn(tool, run), input: AS_SENT, inputSchema, outputChars: RESULT_CHARS_MAX };
}

const standIns = new WeakSet<Tool>();

/** Whether a tool is a stand-in without side effects, which needs no permission. */
export function isStandIn(tool: Tool): boolean {
  return standIns.has(tool);
}

/** To a model the same tool. */
function standIn(tool: Tool, run: Tool["run"]): Tool {
  const { description, input, inputSchema, timeoutMs, outputChars, final } = tool;
  const stands: Tool = {
    name: tool.name,
    effect: "none",
    ...(description === undefined ? {} : { description }),
    ...(input === undefined ? {} : { input }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(outputChars === undefined ? {} : { outputChars }),
    ...(final === undefined ? {} : { final }),
    run,
  };
  standIns.add(stands);
  return stands;
}
