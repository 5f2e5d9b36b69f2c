import type { ContentBlock, Entry } from "../entry.ts";
import { LogError } from "../errors.ts";
import type { EntryId } from "../ids.ts";

/**
 * The words of a prompt that may be sent once more without being written again: the branch ends with it, it is this
 * conversation's own, and no tool has started since. Anything else may have come of it already.
 */
export function unansweredContent(
  last: Entry,
  since: { readonly own: boolean; readonly toolStarted: boolean },
): readonly ContentBlock[] {
  if (last.type === "message" && last.message.role === "user" && since.own && !since.toolStarted) {
    return last.message.content;
  }
  throw new LogError("invalid_request", "There is no unanswered prompt to send again; nothing was sent");
}

/**
 * The prompt of the last turn, if that was turned away before anybody was asked: it lies beside the branch, where it can
 * be taken up.
 */
export function turnedAwayPrompt(facts: readonly Entry[]): EntryId | null {
  const start = facts.findLast((fact) => fact.type === "turn_start");
  if (start?.type !== "turn_start" || start.prompt === undefined) return null;
  const asked = facts.some((fact) => fact.type === "attempt" && fact.turn === start.turn);
  const end = facts.findLast((fact) => fact.type === "turn_end" && fact.turn === start.turn);
  const limited = end?.type === "turn_end" && end.class === "limit";
  return limited && !asked ? start.prompt : null;
}
