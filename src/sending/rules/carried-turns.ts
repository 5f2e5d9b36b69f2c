import { fieldsOf } from "#log/json/json-fields";
import { detailsOf } from "#log/message-extras";
import type { Entry, EntryOf, Message } from "#log/entry";
import type { EntryId } from "#log/ids";
import { isCertain, type LinkRecord } from "#log/projections/link-records";
import type { CarriedTurn, Said } from "./transcript.ts";

interface Carrier {
  readonly upstream: string;
  /** Something was told in a preamble with it. */
  readonly told: boolean;
  readonly end: EntryOf<"turn_end"> | null;
}

/** Who carried each prompt in the end, and how that ended. A prompt that was sent again counts as it went last. */
function carriersOf(facts: readonly Entry[]): ReadonlyMap<EntryId, Carrier> {
  const prompts = new Map<string, EntryId>();
  const carriers = new Map<EntryId, Carrier>();
  for (const fact of facts) {
    if (fact.type === "turn_start" && fact.prompt !== undefined) prompts.set(fact.turn, fact.prompt);
    if (fact.type !== "attempt" && fact.type !== "turn_end") continue;
    const prompt = prompts.get(fact.turn);
    if (prompt === undefined || fact.upstream === undefined) continue;
    const known = carriers.get(prompt);
    const told = fact.type === "attempt" && fact.fidelity === "preamble";
    carriers.set(prompt, {
      upstream: fact.upstream,
      told: told || (known?.upstream === fact.upstream && known.told),
      end: fact.type === "turn_end" ? fact : null,
    });
  }
  return carriers;
}

/**
 * Reads a branch newest first and picks the turns that one session carried, those adopted from its record included. What
 * another carried in between was told to it at most.
 */
export class CarriedReader {
  readonly #link: LinkRecord;
  readonly #carriers: ReadonlyMap<EntryId, Carrier>;
  readonly #textsMax: number;
  readonly #turns: CarriedTurn[] = [];
  /** The replies read so far of the turn whose prompt comes next, newest first. */
  #replies: string[] = [];
  #node: EntryId | null = null;
  #texts: number = 0;
  #done: boolean = false;

  constructor(link: LinkRecord, facts: readonly Entry[], textsMax: number) {
    this.#link = link;
    this.#carriers = carriersOf(facts);
    this.#textsMax = textsMax;
  }

  get done(): boolean {
    return this.#done;
  }

  /** Takes a page of the branch, newest first. */
  take(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (this.#texts >= this.#textsMax || entry.type === "reset") this.#done = true;
      if (this.#done) return;
      if (entry.type === "message") this.#takeMessage(entry);
      if (entry.id === this.#link.since) this.#done = true;
    }
  }

  #takeMessage(entry: EntryOf<"message">): void {
    const { message } = entry;
    this.#node ??= entry.id;
    if (message.role === "assistant") this.#replies.push(textsOf(message).join(""));
    if (message.role !== "user") return;
    const turn = this.#turnOf(entry, this.#node);
    if (turn !== null) {
      this.#turns.push(turn);
      this.#texts += 1 + this.#replies.length;
    }
    this.#replies = [];
    this.#node = null;
  }

  #turnOf(entry: EntryOf<"message">, node: EntryId): CarriedTurn | null {
    const carrier = this.#carriers.get(entry.id);
    const adopted = carrier === undefined && isAdopted(entry, this.#link.agent);
    const carried = carrier !== undefined && this.#link.names.includes(carrier.upstream);
    if (!adopted && !carried) return null;
    const end = carrier?.end ?? null;
    const certain = end !== null && isCertain(end, entry.id);
    const completed = adopted || (certain && end.outcome === "completed");
    return {
      prompt: entry.id,
      node,
      asked: saidBy("user", entry.message),
      answered: completed ? this.#replies.toReversed().join("") : null,
      kept: completed ? null : certain ? node : end?.held === entry.id ? entry.id : null,
      told: carrier?.told ?? false,
      forgot: end?.held === null,
    };
  }

  get turns(): readonly CarriedTurn[] {
    return this.#turns;
  }
}

/** A message that came from the agent's own record says so: see `adoptedNode`. */
function isAdopted(entry: EntryOf<"message">, agent: string): boolean {
  return fieldsOf(fieldsOf(detailsOf(entry))["adopted"])["agent"] === agent;
}

function textsOf({ content }: Message): readonly string[] {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : []));
}

/** The words of a message, and the texts it is made of where they are several. */
export function saidBy(role: Said["role"], message: Message): Said {
  const parts = textsOf(message);
  return { role, text: parts.join(""), ...(parts.length > 1 ? { parts } : {}) };
}
