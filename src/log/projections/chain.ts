import type { Entry, EntryOf, EntryType } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";

/** One spell of an upstream id at the head of the conversation, and the entries it carried. */
export interface Link {
  readonly id: string;
  readonly agent: string;
  readonly account: string | null;
  readonly reason: string;
  readonly since: string;
  readonly seq: number;
  /** The conversation whose log holds it, of a link that was inherited: `seq` and `carried` count there. Null: its own. */
  readonly source: ConversationId | null;
  /** The first and last message of that log it was given or gave in this spell; null when it carried none. */
  readonly carried: { readonly fromSeq: number; readonly toSeq: number } | null;
  /** Held by the source of a fork: a record, never to be resumed from here. */
  readonly inherited: boolean;
}

/** The entries from which a chain is built. */
export const CHAIN_TYPES: readonly EntryType[] = [
  "upstream_link",
  "message",
  "turn_start",
  "attempt",
  "turn_end",
];

/** An entry from which a chain is built; for a message its place is enough. */
export type ChainEntry = Exclude<Entry, MessageEntry> | Pick<MessageEntry, "type" | "id" | "seq">;
type MessageEntry = EntryOf<"message">;

/** The chain, and which of its links carried each message. */
export interface Chain {
  readonly links: readonly Link[];
  readonly carriers: ReadonlyMap<EntryId, readonly Link[]>;
}

const LOOSE_MAX = 512; // more than are ever delivered together with a prompt

interface OpenTurn {
  readonly prompt: EntryId | null;
  /** The link of its last attempt. */
  carrier: number | null;
}

/** The messages of a log; an object for each would be most of what a chain holds. */
interface LogMessages {
  readonly source: ConversationId | null;
  readonly seqs: Map<EntryId, number>;
}

type OpenLink = { -readonly [K in keyof Link]: Link[K] } & {
  carried: { fromSeq: number; toSeq: number } | null;
};

/**
 * Every upstream id ever held, oldest first, the head last. An id that comes back is another link, with a reason, a time
 * and a range of its own. A prompt is carried by every upstream that it was sent to, a reply by the one that gave it; in
 * a log without attempts, what stands behind a link counts as carried by it.
 * Entries are taken as they are read. Whoever wants the links alone keeps no carriers.
 */
export class ChainReader {
  readonly #links: OpenLink[] = [];
  readonly #carriers: Map<EntryId, number[]> | null;
  /** Where the messages of each log lie, the log that is read now first. */
  readonly #logs: LogMessages[] = [{ source: null, seqs: new Map() }];
  readonly #turns = new Map<string, OpenTurn>();
  #turn: OpenTurn | null = null;
  /** The log that is read now. */
  #source: ConversationId | null = null;
  /** Messages outside of a turn: the last may turn out to be a prompt. */
  #loose: EntryId[] = [];

  constructor(keepCarriers: boolean = true) {
    this.#carriers = keepCarriers ? new Map() : null;
  }

  /** Entries in the order of their logs, the oldest log first. `source`: as a link has it. */
  add(entry: ChainEntry, source: ConversationId | null): void {
    if (source !== this.#source) this.#startLog(source);
    if (entry.type === "upstream_link") this.#addLink(entry);
    else if (entry.type === "message") this.#addMessage(entry);
    else if (entry.type === "turn_start") this.#startTurn(entry);
    else if (entry.type === "attempt") this.#addAttempt(entry);
    else if (entry.type === "turn_end") this.#turn = null;
  }

  /** A fork may see the beginning of a turn of its source and not its end; its own messages belong to no such turn. */
  #startLog(source: ConversationId | null): void {
    this.#flush();
    this.#logs.unshift({ source, seqs: new Map() });
    this.#source = source;
    this.#turn = null;
    this.#turns.clear();
  }

