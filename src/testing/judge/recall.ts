import type { Entry } from "#log/entry";

type Node = Entry & { readonly hidden: boolean };

/**
 * Whether an agent must remember a text when a prompt is sent, told from the branch up to that prompt alone: `known`, it
 * is within the messages that every agent is told (`window` of them); `gone`, no agent may know it; `old`, one may or may not.
 */
export function recallOf(
  branch: readonly Node[],
  question: { readonly fact: string; readonly window: number },
): "known" | "gone" | "old" {
  const reset = branch.findLastIndex((node) => node.type === "reset");
  const visible = branch.slice(reset + 1).filter((node) => !node.hidden && node.type === "message");
  const holds = (node: Node): boolean => node.payload.includes(question.fact);
  if (visible.slice(0, -1).filter(isText).slice(-question.window).some(holds)) return "known";
  return visible.some(holds) ? "old" : "gone";
}

function isText(node: Node): boolean {
  if (node.type !== "message" || node.message.role === "toolResult") return false;
  const { message } = node;
  const cutOff = message.role === "assistant" && ["interrupted", "failed"].includes(message.stopReason ?? "");
  return !cutOff && message.content.some((block) => block.type === "text" && block.text.trim() !== "");
}
