import type { Entry, EntryOf } from "#log/entry";
import {
  type AssistantMessage,
  type ContentBlock,
  type Message,
  type UserMessage,
  detailsOf,
} from "#log/message";
import type { EntryId } from "#log/ids";
import { fieldsOf } from "#log/json/json-fields";
import { modelContent } from "#log/projections/context";
import { POISON_LEFT_OUT, cut, type PriorBudget, weightOf } from "./prior-budget.ts";
import { type Outline, OutlineReader, textOf } from "./outline.ts";

export interface PriorMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly entryId: EntryId;
  /** The reply was cut off: this is as far as it came. */
  readonly cutOff?: true;
}

export interface PriorEffect {
  readonly name: string;
  readonly input: string;
  readonly state: "done" | "failed" | "unknown";
  /** The result in short, where the budget has room for it. */
  readonly output?: string;
}

/** The bounded preamble that can rebuild a lost upstream session, oldest first. */
export interface PriorContext {
  readonly summary: string | null;
  /** Of what lies between the summary, or the beginning, and the messages; null when nothing does. */
  readonly outline: Outline | null;
  readonly messages: readonly PriorMessage[];
  readonly effects: readonly PriorEffect[];
  /** What was done on branches of the conversation that were left. */
  readonly elsewhere: readonly PriorEffect[];
  /** Something older is on the path than what is carried here. */
  readonly olderLeftOut: boolean;
}

export const NO_PRIOR_CONTEXT: PriorContext = {
  summary: null,
  outline: null,
  messages: [],
  effects: [],
  elsewhere: [],
  olderLeftOut: false,
};

export function isNothing({ summary, outline, messages, effects, elsewhere }: PriorContext): boolean {
  return summary === null && outline === null && messages.length + effects.length + elsewhere.length === 0;
}

const CHARS_READ_MAX = 33_554_432; // what tools returned is read, too, and is carried only in short

interface Outcome {
  readonly state: "done" | "failed" | "not_run";
  readonly output: string;
}

function stateOf(entry: EntryOf<"message">): Outcome["state"] {
  if (fieldsOf(detailsOf(entry))["notRun"] === true) return "not_run";
  return entry.message.role === "toolResult" && entry.message.isError === true ? "failed" : "done";
}

/**
 * Reads a branch newest first, page by page, until the budget is filled or the past ends: at the root, at a reset, at
 * the node from which on the upstream needs nothing, or at the first entry the latest compaction kept, where its summary
 * takes over.
 */
export class PriorReader {
  readonly #budget: PriorBudget;
  readonly #since: EntryId | null;
  readonly #poisoned: ReadonlySet<EntryId>;
  readonly #texts: PriorMessage[] = [];
  readonly #effects: PriorEffect[] = [];
  readonly #outcomes = new Map<string, Outcome>();
  readonly #outline = new OutlineReader();
  #summary: string | null = null;
  #keepUntil: EntryId | null = null;
  #chars: number = 0;
  #effectChars: number = 0;
  /** The texts that are whole: what was cut off takes none of their places. */
  #whole: number = 0;
  #state: "carrying" | "outlining" | "out_of_bounds" | "at_the_beginning" = "carrying";
  /** Nodes that were looked at in this state. */
  #nodes: number = 0;
  #charsRead: number = 0;

  constructor(
    budget: PriorBudget,
    at: {
      /** The last node the upstream holds already; null when it holds nothing. */
      readonly since?: EntryId | null;
      readonly poisoned?: ReadonlySet<EntryId>;
    } = {},
  ) {
    this.#budget = budget;
    this.#since = at.since ?? null;
    this.#poisoned = at.poisoned ?? new Set();
  }

  get done(): boolean {
    return this.#state === "out_of_bounds" || this.#state === "at_the_beginning";
  }

  /** The past goes on behind what was read. */
  get isShort(): boolean {
    return this.#state === "out_of_bounds";
  }

  /** Not everything is carried, and a summary of what lies behind, if the path has one, was not come across. */
  get wantsSummary(): boolean {
    return this.#summary === null && this.#since === null && this.isShort;
  }

