import type { EntryId } from "#log/ids";
import { commandName } from "./agent-command.ts";
import { hasPreamble } from "./preamble.ts";
import { fieldsOf } from "#log/json/json-fields";
import { detailsOf } from "#log/message-extras";
import type { Entry, EntryOf } from "#log/entry";
import type { Message } from "#log/message";
import { isCertain, type LinkRecord } from "#log/projections/link-records";

export interface Said {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** The texts it was put together from, where there are several: an agent keeps them in its own order and wrapping. */
  readonly parts?: readonly string[];
}

/** Neighbours of one role. */
export interface Stretch {
  readonly role: "user" | "assistant";
  /** Newest first. */
  readonly said: readonly Said[];
  /** The oldest one: the texts that are known may begin in the middle of it. */
  readonly oldest: boolean;
}

/** One turn of a branch, as it can be looked for in the record of the session that carried it. */
export interface CarriedTurn {
  readonly prompt: EntryId;
  /** The last node of the turn. */
  readonly node: EntryId;
  readonly asked: Said;
  /** All that was answered; null when it did not end well: then what the agent kept of it is its own affair. */
  readonly answered: string | null;
  /** The last of its nodes that the session was taken to hold by itself, where it did not end well; null when none was. */
  readonly kept: EntryId | null;
  /** What came before was told with it, so that it has to be there too. */
  readonly told: boolean;
  /** Nothing is known any more of what the session holds since. */
  readonly forgot: boolean;
}

/** What a session shows of itself, compared with what we know it carried. */
export interface Comparison {
  /** Everything it answered is there. */
  readonly whole: boolean;
  /** The last node up to which it holds everything; null when nothing could be compared. */
  readonly held: EntryId | null;
}

const LOST: Comparison = { whole: false, held: null };

/**
 * Compares what an upstream shows of itself with the turns it carried, newest first. Resumes succeed on histories that
 * were cut or emptied, so a success alone proves nothing: every turn that it answered has to be there, in order. What is
 * there besides says nothing against it: prompts that failed, preambles, an agent's own commands, the remains of a turn
 * that broke off. Only behind the last turn nobody else may have answered.
 */
export function compareTurns(shown: readonly Said[], newestFirst: readonly CarriedTurn[]): Comparison {
  const theirs = stretches(shown.toReversed());
  const last = newestFirst.findIndex((turn) => isCompared(turn));
  const open = last === -1 ? newestFirst : newestFirst.slice(0, last);
  let from = 0;
  let newest = theirs.length;
  for (const turn of newestFirst.slice(open.length)) {
    if (!isCompared(turn) && (turn.kept === null || isCommand(turn))) continue;
    const at = theirs.findIndex((_, index) => index >= from && isTurnAt(theirs, index, turn));
    if (at === -1) return LOST;
    newest = Math.min(newest, at);
    from = isCompared(turn) ? at + 1 : at;
  }
  const behind = theirs.slice(0, newest);
  if (open.length === 0 && behind.some(({ role }) => role === "assistant")) return LOST;
  return { whole: true, held: heldOf(newestFirst[last]?.node ?? null, open, behind) };
}

/** How far the session came in the turns that did not end well: up to the first of them that is not there. */
function heldOf(
  held: EntryId | null,
  openNewestFirst: readonly CarriedTurn[],
  behind: readonly Stretch[],
): EntryId | null {
  if (openNewestFirst.some((turn) => turn.forgot)) return null;
  let left = behind.filter(({ role }) => role === "user").flatMap(({ said }) => said);
  // A command that was not sent to the end, or to a session that lacked something, has told it nothing.
  const told = openNewestFirst.filter((turn) => !isCommand(turn) || turn.answered !== null);
  const found = told.map((turn) => {
    if (isCommand(turn)) return turn.node;
    const at = left.findIndex(
      (said) => saysWords(said, turn.asked) && (!turn.told || hasPreamble(said.text)),
    );
    if (at === -1) return null;
    left = left.slice(at + 1);
    return turn.kept ?? turn.prompt;
  });
  const missing = found.findLastIndex((node) => node === null);
  return found[missing + 1] ?? held;
}

/** Agents keep their own commands in ways of their own, or not at all. */
function isCompared(turn: CarriedTurn): boolean {
  return turn.answered !== null && !isCommand(turn);
}

function isCommand({ asked }: CarriedTurn): boolean {
  return commandName(asked.text) !== null;
}

function isTurnAt(theirs: readonly Stretch[], at: number, turn: CarriedTurn): boolean {
  const answered = bare(turn.answered ?? "");
  const [reply, asked] = answered === "" ? [null, theirs[at]] : [theirs[at], theirs[at + 1]];
  if (reply === undefined || asked?.role !== "user") return false;
  if (reply !== null && (reply.role !== "assistant" || whole(reply) !== answered)) return false;
  return asked.said.some((said) => saysWords(said, turn.asked));
}

/**
 * Whether what an upstream shows of itself ends with these texts. Agents split and merge messages as they like: a reply
 * with tools may be one text or several, a prompt may stand behind a preamble or behind one that failed, so neighbours
 * of one role are compared as a whole, and of what the user said only the last words.
 */
export function transcriptMatches(shown: readonly Said[], oursNewestFirst: readonly Said[]): boolean {
  const theirs = stretches(shown.toReversed());
  return stretches(oursNewestFirst).every((ours, back) => isSameStretch(theirs[back], ours));
}

export function isSameStretch(there: Stretch | undefined, ours: Stretch): boolean {
  if (there === undefined || there.role !== ours.role) return false;
  if (ours.role === "assistant")
    return ours.oldest ? whole(there).endsWith(whole(ours)) : whole(there) === whole(ours);
  const [last] = there.said;
  const [known] = ours.said;
  return last === undefined || known === undefined || saysWords(last, known);
}

/**
 * Whether a message of the user's in an agent's record is this one of ours. Ours stands last in it, behind whatever was
 * put in front. One that had a file or a link in it is another text there: the words around them are in it all the same,
 * and so is what a file held, without the line that names it.
 */
function saysWords(there: Said, ours: Said): boolean {
  if (there.text.trim().endsWith(ours.text.trim())) return true;
  const said = bare(there.text);
  const parts = ours.parts ?? [];
  return parts.some((part) => {
    const [name = "", ...held] = part.split("\n");
    return [part, held.join("\n"), held.length === 0 ? "" : name].some((words) => {
      const known = bare(words);
      return known !== "" && said.includes(known);
    });
  });
}

export function stretches(newestFirst: readonly Said[]): readonly Stretch[] {
  const found: { readonly role: Said["role"]; readonly said: Said[] }[] = [];
  for (const one of newestFirst) {
    if (one.text.trim() === "") continue;
    const last = found.at(-1);
    if (last?.role === one.role) last.said.push(one);
    else found.push({ role: one.role, said: [one] });
  }
  return found.map(({ role, said }, at) => ({ role, said, oldest: at === found.length - 1 }));
}

function whole(stretch: Stretch): string {
  return bare(
    stretch.said
      .map(({ text }) => text)
      .toReversed()
      .join(""),
  );
}

function bare(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

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
  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (this.#texts >= this.#textsMax || entry.type === "reset") this.#done = true;
      if (this.#done) return;
      if (entry.type === "message") this.#addMessage(entry);
      if (entry.id === this.#link.since) this.#done = true;
    }
  }

  #addMessage(entry: EntryOf<"message">): void {
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
