import { SKILL_ORDER_HINT } from "#agent/skills/skill-order";
import type { Json } from "#log/json/json-text";
import type { PromptContent } from "#turn/accept";

/** What a person may say to the loop itself. */
export const LOOP_COMMANDS: readonly { readonly [name: string]: Json }[] = [
  {
    name: "compact",
    description: "Summarise what was said, to make room; the log keeps every word",
    input: { hint: "what the summary should dwell on" },
  },
  { name: "model", description: "Ask another model from here on", input: { hint: "provider/name" } },
  {
    name: "skill",
    description: "The skills there are; activate one, or end that",
    input: { hint: SKILL_ORDER_HINT },
  },
  { name: "continue", description: "Go on with a turn that was cut off, stopped or waits for an answer" },
];

export interface LoopCommand {
  readonly name: "compact" | "model" | "skill" | "continue";
  readonly rest: string;
}

/** The command a prompt is; null for anything that is said to the model. */
export function loopCommandIn(content: PromptContent): LoopCommand | null {
  const [block, ...more] = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  if (block?.type !== "text" || more.length > 0) return null;
  const found = /^\/(compact|model|skill|continue)(?:\s(.*))?$/s.exec(block.text.trim());
  if (found === null) return null;
  return { name: found[1] as LoopCommand["name"], rest: (found[2] ?? "").trim() };
}
