import type { Entry, EntryOf } from "#log/entry";
import type { ToolCall } from "#log/message";
import type { EntryId } from "#log/ids";
import { fieldsIn, isSameJson } from "#log/json/json-fields";

/** A tool call as a side effect: whether it happened, as far as is known. */
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

/** Where the entries about an effect are. */
interface Span {
  readonly firstSeq: number;
  lastSeq: number;
}

/**
 * The ledger over the whole conversation, in the order of the calls. A call without an intent did not start, but
 * only in a log whose host records intents at all; otherwise nobody can know. Takes entries as they are read: what it
 * costs follows their number.
 */
export class EffectLedger {
  readonly #effects: Open[] = [];
  // By call id: providers restart their numbers in every turn or in every answer.
  /** The latest whose reply is in the log; results are its own. */
  readonly #called = new Map<string, Open>();
  /** Those recorded while they ran, oldest first; the replies that called them are written afterwards. */
  readonly #uncalled = new Map<string, Open[]>();
  /** Of effects without an outcome. */
  readonly #intents = new Map<Open, EntryOf<"tool_intent">>();
  /** Those that were answered in place of being run: refused, or not there. */
  readonly #notRun = new Set<Open>();
  readonly #spans = new Map<Open, Span>();
  #recordsIntents: boolean;
  #seq: number = 0;
  #settled: number = 0;

  /** `recordsIntents`: known of the log where only a part of it is read. */
  constructor(recordsIntents: boolean = false) {
    this.#recordsIntents = recordsIntents;
  }

  /** How many effects there are so far, and how many of the first ones were called and have an outcome. */
  get counts(): { readonly effects: number; readonly settled: number } {
    for (let effect = this.#effects[this.#settled]; effect?.calledBy && effect.outcome !== null;)
      effect = this.#effects[++this.#settled];
    return { effects: this.#effects.length, settled: this.#settled };
  }

  /**
   * Where to read again for what comes after so many effects: an entry that no earlier effect spans. `skip`: how many
   * of those found from there on were among the earlier ones.
   */
  restart(after: number): { readonly seq: number; readonly skip: number } {
    const spanOf = (index: number): Span =>
      this.#spans.get(this.#effects[index] as Open) ?? { firstSeq: 0, lastSeq: 0 };
    let first = after;
    let seq = spanOf(after).firstSeq;
    for (let earlier = after - 1; earlier >= 0; earlier--) {
      const span = spanOf(earlier);
      if (span.lastSeq >= seq) [seq, first] = [span.firstSeq, earlier];
    }
    return { seq, skip: after - first };
  }

  add(entry: Entry): void {
    this.#seq = entry.seq;
    if (entry.type === "tool_intent") this.#start(entry);
    else if (entry.type === "message" && entry.message.role === "assistant") {
      for (const block of entry.message.content) if (block.type === "toolCall") this.#call(entry.id, block);
    } else if (entry.type === "message" && entry.message.role === "toolResult") {
      const { toolCallId, isError, toolName, details } = entry.message;
      const effect =
        this.#called.get(toolCallId) ??
        this.#uncalled.get(toolCallId)?.[0] ??
        this.#add(toolCallId, toolName ?? "unknown");
      effect.outcome = entry.id;
      this.#touch(effect);
      const notRun = fieldsIn(details)?.["notRun"] === true;
      if (notRun) this.#notRun.add(effect);
      effect.state = notRun ? "not_started" : isError === true ? "failed" : "done";
      this.#intents.delete(effect);
    }
  }

  #start(intent: EntryOf<"tool_intent">): void {
    this.#recordsIntents = true;
    const before = [this.#called.get(intent.call), this.#uncalled.get(intent.call)?.at(-1)];
    const open =
      before.find((effect) => effect !== undefined && this.#isOf(intent, effect)) ??
      this.#add(intent.call, intent.name);
    this.#intents.set(open, intent);
    this.#touch(open);
    Object.assign(open, { intent: intent.id, state: "unknown", replay: intent.replay ?? "never" });
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

  #call(calledBy: EntryId, { id, name }: ToolCall): void {
    const uncalled = this.#uncalled.get(id);
    const call = uncalled?.shift();
    if (uncalled?.length === 0) this.#uncalled.delete(id);
    const effect = call ?? this.#new(id, name);
    if (call === undefined) effect.state = "not_started";
    effect.name = name;
    effect.calledBy = calledBy;
    this.#touch(effect);
    this.#called.set(id, effect);
  }

  #add(call: string, name: string): Open {
    const effect = this.#new(call, name);
    const before = this.#uncalled.get(call);
    if (before === undefined) this.#uncalled.set(call, [effect]);
    else before.push(effect);
    return effect;
  }

  #new(call: string, name: string): Open {
    const effect: Open = {
      call,
      name,
      state: "unknown",
      replay: "never",
      calledBy: null,
      intent: null,
      outcome: null,
    };
    this.#effects.push(effect);
    this.#spans.set(effect, { firstSeq: this.#seq, lastSeq: this.#seq });
    return effect;
  }

  #touch(effect: Open): void {
    const span = this.#spans.get(effect);
    if (span !== undefined) span.lastSeq = this.#seq;
  }

  /** The effects so far; nothing is added after this. */
  result(): readonly Effect[] {
    if (!this.#recordsIntents)
      for (const effect of this.#effects)
        if (effect.state === "not_started" && !this.#notRun.has(effect)) effect.state = "unknown";
    return this.#effects;
  }
}

export function effectsOf(entries: Iterable<Entry>): readonly Effect[] {
  const ledger = new EffectLedger();
  for (const entry of entries) ledger.add(entry);
  return ledger.result();
}
