import type { Entry } from "#log/entry";

type Node = Entry & { readonly hidden: boolean };

/**
 * Where a fact stands when a prompt is sent, told from the branch up to that prompt and nothing else: `known`, it is
 * within what every agent is told; `gone`, no agent may know it; `old`, an agent may or may not.
 */
export function standingOf(
  branch: readonly Node[],
  about: { readonly fact: string; readonly window: number },
): "known" | "gone" | "old" {
  const reset = branch.findLastIndex((node) => node.type === "reset");
  const visible = branch.slice(reset + 1).filter((node) => !node.hidden && node.type === "message");
  const holds = (node: Node): boolean => node.payload.includes(about.fact);
  if (visible.slice(0, -1).filter(isText).slice(-about.window).some(holds)) return "known";
  return visible.some(holds) ? "old" : "gone";
}

function isText(node: Node): boolean {
  if (node.type !== "message" || node.message.role === "toolResult") return false;
  const { message } = node;
  const cutOff = message.role === "assistant" && ["interrupted", "failed"].includes(message.stopReason ?? "");
  return !cutOff && message.content.some((block) => block.type === "text" && block.text.trim() !== "");
}
