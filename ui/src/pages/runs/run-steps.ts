import type { Entry } from "#log/entry";
import type { Usage } from "#log/message";
import { reasonText } from "#operations/text";
import { tellingArgument } from "../../text/telling-argument.ts";
import { wordsOf } from "../../text/message-words.ts";

export type StepKind = "turn" | "prompt" | "answer" | "call" | "result" | "person" | "setting" | "end";

/** Something that happened in a run, in the order of the log. */
export interface RunStep {
  readonly seq: number;
  readonly entry: string;
  readonly time: string;
  readonly kind: StepKind;
  readonly what: string;
  /** Its words or arguments; as stored. */
  readonly words: string;
  /** What became of it, where that is worth a mark. */
  readonly outcome: "done" | "failed" | "unknown" | null;
  readonly usage: Usage | null;
}

const WORDS_MAX = 400;

type Told = Pick<RunStep, "kind" | "what"> & Partial<Pick<RunStep, "words" | "outcome" | "usage">>;

/** What is known of calls when all of a run is read: which gave something, and whether that was an error. */
interface Calls {
  readonly outcomes: ReadonlyMap<string, "done" | "failed">;
  readonly intents: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, string>;
}

function callsIn(entries: readonly Entry[]): Calls {
  const outcomes = new Map<string, "done" | "failed">();
  const intents = new Set<string>();
  const names = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type === "tool_intent") intents.add(entry.call);
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult")
      outcomes.set(message.toolCallId, message.isError === true ? "failed" : "done");
    for (const block of message.content) if (block.type === "toolCall") names.set(block.id, block.name);
  }
  return { outcomes, intents, names };
}

function messageStep(entry: Extract<Entry, { type: "message" }>, step: number, calls: Calls): Told {
  const { message } = entry;
  const words = wordsOf(message.content);
  if (message.role === "user") return { kind: "prompt", what: "Prompt", words };
  if (message.role === "toolResult") {
    const name = calls.names.get(message.toolCallId) ?? message.toolCallId;
    return {
      kind: "result",
      what: `${name} returned`,
      words,
      outcome: calls.outcomes.get(message.toolCallId) ?? null,
    };
  }
  const called = message.content.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
  const what = `Step ${step}: ${message.model ?? "an answer"}`;
  const said = called.length === 0 ? words : `${words} calls ${called.join(", ")}`.trim();
  return { kind: "answer", what, words: said, usage: message.usage ?? null };
}

function factStep(entry: Entry, calls: Calls): Told | null {
  switch (entry.type) {
    case "turn_start":
      return { kind: "turn", what: "Turn starts", words: entry.turn };
    case "attempt_end":
      return {
        kind: "answer",
        what: "No answer",
        words: entry.class.replaceAll("_", " "),
        outcome: "failed",
      };
    case "tool_intent":
      return {
        kind: "call",
        what: `${entry.name}, recorded first`,
        words:
          `${tellingArgument(entry.input)} (${entry.replay === "safe" ? "safe to repeat" : "never repeated"})`.trim(),
        outcome: calls.outcomes.get(entry.call) ?? "unknown",
      };
    case "permission":
      return { kind: "person", what: "Waiting for you", words: calls.names.get(entry.call ?? "") ?? "" };
    case "permission_answer":
      return { kind: "person", what: "You answered", words: entry.outcome };
    case "state_change":
      return { kind: "setting", what: "State", words: JSON.stringify(entry.state) };
    case "compaction":
      return { kind: "setting", what: "Compaction", words: entry.summary };
    case "reset":
      return { kind: "setting", what: "Context cleared", words: reasonText(entry.reason ?? "cleared") };
    case "model_change":
      return { kind: "setting", what: "Model", words: entry.model };
    case "seed":
      return { kind: "prompt", what: "Run inputs", words: `${entry.messages.length} messages` };
    case "turn_end":
      return {
        kind: "turn",
        what: "Turn ends",
        words: [entry.outcome, entry.class === entry.outcome ? "" : (entry.class ?? "")]
          .filter((word) => word !== "")
          .join(", ")
          .replaceAll("_", " "),
        outcome: entry.outcome === "completed" ? null : "failed",
      };
    case "run_end":
      return {
        kind: "end",
        what: "Run ends",
        words: entry.error?.message ?? entry.status,
        outcome: entry.status === "completed" ? "done" : "failed",
      };
    default:
      return null;
  }
}

/** What happened in a run; entries that only the log is about are left out, and a call whose outcome nobody recorded is unknown. */
export function stepsOf(entries: readonly Entry[], isRunning: boolean = false): readonly RunStep[] {
  const calls = callsIn(entries);
  let step = 0;
  return entries.flatMap((entry): RunStep[] => {
    const isAnswer = entry.type === "message" && entry.message.role === "assistant";
    if (isAnswer) step++;
    const told = entry.type === "message" ? messageStep(entry, step, calls) : factStep(entry, calls);
    if (told === null) return [];
    const { words = "", outcome = null, usage = null } = told;
    // A call of a run that goes on may yet give something.
    const settled = outcome === "unknown" && isRunning ? null : outcome;
    const { seq, id, time } = entry;
    return [
      {
        ...told,
        seq,
        entry: id,
        time,
        words: words.slice(0, WORDS_MAX).toWellFormed(),
        outcome: settled,
        usage,
      },
    ];
  });
}