  /** Takes a page of the branch, newest first. */
  add(entries: readonly Entry[], hidden: ReadonlySet<EntryId>): void {
    for (const entry of entries) {
      if (this.done) return;
      const { nodes, olderNodes } = this.#budget;
      this.#charsRead += entry.payload.length;
      const full =
        this.#charsRead > CHARS_READ_MAX ||
        this.#nodes++ >= (this.#state === "carrying" ? nodes : olderNodes);
      if (entry.type === "reset" || entry.id === this.#since) this.#state = "at_the_beginning";
      else if (full && this.#state === "outlining") this.#state = "out_of_bounds";
      else {
        if (full) this.#outlineFromHere();
        if (!hidden.has(entry.id)) this.#addEntry(entry);
      }
      if (entry.id === this.#keepUntil) this.#state = "at_the_beginning";
    }
  }

  #outlineFromHere(): void {
    this.#state = "outlining";
    this.#nodes = 0;
  }

  /** Takes the summary of the path's latest compaction, found behind what the budget reaches. */
  summarise(summary: string): void {
    this.#summary ??= cut(summary, this.#budget.summaryChars);
  }

  #addEntry(entry: Entry): void {
    if (entry.type === "compaction" && this.#summary === null) {
      this.summarise(entry.summary);
      this.#keepUntil = entry.firstKeptEntryId ?? entry.id;
      return;
    }
    const message = entry.type === "message" ? entry.message : contextMessage(entry);
    if (message === null) return;
    const messageText = textOf(message.content);
    const text = this.#poisoned.has(entry.id) ? `${messageText}\n${POISON_LEFT_OUT}` : messageText;
    if (message.role === "toolResult") {
      if (entry.type === "message")
        this.#outcomes.set(message.toolCallId, { state: stateOf(entry), output: text });
      return;
    }
    for (const block of message.content.toReversed()) this.#addCall(block);
    if (this.#state === "carrying" && text !== "") this.#addText(entry.id, message, text);
    if (this.#state === "outlining") this.#outline.add(message, text);
  }

  #addText(entryId: EntryId, message: UserMessage | AssistantMessage, text: string): void {
    const cutOff = wasCutOff(message);
    const short = cut(text, this.#budget.messageChars);
    const weight = weightOf(short);
    const full = !cutOff && this.#whole >= this.#budget.messages;
    if (full || this.#chars + weight > this.#budget.totalChars) return this.#outlineFromHere();
    this.#chars += weight;
    if (!cutOff) this.#whole++;
    this.#texts.push({ role: message.role, text: short, entryId, ...(cutOff ? { cutOff } : {}) });
  }

  #addCall(block: ContentBlock): void {
    if (block.type !== "toolCall") return;
    const outcome = this.#outcomes.get(block.id);
    this.#outcomes.delete(block.id);
    const state = outcome?.state ?? "unknown";
    if (state === "not_run") return;
    const { effects, effectChars, effectTotalChars, resultChars } = this.#budget;
    const callInput = typeof block.input === "string" ? block.input : JSON.stringify(block.input);
    const input = cut(callInput, effectChars);
    const output = outcome === undefined || resultChars === 0 ? "" : cut(outcome.output, resultChars);
    const weight = weightOf(input) + weightOf(output);
    if (this.#effects.length >= effects || this.#effectChars + weight > effectTotalChars) return;
    this.#effectChars += weight;
    this.#effects.push({ name: block.name, input, state, ...(output === "" ? {} : { output }) });
  }

  /** What was found, oldest first; `began` are the first requests, where they were found apart. */
  result(began: readonly string[] = []): PriorContext {
    const more = this.isShort;
    const wholePast = !more && this.#summary === null && this.#since === null;
    const chars = this.#budget.summaryChars;
    const outline = this.#outline.result({ chars, more, wholePast, began });
    return {
      summary: this.#summary,
      outline,
      messages: this.#texts.toReversed(),
      effects: this.#effects.toReversed(),
      elsewhere: [],
      olderLeftOut: outline !== null || more,
    };
  }
}

function contextMessage(entry: Entry): UserMessage | null {
  const content = modelContent(entry);
  return content === null ? null : { role: "user", content };
}

/** A reply that was cut off must not be taken for the agent's last word. */
export function wasCutOff(message: Message): boolean {
  return (
    message.role === "assistant" && (message.stopReason === "interrupted" || message.stopReason === "failed")
  );
}

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
  const effects: { name: string; input: string; state: PriorEffect["state"] | "not_run" }[] = [];
  const open = new Map<string, (typeof effects)[number]>();
  for (const entry of entries) {
    if (entry.type !== "message" || entry.seq <= path.afterSeq) continue;
    if (path.nodes.has(entry.id) || about.hidden.has(entry.id)) continue;
    const { message } = entry;
    if (message.role === "toolResult") {
      const effect = open.get(message.toolCallId);
      if (effect !== undefined) effect.state = stateOf(entry);
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
      effects.push(effect);
    }
  }
  return latestOf(
    effects.flatMap(({ state, ...effect }) => (state === "not_run" ? [] : [{ ...effect, state }])),
    about.budget,
  );
}

function latestOf(effects: readonly PriorEffect[], budget: PriorBudget): readonly PriorEffect[] {
  let chars = budget.effectTotalChars;
  const from = effects.findLastIndex(({ input }) => (chars -= weightOf(input)) < 0) + 1;
  return effects.slice(Math.max(from, effects.length - budget.effects));
}
