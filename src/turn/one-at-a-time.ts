import { randomBytes } from "node:crypto";
import type { EntryBody } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { Owner, LogEnd } from "#conversation/owner";
import type { Clock } from "#conversation/clock";
import { nameOfProcess } from "./running-process.ts";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import { spaceOf } from "#conversation/on-space";

interface Options {
  readonly clock: Clock;
  /** This process and this runtime unless given. */
  readonly writer?: string | undefined;
  readonly leaseMs: number;
  readonly isDead: (writer: string) => Promise<boolean>;
}

/** A conversation that is owned for the time of one piece of work. */
export interface Owned {
  readonly conversation: Conversation;
  readonly owner: Owner;
  readonly cancelled: AbortSignal;
  /** For the last batch of the work: whether its lease ends with it. Notes that come later take the conversation again. */
  readonly endsLease: () => boolean;
}

/** Work for somebody else than this host: a task that is tried more than once, and writes in one name each time. */
export interface Claim {
  readonly writer: string;
  /** In which one attempt at the task owns the conversation; once another has taken it, this attempt does not get it back. */
  epoch: number | null;
}

/** What is to be written; a function is called right before, when nobody else can write. */
export type Note = readonly EntryBody[] | (() => Promise<readonly EntryBody[]>);

/** How a host stops. */
export interface CloseOptions {
  /** How long turns have to end by themselves. From then on no other is begun: whoever asks is told `busy`. */
  readonly graceMs?: number;
}

interface Running {
  readonly cancel: AbortController;
  readonly claim: Claim | null;
  /** Set when another attempt at the same task takes over here. */
  overtaken: LogError | null;
  owner: Owner | null;
  /** What happened beside the work, to be written when it has ended; null once that is done. */
  later: Note[] | null;
  /** Settles when the conversation is owned, or cannot be. */
  readonly owned: PromiseWithResolvers<void>;
}

/**
 * One piece of work at a time in each conversation. Everything this host writes is queued: its writers have one name,
 * so they would not keep each other out but fence each other off.
 */
export class OneAtATime {
  readonly #holdfast: Holdfast;
  readonly #options: Options;
  readonly #running = new Map<ConversationId, Running>();
  readonly #queues = new ConversationQueues();
  readonly #ends: LogEnds;
  #isStopping: boolean = false;
  /** Who writes. Another host of this process, or of a thread of it, must not pass for this one. */
  #writer: Promise<string> | null = null;

  constructor(holdfast: Holdfast, options: Options) {
    this.#holdfast = holdfast;
    this.#options = options;
    this.#ends = new LogEnds(spaceOf(holdfast));
  }

  /** `signal` stops the work, or has it not begun. */
  async run<T>(
    id: string,
    work: (owned: Owned) => Promise<T>,
    {
      claim = null,
      signal,
    }: { readonly claim?: Claim | null; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    signal?.throwIfAborted();
    const conversation = parseConversationId(id);
    if (this.#isStopping) throw isStopping(id);
    const before = this.#running.get(conversation);
    if (before !== undefined && !comesAfter(claim, before.claim))
      throw new LogError("busy", `A turn is running in conversation ${id}. Steer it or cancel it first.`, {
        conversation: id,
      });
    // The attempt before has lost its task, else there would be no other: it stops, and this one comes after it.
    const later = before?.later ?? [];
    if (before !== undefined) overtake(before, id);
    const running: Running = {
      cancel: new AbortController(),
      claim,
      overtaken: null,
      owner: null,
      later,
      owned: Promise.withResolvers<void>(),
    };
    running.owned.promise.catch(() => undefined); // whoever runs hears of it too
    this.#running.set(conversation, running);
    const stop = (): void => running.cancel.abort();
    signal?.addEventListener("abort", stop);
    const inside = async (owned: Owned): Promise<T> => {
      signal?.throwIfAborted();
      return work(owned);
    };
    return this.#queues.run(conversation, () =>
      this.#work(id, running, inside).finally(() => {
        signal?.removeEventListener("abort", stop);
        running.later = null;
        if (this.#running.get(conversation) === running) this.#running.delete(conversation);
      }),
    );
  }

