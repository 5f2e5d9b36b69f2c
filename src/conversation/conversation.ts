import type { AppendResult, Author, StampedDraft } from "#log/batch";
import { decodeEntry } from "#log/codec";
import type { EntryBody, SteerTime } from "#log/entry";
import { LogError } from "#log/errors";
import { type ConversationId, type Digest, parseConversationId, parseEntryId, parseKey } from "#log/ids";
import type { ContentBlock } from "#log/message";
import type { SpaceStore } from "#store/facets";
import { type IdsAndTime, prepare } from "#store/prepare";
import { type Clock, idleClock } from "./clock.ts";
import { answerKey, ConversationReader } from "./conversation-reader.ts";
import { idForKey } from "./id-for-key.ts";
import { type AppendOptions, Owner } from "./owner.ts";
import { steerKey } from "./steer-queue.ts";

export interface ForkOptions {
  /** The node the fork grows from; the leaf when absent. */
  readonly at?: string;
  readonly id?: string;
  readonly cwd?: string;
  /** Makes a retry harmless: the same key is the same fork. Without an id, the id follows from it. */
  readonly key?: string;
}

export interface OwnOptions {
  readonly writer: string;
  /** How long others wait for a writer that is gone; a living one renews it. */
  readonly leaseMs: number;
  /** By which it is renewed; real time unless given. */
  readonly clock?: Pick<Clock, "sleep">;
  /** The epoch it was owned in before: refused where anybody has taken it since. */
  readonly epoch?: number;
}

/** One conversation: a handle that holds no state of its own, so every call sees the log as it is. */
export class Conversation extends ConversationReader {
  /** As `create` answers it: the key was known, and nothing was written. */
  readonly deduped?: boolean;
  /** The same, and its content was another: the stored one stays. */
  readonly differs?: boolean;
  readonly #space: SpaceStore;
  readonly #idsAndTime: IdsAndTime;

  constructor(id: ConversationId, space: SpaceStore, idsAndTime: IdsAndTime) {
    super(id, space);
    this.#space = space;
    this.#idsAndTime = idsAndTime;
  }

