import type { Entry } from "#log/entry";
import type { EntryId } from "#log/ids";
import { cut, type PriorBudget, weightOf } from "./prior-budget.ts";
import type { PriorEffect } from "./prior-context.ts";

/** What is known of a path when it was read back: its nodes, and how far. */
export interface PathRead {
  readonly nodes: ReadonlySet<EntryId>;
  /** What lies behind this entry of the log is not known: each later node that is not among them is elsewhere. */
  readonly afterSeq: number;
}

/**
 * What was done on branches that were left: the tool, its arguments in short and how it ended, and none of what was
 * said there. `entries` are the conversation's latest messages, oldest first.
 */
export function effectsElsewhere(
  entries: readonly Entry[],
  path: PathRead,
  about: { readonly hidden: ReadonlySet<EntryId>; readonly budget: PriorBudget },
): readonly PriorEffect[] {
  const found: { name: string; input: string; state: PriorEffect["state"] }[] = [];
  const open = new Map<string, (typeof found)[number]>();
  for (const entry of entries) {
    if (entry.type !== "message" || entry.seq <= path.afterSeq) continue;
    if (path.nodes.has(entry.id) || about.hidden.has(entry.id)) continue;
    const { message } = entry;
    if (message.role === "toolResult") {
      const effect = open.get(message.toolCallId);
      if (effect !== undefined) effect.state = message.isError === true ? "failed" : "done";
      continue;
    }
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const input = typeof block.input === "string" ? block.input : JSON.stringify(block.input);
      const effect = {
        name: block.name,
        input: cut(input, about.budget.effectChars),
        state: "unknown" as const,
      };
      open.set(block.id, effect);
      found.push(effect);
    }
  }
  return latestOf(found, about.budget);
}

function latestOf(effects: readonly PriorEffect[], budget: PriorBudget): readonly PriorEffect[] {
  let chars = budget.effectTotalChars;
  const from = effects.findLastIndex(({ input }) => (chars -= weightOf(input)) < 0) + 1;
  return effects.slice(Math.max(from, effects.length - budget.effects));
}