  #addLink(entry: EntryOf<"upstream_link">): void {
    if (entry.upstream.trim() === "") return;
    this.#flush();
    const source = this.#source;
    const head = this.#links.at(-1);
    if (head?.id === entry.upstream && head.agent === entry.agent && head.source === source) return;
    const { upstream: id, agent, account = null, reason, time: since, seq } = entry;
    const inherited = source !== null;
    this.#links.push({ id, agent, account, reason, since, seq, source, carried: null, inherited });
    if (this.#turn !== null) this.#turn.carrier = this.#links.length - 1; // it changed its id itself, or is about to be asked
  }

  #addMessage({ id, seq }: Pick<MessageEntry, "id" | "seq">): void {
    this.#logs[0]?.seqs.set(id, seq);
    if (this.#turn !== null) {
      if (this.#turn.carrier !== null) this.#carry(this.#turn.carrier, id);
    } else if (this.#links.at(-1)?.source === this.#source) {
      this.#loose.push(id);
      if (this.#loose.length > LOOSE_MAX) this.#flush(LOOSE_MAX / 2);
    }
  }

  #startTurn({ turn, prompt }: EntryOf<"turn_start">): void {
    this.#loose = this.#loose.filter((id) => id !== prompt);
    this.#flush();
    this.#turn = { prompt: prompt ?? null, carrier: null };
    this.#turns.set(turn, this.#turn);
  }

  #addAttempt({ turn, upstream }: EntryOf<"attempt">): void {
    const open = this.#turns.get(turn);
    const index = this.#links.findLastIndex((link) => link.id === upstream);
    if (open === undefined || index === -1) return;
    open.carrier = index;
    if (open.prompt !== null) this.#carry(index, open.prompt);
  }

  #flush(from: number = 0): void {
    const head = this.#links.length - 1;
    const settled = this.#loose.splice(0, this.#loose.length - from);
    for (const id of settled) this.#carry(head, id);
  }

  #carry(index: number, message: EntryId): void {
    const [link, log] = [this.#links[index], this.#logs.find(({ seqs }) => seqs.has(message))];
    const seq = log?.seqs.get(message);
    if (link === undefined || seq === undefined) return;
    if (log?.source === link.source) {
      const range = (link.carried ??= { fromSeq: seq, toSeq: seq });
      range.fromSeq = Math.min(range.fromSeq, seq);
      range.toSeq = Math.max(range.toSeq, seq);
    }
    const messageSeqs = this.#carriers?.get(message);
    if (messageSeqs === undefined) this.#carriers?.set(message, [index]);
    else if (messageSeqs.at(-1) !== index) messageSeqs.push(index);
  }

  /** Messages outside of a turn count as carried by the last link; the next entry may still say otherwise of them. */
  links(): readonly Link[] {
    const head = this.#links.at(-1);
    const loose = this.#loose.flatMap((id) => this.#logs[0]?.seqs.get(id) ?? []);
    if (head === undefined || loose.length === 0) return this.#links;
    const { fromSeq, toSeq } = head.carried ?? { fromSeq: Number.POSITIVE_INFINITY, toSeq: 0 };
    const range = { fromSeq: Math.min(fromSeq, ...loose), toSeq: Math.max(toSeq, ...loose) };
    return [...this.#links.slice(0, -1), { ...head, carried: range }];
  }

  /** The places in the chain of the links that carried a message, in turn. */
  carriersOf(message: EntryId): readonly number[] {
    const carriers = this.#carriers?.get(message) ?? [];
    const head = this.#links.length - 1;
    return carriers.at(-1) !== head && this.#loose.includes(message) ? [...carriers, head] : carriers;
  }

  /** `links`: as they were returned, to be recognized. */
  carriers(links: readonly Link[] = this.links()): Chain["carriers"] {
    const carriers = new Map<EntryId, readonly Link[]>();
    for (const id of new Set([...(this.#carriers?.keys() ?? []), ...this.#loose]))
      carriers.set(
        id,
        this.carriersOf(id).flatMap((index) => links[index] ?? []),
      );
    return carriers;
  }

  /** How many messages have carriers. */
  get size(): number {
    return this.#carriers?.size ?? 0;
  }
}