  /** Appends bodies as one atomic batch. A string is taken as the exact JSON text of a body. */
  async append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    options: AppendOptions = {},
  ): Promise<AppendResult> {
    const { expected } = options;
    const author: Author = { kind: "once", ...(expected === undefined ? {} : { expected }) };
    return (await this.#append(bodies, author, options)).result;
  }

  async #append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    author: Author,
    options: AppendOptions,
  ): Promise<{ readonly result: AppendResult; readonly drafts: readonly StampedDraft[] }> {
    const list = typeof bodies === "string" || !isList(bodies) ? [bodies] : bodies;
    const prepared = prepare(
      list,
      this.#idsAndTime,
      options.key === undefined ? null : parseKey(options.key),
    );
    const { durability = "full" } = options;
    const result = await this.#space.append({ conversation: this.id, author, ...prepared, durability });
    return { result, drafts: prepared.drafts };
  }

  /**
   * Takes the conversation for a turn; others are busy until it is let go of, or its process is gone and the lease has
   * lapsed.
   */
  async own(options: OwnOptions): Promise<Owner> {
    const { writer, leaseMs, epoch, clock = idleClock } = options;
    const request = { conversation: this.id, writer, leaseMs };
    const head = await (epoch === undefined
      ? this.#space.acquire(request)
      : this.#space.renew({ ...request, epoch }));
    if (head.summary?.metadata["redacted"] === true) {
      await this.#space.renew({ conversation: this.id, epoch: head.epoch, leaseMs: 0 });
      throw new LogError(
        "invalid_request",
        `Conversation ${this.id} is a redacted, read-only copy. Fork it to continue.`,
        { conversation: this.id },
      );
    }
    return new Owner(head, {
      space: this.#space,
      leaseMs,
      clock,
      append: (bodies, author, more) => this.#append(bodies, author, more),
    });
  }

  /** Appends facts from outside a turn (steer, hide, label, title): they never move the leaf nor disturb its owner. */
  async appendOutside(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    options: Pick<AppendOptions, "key"> = {},
  ): Promise<AppendResult> {
    return (await this.#append(bodies, { kind: "outside" }, options)).result;
  }

  title(title: string): Promise<AppendResult> {
    return this.appendOutside({ type: "title", title });
  }

  /** Names a node; null takes the name away. */
  label(entry: string, label: string | null): Promise<AppendResult> {
    return this.appendOutside({ type: "label", target: entry, label });
  }

  /** Takes a node out of the context, or brings it back; the log keeps it either way. */
  hide(entry: string, hidden: boolean = true): Promise<AppendResult> {
    return this.appendOutside({ type: "hide", target: entry, ...(hidden ? {} : { hidden }) });
  }

  /** Leaves a message for the running turn, or for what it is said to wait for; durable when this resolves. */
  steer(
    steer: string,
    content: readonly ContentBlock[],
    waits: { readonly when?: SteerTime } = {},
  ): Promise<AppendResult> {
    return this.appendOutside(
      { type: "steer", steer, state: "accepted", content, ...waits },
      { key: steerKey(steer) },
    );
  }

  /**
   * Answers what a turn asked you, from any process; the turn continues with the answer. `cancelled`: the question needs no
   * answer any more.
   */
  answer(
    request: string,
    outcome: "allowed" | "denied" | "cancelled",
    more: { readonly by?: string } = {},
  ): Promise<AppendResult> {
    return this.appendOutside(
      { type: "permission_answer", request, outcome, ...more },
      { key: answerKey(request) },
    );
  }

  /** Declares an upstream id unusable: it stays in the chain and is not resumed. */
  endUpstream(upstream: string, reason: string): Promise<AppendResult> {
    return this.appendOutside({ type: "upstream_end", upstream, reason });
  }

  /** Moves the leaf to another node; what is appended next grows from there. */
  goTo(entry: string, options: AppendOptions = {}): Promise<AppendResult> {
    return this.append({ type: "leaf", target: entry }, options);
  }

  /** Begins anew in the same conversation: nothing earlier reaches a model, no session is resumed, history stays readable. */
  newChat(options: Pick<AppendOptions, "key"> = {}): Promise<AppendResult> {
    return this.append({ type: "reset", reason: "new_chat" }, options);
  }

  /** A new conversation that shares this one up to a node and never changes it. Its title follows from the source's. */
  async fork(options: ForkOptions = {}): Promise<Conversation> {
    const { at, id, cwd, key } = options;
    const own = key === undefined ? this.#idsAndTime.newId() : idForKey("fork", this.id, parseKey(key));
    const conversation = parseConversationId(id ?? own);
    await this.#space.fork({
      source: this.id,
      conversation,
      ...(at === undefined ? {} : { entry: parseEntryId(at) }),
      ...(cwd === undefined ? {} : { cwd }),
      time: this.#idsAndTime.now(),
      id: parseEntryId(this.#idsAndTime.newId()),
      key: key === undefined ? null : parseKey(key),
    });
    return new Conversation(conversation, this.#space, this.#idsAndTime);
  }

  putBlob(bytes: Uint8Array): Promise<Digest> {
    return this.#space.putBlob(this.id, bytes);
  }

  /**
   * Who holds the conversation in memory, by its own word: the host that carried the latest turn, where its pool has an
   * address. For a router to send to; a hint, nothing rests on it.
   */
  holder(): Promise<Holder | null> {
    return readHolder(this.#space, this.id, Date.parse(this.#idsAndTime.now()));
  }

  /** Removes the conversation for good. Forks keep what they inherited. */
  erase(): Promise<void> {
    return this.#space.erase(this.id);
  }
}

function isList(
  bodies: EntryBody | readonly (EntryBody | string)[],
): bodies is readonly (EntryBody | string)[] {
  return Array.isArray(bodies);
}

/** Who said that they hold a conversation, and until when that counts. */
export interface Holder {
  readonly address: string;
  readonly untilMs: number;
}

/**
 * Whoever carried the latest turn, as far as it said where it is reached and its time is not over. A hint: it may be gone,
 * and what a log says of addresses is only as good as whoever wrote it.
 */
async function readHolder(
  space: SpaceStore,
  conversation: ConversationId,
  nowMs: number,
): Promise<Holder | null> {
  const types = ["turn_start", "turn_end"] as const;
  const [latest, before] = await space.read({ conversation, limit: 2, newestFirst: true, types });
  const begun = [latest, before].find((stored) => stored?.type === "turn_start");
  const start = begun === undefined ? null : decodeEntry(begun);
  if (latest === undefined || start?.type !== "turn_start" || start.holder === undefined) return null;
  const lease = latest.type === "turn_start" ? (await space.head(conversation)).lease : null;
  // What remains of a lease is by the store's clock; times of entries are by the clock of whoever wrote them.
  const leasedMs = lease === null ? 0 : nowMs + lease.remainingMs;
  const lastMs = Math.max(Date.parse(latest.time), leasedMs);
  const untilMs = lastMs + start.holder.forMs;
  return untilMs > nowMs ? { address: start.holder.address, untilMs } : null;
}