  async #work<T>(id: string, running: Running, work: (owned: Owned) => Promise<T>): Promise<T> {
    const acquiring = this.#acquire(id, running.claim);
    acquiring.then(() => running.owned.resolve(), running.owned.reject);
    const { conversation, owner: acquired } = await acquiring;
    await using owner = acquired;
    running.owner = owner;
    if (running.overtaken !== null) throw running.overtaken;
    owner.onLost = () => running.cancel.abort();
    await this.#ends.check(owner.acquiredHead);
    const [done] = await Promise.allSettled([
      work({ conversation, owner, cancelled: running.cancel.signal, endsLease: () => closeNotes(running) }),
    ]);
    // However the work ended, what was said to be written is; its own failure is the one to be told.
    const [written] = await Promise.allSettled([writeLater(owner, running)]);
    this.#keepEnd(conversation.id, owner, done);
    if (done.status === "rejected") throw done.reason;
    if (written.status === "rejected") throw written.reason;
    return done.value;
  }

  /** What was lost was told of once; the next one goes on from what there is. */
  #keepEnd(id: ConversationId, owner: Owner, done: PromiseSettledResult<unknown>): void {
    if (done.status === "rejected" && isLogError(done.reason, "diverged")) this.#ends.forget(id);
    else this.#ends.keep(id, owner.lastKnown);
  }

  /** Written at once, or when the running work has ended. */
  async note(id: string, note: Note): Promise<void> {
    const conversation = parseConversationId(id);
    const running = this.#running.get(conversation);
    if (running !== undefined) await running.owned.promise;
    if (running?.later != null) return void running.later.push(note);
    await this.#queues.run(conversation, async () => {
      const { owner: acquired } = await this.#acquire(id);
      await using owner = acquired;
      await write(owner, note);
    });
  }

  cancel(id: string): boolean {
    const running = this.#running.get(parseConversationId(id));
    running?.cancel.abort();
    return running !== undefined;
  }

  /** Cancels what runs, at once unless told, and resolves when every queue is empty. */
  async close({ graceMs }: CloseOptions = {}): Promise<void> {
    if (graceMs !== undefined) {
      this.#isStopping = true;
      const over = new AbortController();
      await Promise.race([this.#queues.settled(), this.#options.clock.sleep(graceMs, over.signal)]);
      over.abort();
    }
    for (const { cancel } of this.#running.values()) cancel.abort();
    await this.#queues.settled();
  }

  async #name(): Promise<string> {
    return this.#options.writer ?? nameOfProcess(`holdfast ${randomBytes(4).toString("hex")}`);
  }

  async #acquire(id: string, claim: Claim | null = null): Promise<Pick<Owned, "conversation" | "owner">> {
    const conversation = this.#holdfast.handle(parseConversationId(id));
    const { leaseMs, clock } = this.#options;
    this.#writer ??= this.#name();
    const writer = claim?.writer ?? (await this.#writer);
    const lease = claim?.epoch == null ? {} : { epoch: claim.epoch };
    const own = async (): Promise<Pick<Owned, "conversation" | "owner">> => {
      const owner = await conversation.own({ writer, leaseMs, clock, ...lease });
      if (claim !== null) claim.epoch = owner.epoch;
      return { conversation, owner };
    };
    try {
      return await own();
    } catch (error) {
      if (isLogError(error, "diverged")) this.#ends.forget(conversation.id); // the store says it, once
      if (!isLogError(error, "busy") || !(await releaseDead(conversation, this.#options))) throw error;
      return own();
    }
  }
}

function isStopping(id: string): LogError {
  return new LogError(
    "busy",
    "This process is stopping and starts no more turns. Try again with another process.",
    {
      conversation: id,
    },
  );
}

/** Lets go of a lease in the name of a writer that is dead: who looks next must not find it. False when none is known to be. */
export async function releaseDead(
  conversation: Conversation,
  { isDead, leaseMs, clock }: Pick<Options, "isDead" | "leaseMs"> & Partial<Pick<Options, "clock">>,
): Promise<boolean> {
  const { lease } = await conversation.head();
  if (lease === null || !(await isDead(lease.writer))) return false;
  const more = clock === undefined ? {} : { clock };
  const dead = await conversation.own({ writer: lease.writer, leaseMs, ...more });
  await dead[Symbol.asyncDispose]();
  return true;
}

/** Whether it is another attempt at the same task. */
function comesAfter(claim: Claim | null, before: Claim | null): boolean {
  return claim !== null && claim !== before && claim.writer === before?.writer;
}

function overtake(running: Running, id: string): void {
  running.overtaken = new LogError(
    "fenced",
    `Another attempt at the same task took over conversation ${id}. This attempt stopped writing.`,
    { conversation: id },
  );
  running.later = null;
  running.owner?.giveUp(running.overtaken);
  running.cancel.abort();
}

async function write(owner: Owner, note: Note): Promise<void> {
  const bodies = typeof note === "function" ? await note() : note;
  if (bodies.length > 0) await owner.append(bodies);
}

/** From here on nothing waits for the end of the work; false where something does. */
function closeNotes(running: Running): boolean {
  if (running.later !== null && running.later.length > 0) return false;
  running.later = null;
  return true;
}

/** More may come while it is written; after the last of it the list is closed. */
async function writeLater(owner: Owner, running: Running): Promise<void> {
  try {
    for (;;) {
      const note = running.later?.shift();
      if (note === undefined) return;
      await write(owner, note);
    }
  } finally {
    running.later = null;
  }
}

const ENDS_MAX = 4_096;

/**
 * How this host left the logs that it wrote. A log may come back shorter, or with other entries in the same places: a standby
 * took over that had not heard of everything, or a copy was restored. Then what is held of it here is of another log.
 */
export class LogEnds {
  readonly #space: SpaceStore;
  /** Least recently used first. */
  readonly #ends = new Map<ConversationId, LogEnd>();

  constructor(space: SpaceStore) {
    this.#space = space;
  }

  keep(conversation: ConversationId, end: LogEnd): void {
    this.#ends.delete(conversation);
    this.#ends.set(conversation, end);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > ENDS_MAX && oldest !== undefined) this.#ends.delete(oldest);
  }

  forget(conversation: ConversationId): void {
    this.#ends.delete(conversation);
  }

  /** Refuses, once, to go on with a log that has lost what this host was told was written; nothing is asked where nobody else wrote. */
  async check(head: HeadView): Promise<void> {
    const { conversation } = head;
    const end = this.#ends.get(conversation);
    if (end === undefined || end.createdAt !== head.createdAt) return this.forget(conversation);
    if (isUnchanged(end, head)) return;
    if (!mayHold(end, head) || !(await this.#holds(conversation, end))) {
      this.forget(conversation);
      throw lostEnd(conversation, end);
    }
  }

  async #holds(conversation: ConversationId, { seq, id }: LogEnd): Promise<boolean> {
    if (id === null) return true;
    const [stored] = await this.#space.read({ conversation, after: seq - 1, until: seq, limit: 1 });
    return stored?.id === id;
  }
}

function isUnchanged(end: LogEnd, head: HeadView): boolean {
  return mayHold(end, head) && end.link !== null && end.link === head.ownerLink;
}

/** Every owner takes the next epoch, and logs only grow. */
function mayHold({ epoch, seq }: LogEnd, head: HeadView): boolean {
  return head.epoch >= epoch && head.headSeq >= seq;
}

function lostEnd(conversation: ConversationId, { seq }: LogEnd): LogError {
  return new LogError(
    "diverged",
    `Conversation ${conversation} lost entry ${seq}, which this process wrote. The store was probably restored, or failed over to a standby that lacked it. Read the log, then try again to continue from there.`,
    { conversation, seq },
  );
}

/** What is done in a conversation one after another, in the order it was asked for. */
export class ConversationQueues {
  /** By conversation: settles when everything in its queue has been done. */
  readonly #queues = new Map<ConversationId, Promise<void>>();

  run<T>(conversation: ConversationId, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(conversation) ?? Promise.resolve();
    const result = before.then(work);
    const end = (): void => {
      if (this.#queues.get(conversation) === settled) this.#queues.delete(conversation);
    };
    const settled = result.then(end, end);
    this.#queues.set(conversation, settled);
    return result;
  }

  /** Resolves when every queue is empty of what is in it now. */
  async settled(): Promise<void> {
    await Promise.all(this.#queues.values());
  }
}
