import type { Entry, ToolCall } from "../entry.ts";
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

type Open = { -readonly [K in keyof Effect]: Effect[K] };

/**
 * The ledger over the whole conversation, in the order of the calls. A call without an intent did not start, but
 * only in a log whose host records intents at all; otherwise nobody can know. Takes entries as they are read: what it
 * costs follows their number.
 */
export class EffectLedger {
  readonly #effects: Open[] = [];
  /** The latest effect of each call: providers reuse call ids. */
  readonly #latest = new Map<string, Open>();
  #recordsIntents: boolean = false;

  take(entry: Entry): void {
    if (entry.type === "tool_intent") {
      this.#recordsIntents = true;
      const known = this.#latest.get(entry.call) ?? this.#add(entry.call, entry.name, null);
      Object.assign(known, { intent: entry.id, state: "unknown", replay: entry.replay ?? "never" });
    } else if (entry.type === "message" && entry.message.role === "assistant") {
      for (const block of entry.message.content) if (block.type === "toolCall") this.#call(entry.id, block);
    } else if (entry.type === "message" && entry.message.role === "toolResult") {
      const { toolCallId, isError, toolName } = entry.message;
      const known = this.#latest.get(toolCallId) ?? this.#add(toolCallId, toolName ?? "unknown", null);
      Object.assign(known, { outcome: entry.id, state: isError === true ? "failed" : "done" });
    }
  }

  #call(calledBy: EntryId, block: ToolCall): void {
    // An upstream's tool is told of while it runs, and the reply that called it is written afterwards.
    const known = this.#latest.get(block.id);
    if (known?.calledBy === null) Object.assign(known, { name: block.name, calledBy });
    else this.#add(block.id, block.name, calledBy).state = "not_started";
  }

  #add(call: string, name: string, calledBy: EntryId | null): Open {
    const effect: Open = {
      call,
      name,
      state: "unknown",
      replay: "never",
      calledBy,
      intent: null,
      outcome: null,
    };
    this.#effects.push(effect);
    this.#latest.set(call, effect);
    return effect;
  }

  /** What is known by now; nothing is taken after it. */
  result(): readonly Effect[] {
    if (!this.#recordsIntents)
      for (const effect of this.#effects) if (effect.state === "not_started") effect.state = "unknown";
    return this.#effects;
  }
}

export function effectsOf(entries: Iterable<Entry>): readonly Effect[] {
  const ledger = new EffectLedger();
  for (const entry of entries) ledger.take(entry);
  return ledger.result();
}
