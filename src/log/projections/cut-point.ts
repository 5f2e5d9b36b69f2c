import type { Entry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";

/** Where a fork or an edit grows from, and the text it returns for editing. */
export interface CutPoint {
  readonly at: EntryId;
  readonly editable: readonly ContentBlock[] | null;
}

/**
 * On a user's message the cut lies before it and its words come back for editing; on anything else the entry is kept.
 * A cut never parts a tool call from its result: it moves behind the last result of the reply it falls into.
 * `branch` goes from the root through the entry to the end of its branch.
 */
export function cutPoint(branch: readonly Entry[], id: EntryId): CutPoint {
  const index = branch.findIndex((entry) => entry.id === id);
  const entry = branch[index];
  if (entry === undefined) throw new LogError("entry_not_found", `${id} is not on the branch`, { entry: id });
  if (entry.type === "message" && entry.message.role === "user") {
    const before = entry.parentId;
    if (before === null)
      throw new LogError("invalid_request", "The first entry of a conversation cannot be edited", {
        entry: id,
      });
    return { at: before, editable: entry.message.content };
  }
  return { at: behindPair(branch, index), editable: null };
}

function behindPair(branch: readonly Entry[], index: number): EntryId {
  const open = new Set<string>();
  let end = index;
  for (const [step, entry] of branch.entries()) {
    if (step > index && open.size === 0) break;
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult") {
      if (open.delete(message.toolCallId) && step > index) end = step;
      continue;
    }
    // Results stand right behind their calls: another message ends the wait for them.
    if (step > index) break;
    open.clear();
    if (message.role === "assistant")
      for (const block of message.content) if (block.type === "toolCall") open.add(block.id);
  }
  return branch[end]?.id ?? "";
}
