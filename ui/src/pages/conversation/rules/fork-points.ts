import type { BranchNodes } from "../thread/branch-nodes.ts";

const REACH = 200; // results stand near their calls

/** The calls at or before a place that nothing has answered up to it, and where they were made. */
function openCalls({ nodes }: BranchNodes, place: number): { readonly calls: number; readonly at: number } {
  const answered = new Set<string>();
  for (let at = place; at >= Math.max(0, place - REACH); at--) {
    const entry = nodes.get(at);
    if (entry?.type !== "message") continue;
    const { message } = entry;
    if (message.role === "user") break;
    if (message.role === "toolResult") answered.add(message.toolCallId);
    else {
      const open = message.content.filter((block) => block.type === "toolCall" && !answered.has(block.id));
      return { calls: open.length, at };
    }
  }
  return { calls: 0, at: place };
}

/**
 * Why nothing should go on behind this place; null: it is safe. Before a person's words it always is: something went on there already.
 */
export function whyNoFork(branch: BranchNodes, place: number): string | null {
  const entry = branch.nodes.get(place);
  if (entry?.type !== "message" || entry.message.role === "user") return null;
  const { message } = entry;
  const broke = message.role === "assistant" ? message.stopReason : undefined;
  if (broke === "failed" || broke === "error") return "This answer failed. Fork at the prompt before it.";
  if (broke === "interrupted" || broke === "aborted" || broke === "cancelled")
    return "This answer was cut off. Fork at the prompt before it.";
  const { calls, at } = openCalls(branch, place);
  if (calls === 0) return null;
  return at === place
    ? "Its calls have no result yet here. Fork behind the last of their results."
    : "Other calls of the same answer have no result yet here. Fork behind the last of them.";
}
