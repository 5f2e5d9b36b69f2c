import type { Entry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";

/**
 * The words of a prompt that may be sent once more without being written again: the branch ends with it, it is this
 * conversation's own, and no tool has started since. Anything else may have come of it already.
 */
export function unansweredContent(
  last: Entry,
  since: { readonly own: boolean; readonly toolStarted: boolean; readonly cameBack: boolean },
): readonly ContentBlock[] {
  const unanswered = since.own && !since.toolStarted && !since.cameBack;
  if (last.type === "message" && last.message.role === "user" && unanswered) return last.message.content;
  throw new LogError("invalid_request", "There is no unanswered prompt to send again");
}

/**
 * The prompt of the last turn, if that was turned away before anybody was asked: it lies beside the branch, where it can
 * be taken up.
 */
export function turnedAwayPrompt(facts: readonly Entry[]): EntryId | null {
  const start = facts.findLast((fact) => fact.type === "turn_start");
  if (start?.type !== "turn_start" || start.prompt === undefined) return null;
  const isAttempted = facts.some((fact) => fact.type === "attempt" && fact.turn === start.turn);
  const end = facts.findLast((fact) => fact.type === "turn_end" && fact.turn === start.turn);
  const limited = end?.type === "turn_end" && end.class === "limit";
  return limited && !isAttempted ? start.prompt : null;
}

/** Whether this node is the last of what came of the last turn: its prompt alone is nothing. */
export function cameBack(last: Entry, facts: readonly Entry[]): boolean {
  const end = facts.findLast((fact) => fact.type === "turn_end");
  if (end?.type !== "turn_end" || end.node !== last.id) return false;
  const start = facts.findLast((fact) => fact.type === "turn_start" && fact.turn === end.turn);
  return start?.type !== "turn_start" || start.prompt !== last.id;
}

/** What an agent is asked where a reply was cut off: it finds the rest of it before these words, or has it itself. */
export const GO_ON =
  "Your last reply was interrupted. Continue exactly where it stopped. Do not repeat text you already wrote or actions you already took. If the outcome of a tool call is unknown, verify it first.";

/**
 * Refuses unless the branch ends with a reply that was cut off. Where nothing came back there is nothing to go on from;
 * where the reply is whole there is nothing to finish.
 */
export function checkCutOff(last: Entry, facts: readonly Entry[]): void {
  const end = facts.findLast((fact) => fact.type === "turn_end");
  const cutOff = end?.type === "turn_end" && end.outcome !== "completed";
  const came = cameBack(last, facts);
  if (cutOff && came) return;
  throw new LogError(
    "invalid_request",
    came
      ? "Nothing to continue: the last turn is complete"
      : "The last prompt got no reply. Use `retry` to send it again.",
  );
}
