import { fieldsOf } from "#log/json/json-fields";
import { detailsOf, type Message } from "#log/message";
import type { Entry, EntryOf, PriorContextCounts } from "#log/entry";
import { priorContextOf } from "#log/projections/sent-context";
import type { EntryId } from "#log/ids";
import { modelContent } from "#log/projections/context";
import { isCertain, type LinkRecord } from "#log/projections/link-records";
import { wasCutOff } from "./prior-context.ts";
import { type SessionTurn, messageText, textsOf } from "./transcript.ts";

/** What an upstream was told in front of a prompt. */
interface Preamble {
  readonly quoted: number | null;
  /** The first node of what was told; `all` when nothing before it counts. Null: that is not known. */
  readonly from: EntryId | "all" | null;
}

interface Delivery {
  readonly upstream: string;
  readonly preamble: Preamble | null;
  readonly end: EntryOf<"turn_end"> | null;
}

/** Who carried each prompt in the end, and how that ended. A prompt that was sent again counts as it went last. */
function deliveriesOf(facts: readonly Entry[], { names }: LinkRecord): ReadonlyMap<EntryId, Delivery> {
  const prompts = new Map<string, EntryId>();
  const deliveries = new Map<EntryId, Delivery>();
  for (const fact of facts) {
    if (fact.type === "turn_start" && fact.prompt !== undefined) prompts.set(fact.turn, fact.prompt);
    if (fact.type !== "attempt" && fact.type !== "turn_end") continue;
    const prompt = prompts.get(fact.turn);
    const { upstream } = fact;
    if (prompt === undefined || upstream === undefined) continue;
    const delivery = deliveries.get(prompt);
    const isSame =
      delivery?.upstream === upstream ||
      (names.includes(upstream) && names.includes(delivery?.upstream ?? ""));
    const before = isSame ? (delivery?.preamble ?? null) : null;
    const preamble = fact.type === "attempt" ? (preambleOf(fact, before) ?? before) : before;
    deliveries.set(prompt, { upstream, preamble, end: fact.type === "turn_end" ? fact : null });
  }
  return deliveries;
}

/** An attempt that says nothing of what it told goes on with what the one before it told. */
function preambleOf(attempt: EntryOf<"attempt">, before: Preamble | null): Preamble | null {
  const { fidelity } = attempt;
  const counts = priorContextOf(attempt);
  if (counts !== undefined) return { quoted: counts.messages, from: reachOf(counts) };
  return fidelity === "preamble" && before === null ? { quoted: null, from: null } : null;
}

/** What lies before a summary or an outline is not told word for word, whoever holds it. */
function reachOf(counts: PriorContextCounts): EntryId | "all" | null {
  if (counts.summary === true || counts.more === true || counts.leftOut > 0) return "all";
  return counts.from ?? null;
}

/**
 * Reads a branch newest first and picks the turns that one session carried, those adopted from its record included. What
 * another carried in between was told to it at most. Behind them comes what the session was made with, as far as it was
 * not told that later.
 */
export class SessionTurnReader {
  readonly #link: LinkRecord;
  readonly #deliveries: ReadonlyMap<EntryId, Delivery>;
  readonly #textsMax: number;
  readonly #turns: SessionTurn[] = [];
  /** The replies read so far of the turn whose prompt comes next, newest first. */
  #replies: Message[] = [];
  #node: EntryId | null = null;
  #texts: number = 0;
  #state: "carried" | "inherited" | "done" = "carried";
  /** Up to where a turn that was read was told what is read now. */
  #retold: Preamble["from"] = null;
  #compaction: EntryOf<"compaction"> | null = null;

  constructor(link: LinkRecord, facts: readonly Entry[], textsMax: number) {
    this.#link = link;
    this.#deliveries = deliveriesOf(facts, link);
    this.#textsMax = textsMax;
  }

  get done(): boolean {
    return this.#state === "done";
  }

  get turns(): readonly SessionTurn[] {
    return this.#turns;
  }

