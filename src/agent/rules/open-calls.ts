import type { Entry, EntryOf } from "#log/entry";
import type { ToolCall } from "#log/message";
import { callsIn } from "./answer-entries.ts";

/** The answer a branch ends with, and its calls that have no result. */
export interface OpenCalls {
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
