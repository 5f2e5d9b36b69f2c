import type { AssistantMessage, ContentBlock, Entry, Message, UserMessage } from "../entry.ts";
import type { EntryId } from "../ids.ts";

/** How much a preamble may carry. Counted in characters: four to a token, near enough for a limit. */
export interface PriorBudget {
  readonly messages: number;
  readonly messageChars: number;
  readonly totalChars: number;
  readonly summaryChars: number;
  readonly effects: number;
  readonly effectChars: number;
  /** How many nodes beyond the messages the ledger looks back: what was done is worth more than what was said. */
  readonly effectNodes: number;
}

export const PRIOR_BUDGET: PriorBudget = {
  messages: 20,
  messageChars: 4_000,
  totalChars: 40_000,
  summaryChars: 8_000,
  effects: 30,
  effectChars: 300,
  effectNodes: 192,
};

/** For an upstream that said the last one was too long. */
export const SMALLER_BUDGET: PriorBudget = {
  messages: 8,
  messageChars: 1_000,
  totalChars: 8_000,
  summaryChars: 2_000,
  effects: 15,
  effectChars: 150,
  effectNodes: 64,
};

interface PriorMessage {
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
}

/** The bounded preamble that can rebuild a lost upstream session, oldest first. */
export interface PriorContext {
  readonly summary: string | null;
  readonly messages: readonly PriorMessage[];
  readonly effects: readonly PriorEffect[];
  /** Something older is on the path than what is carried here. */
  readonly olderLeftOut: boolean;
}

export const NO_PRIOR_CONTEXT: PriorContext = {
  summary: null,
  messages: [],
  effects: [],
  olderLeftOut: false,
};

interface Collected {
  readonly texts: PriorMessage[];
  readonly effects: PriorEffect[];
  readonly outcomes: Map<string, "done" | "failed">;
  summary: string | null;
  keepUntil: EntryId | null;
  chars: number;
  /** The texts that are whole: what was cut off takes none of their places. */
  whole: number;
}

/**
 * Reads a branch newest first, page by page, until the budget is filled or the past ends: at the root, at a reset, or
 * at the first entry the latest compaction kept, where its summary takes over.
 */
export class PriorReader {
  readonly #budget: PriorBudget;
  readonly #found: Collected = {
    texts: [],
    effects: [],
    outcomes: new Map(),
    summary: null,
    keepUntil: null,
    chars: 0,
    whole: 0,
  };
  #done: boolean = false;
  #older: boolean = false;
  #beyond: number = 0;

  constructor(budget: PriorBudget) {
    this.#budget = budget;
  }

  get done(): boolean {
    return this.#done;
  }

  /** The budget is filled and a summary of what lies behind it, if the path has one, was not come across. */
  get wantsSummary(): boolean {
    return this.#older && this.#found.summary === null;
  }

  /** Takes a page of the branch, newest first. */
  take(entries: readonly Entry[], hidden: ReadonlySet<EntryId>): void {
    for (const entry of entries) {
      if (this.#done) return;
      if (this.#older && this.#beyond++ >= this.#budget.effectNodes) this.#done = true;
      else if (entry.type === "reset") this.#done = true;
      else if (!hidden.has(entry.id)) this.#takeEntry(entry);
      if (entry.id === this.#found.keepUntil) this.#done = true;
    }
  }

  /** Takes the summary of the path's latest compaction, found behind what the budget reaches. */
  summarise(summary: string): void {
    this.#found.summary ??= cut(summary, this.#budget.summaryChars);
  }

  #takeEntry(entry: Entry): void {
    const found = this.#found;
    if (entry.type === "compaction" && found.summary === null) {
      found.summary = cut(entry.summary, this.#budget.summaryChars);
      found.keepUntil = entry.firstKeptEntryId ?? entry.id;
      return;
    }
    if (entry.type !== "message") return;
    const { message } = entry;
    if (message.role === "toolResult") {
      found.outcomes.set(message.toolCallId, message.isError === true ? "failed" : "done");
      return;
    }
    for (const block of message.content.toReversed()) this.#takeCall(block);
    if (!this.#older) this.#takeText(entry.id, message);
    if (this.#older && found.effects.length >= this.#budget.effects) this.#done = true;
  }

  #takeText(entryId: EntryId, message: UserMessage | AssistantMessage): void {
    const found = this.#found;
    const text = textOf(message.content);
    if (text === "") return;
    const cutOff = wasCutOff(message);
    const short = cut(text, this.#budget.messageChars);
    const full = !cutOff && found.whole >= this.#budget.messages;
    if (full || found.chars + short.length > this.#budget.totalChars) {
      this.#older = true;
      return;
    }
    found.chars += short.length;
    if (!cutOff) found.whole++;
    found.texts.push({ role: message.role, text: short, entryId, ...(cutOff ? { cutOff } : {}) });
  }

  #takeCall(block: ContentBlock): void {
    if (block.type !== "toolCall" || this.#found.effects.length >= this.#budget.effects) return;
    const state = this.#found.outcomes.get(block.id) ?? "unknown";
    this.#found.outcomes.delete(block.id);
    const input = typeof block.input === "string" ? block.input : JSON.stringify(block.input);
    this.#found.effects.push({ name: block.name, input: cut(input, this.#budget.effectChars), state });
  }

  /** What was found, oldest first. */
  result(): PriorContext {
    const { summary, texts, effects } = this.#found;
    return {
      summary,
      messages: texts.toReversed(),
      effects: effects.toReversed(),
      olderLeftOut: this.#older,
    };
  }
}

/** A reply that was cut off must not be taken for the agent's last word. */
export function wasCutOff(message: Message): boolean {
  return (
    message.role === "assistant" && (message.stopReason === "interrupted" || message.stopReason === "failed")
  );
}

function textOf(content: readonly ContentBlock[]): string {
  return content
    .flatMap((block) => (block.type === "text" ? [block.text] : block.type === "image" ? ["(an image)"] : []))
    .join("\n")
    .trim();
}

/** Cuts at a code point, never inside one, and says so. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const inPair = isHigh(text.charCodeAt(charsMax - 1)) && isLow(text.charCodeAt(charsMax));
  const whole = text.slice(0, inPair ? charsMax - 1 : charsMax);
  return `${whole} … (${text.length - whole.length} more characters)`;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
