import type { AppendResult, Author, StampedDraft } from "#log/batch";
import { decodeEntry, presentEntry } from "#log/codec";
import type { Entry, EntryBody } from "#log/entry";
import { isNode } from "#log/entry-types";
import { isLogError, LogError } from "#log/errors";
import { type EntryId, parseEntryId, parseKey } from "#log/ids";
import type { Durability } from "#log/plans/durability";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import type { Clock } from "./clock.ts";

export interface AppendOptions {
  /** Makes the append idempotent: the same key is written once, whatever fails in between. */
  readonly key?: string;
  /** The last seq you have seen; refused when an owner wrote after it. */
  readonly expected?: number;
  readonly durability?: Durability;
}

interface OwnerAppendOptions extends Omit<AppendOptions, "expected"> {
  /** The lease ends with this batch, in the same call of the store. */
  readonly releases?: boolean;
}

interface OwnerActions {
  readonly space: SpaceStore;
  readonly leaseMs: number;
  readonly clock: Pick<Clock, "sleep">;
  append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    author: Author,
    options: AppendOptions,
  ): Promise<{ readonly result: AppendResult; readonly drafts: readonly StampedDraft[] }>;
}

/** An end that a log had. */
export interface LogEnd {
  /** Tells apart what was erased and made again. */
  readonly createdAt: string;
  readonly epoch: number;
  /** The link of its owner's last batch. */
  readonly link: string | null;
  /** An entry that its owner wrote, and where it is; none: it wrote nothing. */
  readonly id: EntryId | null;
  readonly seq: number;
}

/** What an owner wrote, and where; no drafts where the log had them already. */
export interface Written {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly drafts: readonly StampedDraft[];
  /** The hash of the log after it. */
  readonly link: string | null;
  /** The leaf before it. */
  readonly leaf: string;
}

/** The leaf after a draft of an owner was written. */
export function leafAfter(leaf: string, { draft, id }: StampedDraft): string {
  if (isNode({ type: draft.type })) return id;
  const target = draft.type === "leaf" ? draft.body["target"] : undefined;
  return typeof target === "string" ? target : leaf;
}

/**
 * The one writer of a turn. Its epoch fences it off once another takes over. The lease is renewed for as long as it is
 * held; disposing lets it go.
 */
export class Owner implements AsyncDisposable {
  readonly epoch: number;
  readonly #head: HeadView;
  readonly #actions: OwnerActions;
  #seen: number;
  #leaf: string;
  #link: string | null;
  #last: Pick<LogEnd, "id" | "seq"> = { id: null, seq: 0 };
  #queue: Promise<unknown> = Promise.resolve();
  #isReleased: boolean = false;
  readonly #keeping: Disposable;
  #givenUp: { readonly error: unknown } | null = null;
  readonly #listeners: ((written: Written) => void)[] = [];
  /** Told when the lease is lost: what is under way for it is better stopped, and nothing more is written. */
  onLost: (why: unknown) => void = () => undefined;

  constructor(head: HeadView, actions: OwnerActions) {
    this.epoch = head.epoch;
    this.#head = head;
    this.#actions = actions;
    this.#seen = head.headSeq;
    this.#leaf = head.leaf.id;
    this.#link = head.ownerLink;
    const { clock, leaseMs } = actions;
    const onLost = (why: unknown): void => {
      this.giveUp(why);
      this.onLost(why);
    };
    this.#keeping = keepLease({ clock, leaseMs, renew: () => this.renew(), onLost });
  }

