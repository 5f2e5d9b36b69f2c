import type { ContentBlock, Entry } from "../entry.ts";
import { LogError } from "../errors.ts";

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
