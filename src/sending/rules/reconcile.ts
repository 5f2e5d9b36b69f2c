import type { Message } from "#log/entry";
import { isSameStretch, type Said, type Stretch, stretches } from "./transcript.ts";

const LAST_EXCHANGE = 2; // a reply and its prompt
const COMPARED_MESSAGES = 256; // more than one turn ever has; what lies further back is not compared

/**
 * The turns an agent's own record holds after the last one we know of: someone went on in the agent's own program.
 * Empty when there are none, or when nothing of ours can be found there, so that nothing can be said. An answer that
 * is still being written, or waits for a tool, is left for the next time.
 *
 * Only the last place where our last exchange stands is looked at: had it to stand further back, what follows could be
 * ours as well, and would be there twice.
 */
export function unseenMessages<M extends { readonly message: Message }>(
  theirs: readonly M[],
  oursNewestFirst: readonly Said[],
): readonly M[] {
  if (oursNewestFirst[0]?.role !== "assistant") return [];
  const said = theirs.flatMap(({ message }, at) => saidBy(message, at));
  const ours = stretches(oursNewestFirst);
  for (let end = said.length; end > 0; end--) {
    if (said[end - 1]?.role !== "assistant" || said[end]?.role === "assistant") continue;
    const known = stretches(said.slice(Math.max(0, end - COMPARED_MESSAGES), end).toReversed());
    if (!ours.slice(0, LAST_EXCHANGE).every((stretch, back) => isSameStretch(known[back], stretch))) continue;
    return isKnown(known, ours) ? wholeTurns(theirs.slice((said[end - 1]?.at ?? 0) + 1)) : [];
  }
  return [];
}

/** Compares from the newest back. A prompt that was sent again after it failed may stand there more than once. */
function isKnown(theirs: readonly Stretch[], ours: readonly Stretch[]): boolean {
  const [last, ...older] = ours;
  if (last === undefined) return true;
  if (!isSameStretch(theirs[0], last)) return false;
  if (isKnown(theirs.slice(1), older)) return true;
  return last.role === "user" && isKnown(theirs.slice(2), ours);
}

function saidBy(message: Message, at: number): readonly (Said & { readonly at: number })[] {
  if (message.role === "toolResult") return [];
  const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  return text.trim() === "" ? [] : [{ role: message.role, text, at }];
}

/** From the first new prompt to the last reply that is finished, with the results of its tools. */
function wholeTurns<M extends { readonly message: Message }>(messages: readonly M[]): readonly M[] {
  const first = messages.findIndex(({ message }) => message.role === "user");
  if (first === -1) return [];
  const open = new Set<string>();
  let end = first;
  for (const [at, { message }] of messages.entries()) {
    if (message.role === "toolResult") open.delete(message.toolCallId);
    // Who goes on without a result will not get it any more.
    if (message.role === "user") open.clear();
    for (const block of message.content)
      if (block.type === "toolCall" && message.role === "assistant") open.add(block.id);
    if (message.role === "assistant" && open.size === 0) end = at + 1;
  }
  return messages.slice(first, end);
}
