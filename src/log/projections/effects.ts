import type { Entry } from "../entry.ts";
import type { EntryId } from "../ids.ts";

/** A tool call as a side effect: what is known of it happening. */
export interface Effect {
  readonly call: string;
  readonly name: string;
  readonly state: "not_started" | "unknown" | "done" | "failed";
  readonly replay: "never" | "safe";
  readonly calledBy: EntryId | null;
  readonly intent: EntryId | null;
  readonly outcome: EntryId | null;
}

/**
 * The ledger over the whole conversation, in the order of the calls. A call without an intent did not start, but
 * only in a log whose host records intents at all; otherwise nobody can know.
 */
export function effectsOf(entries: Iterable<Entry>): readonly Effect[] {
  const ledger: Effect[] = [];
  let recordsIntents = false;
  const settle = (call: string, known: Partial<Effect>, name: string): void => {
    const at = ledger.findLastIndex((effect) => effect.call === call);
    const before = ledger[at] ?? {
      call,
      name,
      state: "unknown",
      replay: "never",
      calledBy: null,
      intent: null,
      outcome: null,
    };
    ledger[at === -1 ? ledger.length : at] = { ...before, ...known };
  };
  for (const entry of entries) {
    if (entry.type === "tool_intent") {
      recordsIntents = true;
      settle(entry.call, { intent: entry.id, state: "unknown", replay: entry.replay ?? "never" }, entry.name);
    } else if (entry.type === "message" && entry.message.role === "assistant") {
      for (const block of entry.message.content) {
        if (block.type !== "toolCall") continue;
        // An upstream's tool is told of while it runs, and the reply that called it is written afterwards.
        const told = ledger.findLastIndex((effect) => effect.call === block.id && effect.calledBy === null);
        const known = ledger[told];
        if (known !== undefined) {
          ledger[told] = { ...known, name: block.name, calledBy: entry.id };
          continue;
        }
        const open = {
          call: block.id,
          name: block.name,
          state: "not_started",
          replay: "never",
          calledBy: entry.id,
          intent: null,
          outcome: null,
        } as const;
        ledger.push(open);
      }
    } else if (entry.type === "message" && entry.message.role === "toolResult") {
      const { toolCallId, isError, toolName } = entry.message;
      settle(
        toolCallId,
        { outcome: entry.id, state: isError === true ? "failed" : "done" },
        toolName ?? "unknown",
      );
    }
  }
  return recordsIntents
    ? ledger
    : ledger.map((effect) => (effect.state === "not_started" ? unknown(effect) : effect));
}

function unknown(effect: Effect): Effect {
  return { ...effect, state: "unknown" };
}
