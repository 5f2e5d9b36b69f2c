import { detailsOf, type Message } from "#log/message";
import type { Entry, EntryOf } from "#log/entry";
import type { EntryId } from "#log/ids";
import { type ContextMessage, asMessage } from "#log/projections/pairs";

/** How much a preamble may carry. Counted in characters, those beyond ASCII three times: near enough for a limit. */
export interface PriorBudget {
  readonly messages: number;
  readonly messageChars: number;
  readonly totalChars: number;
  readonly summaryChars: number;
  readonly effects: number;
  readonly effectChars: number;
  /** What is told of a tool's result; 0: whether it worked, and no more. */
  readonly resultChars: number;
  readonly effectTotalChars: number;
  /** How many nodes the messages are looked for in: tools leave many. */
  readonly nodes: number;
  /** How many nodes are looked at behind the messages: for what was done, and for an outline of what is left out. */
  readonly olderNodes: number;
}

/** For a session that holds something already. */
export const PRIOR_BUDGET: PriorBudget = {
  messages: 20,
  messageChars: 4_000,
  totalChars: 40_000,
  summaryChars: 8_000,
  effects: 30,
  effectChars: 300,
  resultChars: 0,
  effectTotalChars: 12_000,
  nodes: 1_024,
  olderNodes: 192,
};

/** For an upstream that said the last one was too long. */
export const SMALLER_BUDGET: PriorBudget = {
  messages: 8,
  messageChars: 1_000,
  totalChars: 8_000,
  summaryChars: 2_000,
  effects: 15,
  effectChars: 150,
  resultChars: 0,
  effectTotalChars: 2_000,
  nodes: 512,
  olderNodes: 192,
};

/** What a model is taken to hold of which nothing is known. */
const WINDOW_TOKENS = 32_000;

const WINDOW_SHARE = 0.4; // the agent's own instructions, its tools and the work to come need the rest
const CHARS_PER_TOKEN = 3; // of code; prose has more
const NODES_MAX = 4_096; // short messages fill no window; what lies further back is outlined
const OLDER_NODES = 1_024;

/** For a session that holds nothing yet, such as another agent's first: as much as its model's window has room for. */
export function windowBudget(windowTokens: number): PriorBudget {
  const chars = Math.floor(windowTokens * WINDOW_SHARE) * CHARS_PER_TOKEN;
  return {
    messages: NODES_MAX,
    messageChars: Math.max(1_000, Math.floor(chars / 8)),
    totalChars: Math.floor(chars * 0.7),
    summaryChars: Math.max(2_000, Math.floor(chars * 0.1)),
    effects: 400,
    effectChars: 300,
    resultChars: 300,
    effectTotalChars: Math.floor(chars * 0.2),
    nodes: NODES_MAX,
    olderNodes: OLDER_NODES,
  };
}

interface TellInput {
  /** What the host wants told, whatever the model takes; null when it leaves that open. */
  readonly limits: PriorBudget | null;
  /** What the model takes; null when nobody knows. */
  readonly windowTokens: number | null;
  /** The session has not been told or asked anything yet. */
  readonly isEmpty: boolean;
  /** The agent said that it was told too much. */
  readonly tooLong: boolean;
}

/** How much a session is told that may not remember. */
export function budgetFor({ limits, windowTokens, isEmpty, tooLong }: TellInput): PriorBudget {
  const wide = windowBudget(windowTokens ?? WINDOW_TOKENS);
  const chosen = limits ?? (isEmpty || wide.totalChars < PRIOR_BUDGET.totalChars ? wide : PRIOR_BUDGET);
  return tooLong && chosen.totalChars > SMALLER_BUDGET.totalChars ? SMALLER_BUDGET : chosen;
}

/** What a text takes of a budget. */
export function weightOf(text: string): number {
  let weight = text.length;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) weight += 2;
  return weight;
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

/** What agents have said they cannot take of this conversation. */
export interface CarryLimits {
  /** The agent found what it was given too long: it is told less. */
  readonly tooLong: boolean;
  /** A new session may be given the whole history. */
  readonly whole: boolean;
  /** Nodes with something in them that made every request fail. */
  readonly poisoned: ReadonlySet<EntryId>;
}

export const NO_CARRY_LIMITS: CarryLimits = { tooLong: false, whole: true, poisoned: new Set() };

/** The sessions that were given up for what they held, with the agents they were of. */
export function complaintsOf(facts: readonly Entry[]): readonly Complaint[] {
  const agents = new Map<string, string>();
  const complaints: Complaint[] = [];
  for (const fact of facts) {
    if (fact.type === "upstream_link") agents.set(fact.upstream, fact.agent);
    if (fact.type === "upstream_end" && (fact.reason === "too_long" || fact.reason === "poisoned"))
      complaints.push({ fact, agent: agents.get(fact.upstream) ?? null });
  }
  return complaints;
}

interface Complaint {
  readonly fact: EntryOf<"upstream_end">;
  readonly agent: string | null;
}

/**
 * What holds for an agent now. That something was too long, or that something unknown in the history made every request
 * fail, holds until the history is another one: `since` is where its latest compaction or reset stands in the log. What
 * is known to have done it is left out for good, for every agent.
 */
export function carryLimits(
  complaints: readonly Complaint[],
  at: { readonly agent: string; readonly since: number },
): CarryLimits {
  const now = complaints.filter(({ fact, agent }) => fact.seq > at.since && agent === at.agent);
  const tooLong = now.some(({ fact }) => fact.reason === "too_long");
  const unknown = now.some(({ fact }) => fact.reason === "poisoned" && fact.node === undefined);
  const poisoned = complaints.flatMap(({ fact }) => fact.node ?? []);
  return { tooLong, whole: !tooLong && !unknown, poisoned: new Set(poisoned) };
}

export const POISON_LEFT_OUT = "(An image was removed here because an agent could not process it.)";

/** A history as it may be given to a session. */
export function withoutPoison(
  messages: readonly ContextMessage[],
  poisoned: ReadonlySet<EntryId>,
): readonly Message[] {
  return messages.map((message) => {
    if (message.entryId === null || !poisoned.has(message.entryId)) return asMessage(message);
    const content = message.content.filter((block) => block.type !== "image");
    return asMessage({ ...message, content: [...content, { type: "text", text: POISON_LEFT_OUT }] });
  });
}

/**
 * The node that most likely made a request fail: the newest that holds an image, told from a branch newest first; null
 * when none does. Text has not been seen to do it.
 */
export function poisonIn(entries: Iterable<Entry>, hidden: ReadonlySet<EntryId>): EntryId | null {
  for (const entry of entries) {
    if (entry.type !== "message" || hidden.has(entry.id)) continue;
    const images = entry.message.content.some((block) => block.type === "image");
    if (images || JSON.stringify(detailsOf(entry) ?? null).includes('"type":"image"')) return entry.id;
  }
  return null;
}