  /** Takes a page of the branch, newest first. */
  add(entries: readonly Entry[], hidden: ReadonlySet<EntryId>): void {
    for (const entry of entries) {
      if (this.#texts >= this.#textsMax || entry.type === "reset") this.#state = "done";
      const { since, knownUpTo } = this.#link;
      // One that was never asked holds what it was made with, and nothing that came later.
      if (since === null && entry.id === knownUpTo) this.#state = "inherited";
      if (this.done) return;
      const inherited = this.#state === "inherited" && this.#retold === null && !hidden.has(entry.id);
      if (inherited) this.#addInherited(entry);
      if (this.#state === "carried" && entry.type === "message") this.#addMessage(entry);
      if (entry.id === this.#retold) this.#retold = null;
      if (entry.id === since) this.#state = this.#isWholeFromHere() ? "done" : "inherited";
    }
  }

  /** A session that began empty was told everything with its first prompt. */
  #isWholeFromHere(): boolean {
    return !this.#link.continues || this.#retold === "all";
  }

  #addMessage(entry: EntryOf<"message">): void {
    const { message } = entry;
    this.#node ??= entry.id;
    if (message.role === "assistant") this.#replies.push(message);
    if (message.role !== "user") return;
    const turn = this.#turnOf(entry, this.#node);
    if (turn !== null) this.#push(turn);
    this.#replies = [];
    this.#node = null;
    const { from = null } = (turn?.hasContext && this.#deliveries.get(entry.id)?.preamble) || {};
    this.#retold ??= from;
  }

  #push(turn: SessionTurn): void {
    this.#turns.push(turn);
    this.#texts += 1 + this.#replies.length;
  }

  #turnOf(entry: EntryOf<"message">, node: EntryId): SessionTurn | null {
    const delivery = this.#deliveries.get(entry.id);
    const adopted = delivery === undefined && isAdopted(entry, this.#link.agent);
    const isOwn = delivery !== undefined && this.#link.names.includes(delivery.upstream);
    if (!adopted && !isOwn) return null;
    const end = delivery?.end ?? null;
    const certain = end !== null && isCertain(end, entry.id);
    const completed = adopted || (certain && end.outcome === "completed");
    const preamble = delivery?.preamble ?? null;
    return {
      prompt: entry.id,
      node,
      request: messageText("user", entry.message),
      answered: completed && !this.#endsInTool() ? this.#answer() : null,
      knownUpTo: completed ? null : certain ? node : end?.held === entry.id ? entry.id : null,
      hasContext: preamble !== null,
      quoted: preamble?.quoted ?? null,
      retold: this.#retold !== null,
      inherited: false,
      forgot: end?.held === null,
    };
  }

  /** Nothing was said behind its last call: no words show whether a record still has the call. */
  #endsInTool(): boolean {
    return this.#replies[0]?.content.at(-1)?.type === "toolCall";
  }

  #answer(): string {
    return this.#replies.toReversed().flatMap(textsOf).join("");
  }

  /** What the context was where the session was made: back to the latest summary. */
  #addInherited(entry: Entry): void {
    const content = entry.type === "message" ? null : modelContent(entry);
    if (entry.type === "message") this.#addInheritedMessage(entry.id, entry.message);
    else if (content !== null) this.#addInheritedMessage(entry.id, { role: "user", content });
    else if (entry.type === "compaction") this.#compaction ??= entry;
    const { firstKeptEntryId = this.#compaction?.id, summary = "" } = this.#compaction ?? {};
    if (this.#compaction === null || entry.id !== firstKeptEntryId) return;
    const text = summary.trim();
    this.#addInheritedMessage(entry.id, { role: "user", content: [{ type: "text", text }] });
    this.#state = "done";
  }

  #addInheritedMessage(id: EntryId, message: Message): void {
    this.#node ??= id;
    if (message.role === "assistant") this.#replies.push(message);
    if (message.role !== "user") return;
    const request = messageText("user", message);
    const answered = this.#replies.some(wasCutOff) ? null : this.#answer();
    const about = {
      knownUpTo: null,
      hasContext: false,
      quoted: null,
      retold: false,
      inherited: true,
      forgot: false,
    };
    this.#push({ prompt: id, node: this.#node, request, answered, ...about });
    this.#replies = [];
    this.#node = null;
  }
}

/** A message that came from the agent's own record says so: see `adoptedNode`. */
function isAdopted(entry: EntryOf<"message">, agent: string): boolean {
  return fieldsOf(fieldsOf(detailsOf(entry))["adopted"])["agent"] === agent;
}
