import type { AssistantMessage, ContentBlock, ToolCall, ToolResultMessage } from "#log/message";
import type { Finish, ModelAnswer } from "#agent/models/model";
import { resultMessage } from "#turn/rules/turn-record";
import type { Refusal } from "#agent/tools/permissions";
import type { Entry, EntryOf } from "#log/entry";

/** What decides how an answer is read. */
export interface StepRules {
  /** What the model is called in the log. */
  readonly model: string;
  /** The tools there are, by name; `final`: the turn is over once it has run. */
  readonly tools: ReadonlyMap<string, { readonly final?: boolean }>;
  /** Whether a message is for the model only and hidden from users' history (default: none is). */
  readonly isInternal?: ((message: AssistantMessage) => boolean) | undefined;
}

/** A step as entries, and the facts by which the loop decides whether to continue. */
export interface StepEntries {
  readonly message: AssistantMessage;
  /** Results of calls that are not run: cut off, no JSON, or of a tool that is not there. */
  readonly refused: readonly ToolResultMessage[];
  /** The calls that may run, in the order of the answer. */
  readonly calls: readonly ToolCall[];
  readonly finish: Finish;
}

const STOP_REASONS: { readonly [F in Finish]: string } = {
  stop: "endTurn",
  calls: "toolUse",
  length: "maxTokens",
  filtered: "refusal",
  paused: "pause",
};

/** Whether a step that ended so has an answer of a model in it. */
export function isAnswered(finishReason: string): boolean {
  return finishReason === INTERRUPTED || Object.values(STOP_REASONS).includes(finishReason);
}

/** What an answer says of itself that was cut off. */
export const INTERRUPTED = "interrupted";

export const CUT_OFF_CALL =
  "Not executed: the arguments are incomplete or not valid JSON. Send the call again with complete arguments.";

/** Turns a step's answer into entries: used by the live loop, by durable steps and by replays alike. */
export function answerEntries(answer: ModelAnswer, rules: StepRules): StepEntries {
  const { content, usage, finish } = answer;
  const plain: AssistantMessage = {
    role: "assistant",
    content,
    model: rules.model,
    stopReason: STOP_REASONS[finish],
    ...(usage === null ? {} : { usage }),
  };
  const message = rules.isInternal?.(plain) === true ? { ...plain, internal: true } : plain;
  const broken = new Set(answer.brokenCalls);
  const refused: ToolResultMessage[] = [];
  const calls: ToolCall[] = [];
  for (const call of callsIn(content)) {
    if (finish === "length" || broken.has(call.id)) refused.push(refusal(call, CUT_OFF_CALL));
    else if (!rules.tools.has(call.name)) refused.push(refusal(call, unknownTool(call, rules)));
    else calls.push(call);
  }
  return { message, refused, calls, finish };
}

export function callsIn(content: readonly ContentBlock[]): readonly ToolCall[] {
  return content.filter((block) => block.type === "toolCall");
}

function unknownTool({ name }: ToolCall, { tools }: StepRules): string {
  const toolNames = [...tools.keys()];
  const list = toolNames.length === 0 ? "There are no tools." : `The tools are: ${toolNames.join(", ")}.`;
  return `Not executed: there is no tool "${name}". ${list}`;
}

/** What stands in place of a result where a call is not run. */
export function refusal(
  call: Pick<ToolCall, "id" | "name">,
  text: string,
  refusedBy?: Refusal,
): ToolResultMessage {
  const details = { notRun: true, ...(refusedBy === undefined ? {} : { refusedBy }) };
  return resultMessage(call, { isError: true, content: [{ type: "text", text }], details });
}

/** What a step came to, once its calls have their results. */
export interface StepFacts {
  readonly finish: Finish;
  /** How many tools ran here, well or not. */
  readonly toolsRun: number;
  /** The tool that ends a turn, where one ran well. */
  readonly finalTool: string | null;
  /** The model is to be asked again. */
  readonly continues: boolean;
}

/** `results`: of the calls that were run, without those that were refused. */
export function stepFacts(
  step: { readonly finish: Finish; readonly called: boolean },
  results: readonly ToolResultMessage[],
  { tools }: Pick<StepRules, "tools">,
): StepFacts {
  const final = results.find(
    ({ toolName, isError }) => isError !== true && tools.get(toolName ?? "")?.final === true,
  );
  const finalTool = final?.toolName ?? null;
  const continues = finalTool === null && (step.called || step.finish === "paused");
  return { finish: step.finish, toolsRun: results.length, finalTool, continues };
}

/** Whether an answer has no text, call, file or provider part. */
export function saysNothing(content: readonly ContentBlock[]): boolean {
  return content.every(
    (block) =>
      block.type === "thinking" ||
      block.type === "redactedThinking" ||
      (block.type === "text" && block.text.trim() === ""),
  );
}

/** The answer a branch ends with, and its calls that have no result. */
interface OpenCalls {
  readonly answer: EntryOf<"message">;
  readonly calls: readonly ToolCall[];
}

/**
 * The calls of the last answer that nobody has answered; null where the branch does not end with an answer and its results.
 * Takes the end of a branch, newest first. Once a person has said something else, calls before it are passed over.
 */
export function openCalls(newestFirst: Iterable<Entry>): OpenCalls | null {
  const answered = new Set<string>();
  for (const entry of newestFirst) {
    if (entry.type !== "message") {
      if (entry.type === "state_change" || entry.type === "model_change" || entry.type === "config_change")
        continue;
      return null;
    }
    const { message } = entry;
    if (message.role === "user") return null;
    if (message.role === "toolResult") {
      answered.add(message.toolCallId);
      continue;
    }
    const calls = callsIn(message.content).filter(({ id }) => !answered.has(id));
    return calls.length === 0 ? null : { answer: entry, calls };
  }
  return null;
}

/** Which turn an answer was given in, and as which of its attempts: what effects of its calls are known by. */
export interface AnswerPlace {
  readonly turn: string;
  readonly step: number;
}

/** Told from the facts about turns and attempts, oldest first; null when it was given in no turn of this log. */
export function answerPlace(facts: readonly Entry[], answerSeq: number): AnswerPlace | null {
  const start = facts.findLast((fact) => fact.type === "turn_start" && fact.seq < answerSeq);
  if (start?.type !== "turn_start") return null;
  const { turn } = start;
  const step = facts.filter(
    (fact) => fact.type === "attempt" && fact.turn === turn && fact.seq < answerSeq,
  ).length;
  return { turn, step };
}