  /** The end of the log as this owner left it, by which it is known again. */
  get lastKnown(): LogEnd {
    const { createdAt } = this.#head;
    return { createdAt, epoch: this.epoch, link: this.#link, ...this.#last };
  }

  /** The head as it was when the conversation was acquired. */
  get acquiredHead(): HeadView {
    return this.#head;
  }

  /** The head, as long as this owner has written nothing. */
  get unchangedHead(): HeadView | null {
    return this.#last.id === null ? this.#head : null;
  }

  /** Calls back after every append, to keep what was read of the log up to date. */
  onWritten(listener: (written: Written) => void): void {
    this.#listeners.push(listener);
  }

  /** Nothing is written any more: whoever tries is told this error. What is under way may still be written. */
  giveUp(error: unknown): void {
    this.#givenUp ??= { error };
  }

  /** Appends follow each other, also when they are not waited for: each expects the head the one before left. */
  append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    options: OwnerAppendOptions = {},
  ): Promise<AppendResult> {
    const run = this.#queue.then(() => this.#append(bodies, options));
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    { releases = false, ...options }: OwnerAppendOptions,
  ): Promise<AppendResult> {
    if (this.#givenUp !== null) throw this.#givenUp.error;
    if (releases) this.#keeping[Symbol.dispose]();
    const basis = { epoch: this.epoch, expected: this.#seen, link: this.#link };
    const author: Author = { kind: "owner", ...basis, ...(releases ? { releases } : {}) };
    const { result, drafts } = await this.#actions.append(bodies, author, options);
    this.#isReleased ||= releases && !result.deduped;
    this.#seen = Math.max(this.#seen, result.toSeq);
    this.#link = result.ownerLink;
    const { fromSeq, toSeq, lastId, deduped } = result;
    this.#last = { id: lastId, seq: toSeq };
    const written = { fromSeq, toSeq, drafts: deduped ? [] : drafts, link: this.#link, leaf: this.#leaf };
    for (const listener of this.#listeners) listener(written);
    for (const draft of written.drafts) this.#leaf = leafAfter(this.#leaf, draft);
    return result;
  }

  /** The append made under this key: look before doing the work it protects. */
  async findAppend(key: string): Promise<Pick<AppendResult, "fromSeq" | "toSeq" | "lastId"> | null> {
    return this.#actions.space.findAppend(this.#head.conversation, parseKey(key));
  }

  async entry(id: string): Promise<Entry> {
    const stored = await this.#actions.space.entry(this.#head.conversation, parseEntryId(id));
    return presentEntry(decodeEntry(stored));
  }

  /** Renews the lease now, or for another time than it was taken for. */
  async renew(leaseMs: number = this.#actions.leaseMs): Promise<void> {
    await this.#actions.space.renew({ conversation: this.#head.conversation, epoch: this.epoch, leaseMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keeping[Symbol.dispose]();
    if (this.#isReleased) return;
    const { conversation } = this.#head;
    // Whoever took over has the lease now; there is nothing left to let go of.
    await this.#actions.space.renew({ conversation, epoch: this.epoch, leaseMs: 0 }).catch(() => undefined);
  }
}

interface KeepLeaseInput {
  readonly clock: Pick<Clock, "sleep">;
  readonly leaseMs: number;
  readonly renew: () => Promise<void>;
  /** Told once, when it is not kept any more: another has it, or nobody could be asked until it was over. */
  readonly onLost: (why: unknown) => void;
}

/** Renews a lease until it is disposed of, or lost. */
function keepLease({ clock, leaseMs, renew, onLost }: KeepLeaseInput): Disposable {
  const stop = new AbortController();
  const aThird = (): Promise<void> => clock.sleep(leaseMs / 3, stop.signal);
  let failure: unknown;
  const renewed = async (): Promise<void> => {
    for (; !stop.signal.aborted; await aThird()) {
      try {
        return await renew();
      } catch (error) {
        if (isLogError(error, "fenced") || isLogError(error, "diverged")) throw error;
        failure = error; // it may be over at the next try
      }
    }
  };
  // A store that does not answer keeps a lease as little as one that refuses.
  const lapsed = async (signal: AbortSignal): Promise<void> => {
    await clock.sleep((leaseMs * 2) / 3, signal);
    if (!signal.aborted) throw lapsedLease(leaseMs, failure);
  };
  const keep = async (): Promise<void> => {
    for (await aThird(); !stop.signal.aborted; await aThird()) {
      const over = new AbortController();
      await Promise.race([renewed(), lapsed(over.signal)]).finally(() => over.abort("over"));
    }
  };
  const lost = (why: unknown): void => {
    if (!stop.signal.aborted) onLost(why);
    stop.abort("over");
  };
  if (leaseMs > 0) keep().catch(lost); // with 0 there is none to keep
  return { [Symbol.dispose]: () => stop.abort("over") };
}

function lapsedLease(leaseMs: number, cause: unknown): LogError {
  return new LogError(
    "fenced",
    `Lost the lease after ${leaseMs} ms without renewal, so another writer may own the conversation. Check the connection to the store, then acquire the conversation again.`,
    { leaseMs },
    { cause },
  );
}
