import type { Json } from "#log/json/json-text";
import type { StandardSchema, Tool, ToolOutput } from "#turn/effects/tool";
import { toolDefinition } from "#agent/tools/tool-schema";

/** What becomes of a model's calls in a replay. */
export type ReplayTools = "dry-run" | "recorded" | "live";

export const REPLAY_TOOLS: readonly ReplayTools[] = ["dry-run", "recorded", "live"];

/** A call of a replay that the original has no answer for. */
export interface UnansweredCall {
  readonly name: string;
  readonly input: Json;
}

/** What the original's call of this tool with these arguments gave, the next one of them; null: there is none. */
export type AnswerLookup = (call: UnansweredCall) => Promise<ToolOutput | null>;

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
    content: `${tool.name} was not run: this is a replay, and the tool cannot say what it would do without doing it. Go on as if it were not there.`,
  }));
}

/** By the record alone: no tool runs, and what a model sent is looked up as it sent it. */
export function recordedTool(tool: Tool, answerOf: AnswerLookup): Tool {
  const { inputSchema } = toolDefinition(tool);
  const run: Tool["run"] = async (input) =>
    (await answerOf({ name: tool.name, input })) ?? {
      isError: true,
      content: `${tool.name} was not run: this is a replay of a record, which has no such call. Go on without it.`,
    };
  return { ...standIn(tool, run), input: AS_SENT, inputSchema, outputChars: RESULT_CHARS_MAX };
}

const standIns = new WeakSet<Tool>();

/** Whether it does nothing, so that nobody has to be asked. */
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
