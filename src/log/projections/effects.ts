import type { Entry, EntryOf, ToolCall } from "#log/entry";
import type { EntryId } from "#log/ids";
import { isSameJson } from "#log/json/same-json";

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

/** The effects of one call id: providers number their calls anew, in every turn or in every answer. */
interface SameId {
  /** The latest whose reply is in the log; results are its own. */
  called: Open | null;
  /** Those told of while they ran, oldest first; the replies that called them are written afterwards. */
  readonly uncalled: Open[];
}

/**
 * The ledger over the whole conversation, in the order of the calls. A call without an intent did not start, but
 * only in a log whose host records intents at all; otherwise nobody can know. Takes entries as they are read: what it
 * costs follows their number.
 */
export class EffectLedger {
  readonly #effects: Open[] = [];
  readonly #ids = new Map<string, SameId>();
  readonly #intents = new Map<Open, EntryOf<"tool_intent">>();
  #recordsIntents: boolean = false;

  take(entry: Entry): void {
    if (entry.type === "tool_intent") this.#start(entry);
    else if (entry.type === "message" && entry.message.role === "assistant") {
      for (const block of entry.message.content) if (block.type === "toolCall") this.#call(entry.id, block);
    } else if (entry.type === "message" && entry.message.role === "toolResult") {
      const { toolCallId, isError, toolName } = entry.message;
      const { called, uncalled } = this.#idsOf(toolCallId);
      const known = called ?? uncalled[0] ?? this.#add(toolCallId, toolName ?? "unknown");
      Object.assign(known, { outcome: entry.id, state: isError === true ? "failed" : "done" });
    }
  }

  #start(intent: EntryOf<"tool_intent">): void {
    this.#recordsIntents = true;
    const { called, uncalled } = this.#idsOf(intent.call);
    const known =
      [called, uncalled.at(-1) ?? null].find((effect) => effect !== null && this.#isOf(intent, effect)) ??
      this.#add(intent.call, intent.name);
    this.#intents.set(known, intent);
    Object.assign(known, { intent: intent.id, state: "unknown", replay: intent.replay ?? "never" });
  }

  /** Whether the intent is of this effect: of a call that was made and not begun, or begun once more after a crash. */
  #isOf(intent: EntryOf<"tool_intent">, effect: Open): boolean {
    if (effect.outcome !== null) return false;
    const before = this.#intents.get(effect);
    if (before === undefined) return effect.calledBy !== null;
    return (
      before.turn === intent.turn &&
      before.step === intent.step &&
      before.idempotencyKey === intent.idempotencyKey &&
      isSameJson(before.input, intent.input)
    );
  }

  #call(calledBy: EntryId, block: ToolCall): void {
    const ids = this.#idsOf(block.id);
    const told = ids.uncalled.shift();
    if (told === undefined) {
      const made = this.#new(block.id, block.name);
      Object.assign(made, { calledBy, state: "not_started" });
      ids.called = made;
    } else {
      Object.assign(told, { name: block.name, calledBy });
      ids.called = told;
    }
  }

  #idsOf(call: string): SameId {
    const ids = this.#ids.get(call) ?? { called: null, uncalled: [] };
    this.#ids.set(call, ids);
    return ids;
  }

  #add(call: string, name: string): Open {
    const effect = this.#new(call, name);
    this.#idsOf(call).uncalled.push(effect);
    return effect;
  }

  #new(call: string, name: string): Open {
    const unknown = {
      state: "unknown",
      replay: "never",
      calledBy: null,
      intent: null,
      outcome: null,
    } as const;
    const effect: Open = { call, name, ...unknown };
    this.#effects.push(effect);
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
