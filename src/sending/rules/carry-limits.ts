import { detailsOf } from "#log/message-extras";
import type { Entry, EntryOf, Message } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { ContextMessage } from "#log/projections/pairs";
import { asMessage } from "#log/projections/pairs";

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

export const POISON_LEFT_OUT = "(The image that stood here is left out: an agent could not take it.)";

/** A history as it may be given to a session. */
export function withoutPoison(
  messages: readonly ContextMessage[],
  poisoned: ReadonlySet<EntryId>,
): readonly Message[] {
  return messages.map((message) => {
    if (message.entryId === null || !poisoned.has(message.entryId)) return asMessage(message);
    const words = message.content.filter((block) => block.type !== "image");
    return asMessage({ ...message, content: [...words, { type: "text", text: POISON_LEFT_OUT }] });
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
