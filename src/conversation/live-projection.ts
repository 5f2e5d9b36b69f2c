import { decodeEntry } from "#log/codec";
import { type Entry, type EntryType, FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { isNode } from "#log/entry-types";
import type { ConversationId, EntryId } from "#log/ids";
import type { Projection } from "#log/projections/projection";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import { leafAfter, type Owner, type Written } from "./owner.ts";
import { readLog, readEntries, readInherited } from "./read-log.ts";
import type { Holdfast } from "./holdfast.ts";
import { labelsOf } from "#log/projections/labels";
import { spaceOf } from "./on-space.ts";

/** A moment of a log. A head from a list has no hash. */
export type LogMark = Pick<HeadView, "createdAt" | "headSeq"> & Partial<Pick<HeadView, "link">>;

/** A hash proves everything before it. A log from before there were hashes is compared with its last known entry. */
export function isSameMark(one: LogMark, other: LogMark): boolean {
  const isSameHash = other.link === undefined || (one.link != null && one.link === other.link);
  return isSameHash && one.headSeq === other.headSeq && one.createdAt === other.createdAt;
}

interface Progress<State> {
  readonly state: State;
  /** The newest entry that was added. */
  readonly last: Pick<Entry, "id" | "seq"> | null;
}

/** A state that was not read from the first entry on; `last` is the newest entry of its types up to the asked one. */
interface Beginning<State> extends Progress<State> {
  /** The head at which it was read, where that is known. */
  readonly head: HeadView | null;
}

export interface LiveOptions<State> {
  /** Reads a bounded part of the log in place of all of it, at least up to entry `upTo`. */
  readonly begin?: (upTo: number) => Promise<Beginning<State>>;
  /** With `begin`: it is called again when more entries than this were added since the last read. */
  readonly addedMax?: number;
  /** Whether the state is read again when the next owner starts. */
  readonly isTooLarge?: (state: State) => boolean;
}

interface Moment {
  readonly head?: LogMark | undefined;
  readonly upTo?: number;
}

interface Cached<State> extends Progress<State> {
  /** The state includes every entry up to this one. */
  readonly upTo: number;
  /** Null: the head at `upTo` is unknown. */
  readonly mark: LogMark | null;
}

/**
 * Keeps a projection of one log up to date. A read adds what was appended since the last one, by any process. The last known
 * entry comes along: if it isn't there, the log is another one and the state starts over. While an owner writes, its batches
 * are added without a call to the store.
 */
export class LiveProjection<State> {
  readonly #space: SpaceStore;
  readonly #conversation: ConversationId;
  readonly #projection: Projection<State>;
  readonly #options: LiveOptions<State>;
  #cached: Cached<State> | null = null;
  #owner: Owner | null = null;
  /** The seq of the owner's last batch. */
  #writtenTo: number = 0;
  /** The state was compared with the log of the owner. */
  #isCompared: boolean = false;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(
    space: SpaceStore,
    conversation: ConversationId,
    projection: Projection<State>,
    options: LiveOptions<State> = {},
  ) {
    this.#space = space;
    this.#conversation = conversation;
    this.#projection = projection;
    this.#options = options;
  }

  /** The state as it was last read; null: there is none. */
  get state(): State | null {
    return this.#cached?.state ?? null;
  }

  /** How far the log was read. */
  get upTo(): number {
    return this.#cached?.upTo ?? 0;
  }

  /** The state at a head, if it was last read there. */
  at(head: HeadView): State | null {
    const mark = this.#cached?.mark ?? null;
    return mark !== null && isSameMark(mark, head) ? this.state : null;
  }

  /** The state with everything that was appended until now. */
  now(): Promise<State> {
    return this.read((state) => state);
  }

  /** The state as of the owner's last batch: it calls the store only if somebody else has written. */
  owned(): Promise<State> {
    return this.readOwned((state) => state);
  }

  /** `now`, or as of `head`, for a state that changes: read it in `use`. */
  read<T>(use: (state: State) => T | Promise<T>, head?: LogMark): Promise<T> {
    return this.#inTurn(async () => use((await this.#update({ head })).state));
  }

  /** The same with the head that the state belongs to. */
  readAtHead<T>(use: (state: State, head: HeadView) => T | Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const begins = this.#cached === null && this.#options.begin !== undefined;
      const head = begins ? undefined : await this.#space.head(this.#conversation);
      const { state, at } = await this.#update({ head });
      return use(state, at ?? head ?? (await this.#space.head(this.#conversation)));
    });
  }

  /** The same, reading no further than an entry. */
  readUpTo<T>(upTo: number, use: (state: State) => T | Promise<T>): Promise<T> {
    return this.#inTurn(async () => use((await this.#update({ upTo })).state));
  }

  /** `owned`, for a state that changes. */
  readOwned<T>(use: (state: State) => T | Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const cached = this.#cached;
      const isCurrent = cached !== null && this.#isCompared && this.#writtenTo <= cached.upTo;
      return use(isCurrent ? cached.state : (await this.#update({})).state);
    });
  }

  /** `now`, read from scratch. */
  again(): Promise<State> {
    return this.#inTurn(async () => {
      this.#cached = null;
      return (await this.#update({})).state;
    });
  }

  /** Adds what an owner writes from here on. */
  follow(owner: Owner): void {
    const head = owner.acquiredHead;
    const cached = this.#cached;
    if (cached !== null && this.#options.isTooLarge?.(cached.state) === true) this.#cached = null;
    this.#isCompared = cached?.mark != null && isSameMark(cached.mark, head);
    this.#writtenTo = head.headSeq;
    this.#owner = owner;
    owner.onWritten((written) => this.#addWritten(owner, written));
  }

  #addWritten(owner: Owner, written: Written): void {
    if (owner !== this.#owner) return;
    const { fromSeq, toSeq, link } = written;
    const cached = this.#cached;
    this.#writtenTo = Math.max(this.#writtenTo, toSeq);
    // A batch that the log had before says nothing about its end.
    if (written.drafts.length === 0) this.#isCompared = false;
    if (cached === null || !this.#isCompared || cached.upTo !== fromSeq - 1) return;
    let next: Progress<State> | null = cached;
    this.#cached = null;
    for (const entry of entriesOf(written, this.#projection.types))
      next = next === null ? null : this.#added(next, entry);
    const { createdAt } = owner.acquiredHead;
    if (next !== null) this.#cached = { ...next, upTo: toSeq, mark: { createdAt, headSeq: toSeq, link } };
  }

  async #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const reading = this.#reading.then(read);
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /** While it reads, nothing is cached: what the owner writes meanwhile is read by the next call. */
  async #update({ head, upTo }: Moment): Promise<{ readonly state: State; readonly at: HeadView | null }> {
    const [cached, owner, writtenTo] = [this.#cached, this.#owner, this.#writtenTo];
    if (cached?.mark != null && head !== undefined && isSameMark(cached.mark, head))
      return { state: cached.state, at: null };
    this.#cached = null;
    // A head from before the last read says nothing about what was added since.
    const until =
      head === undefined || head.headSeq >= (cached?.upTo ?? 0) ? (upTo ?? head?.headSeq) : undefined;
    const isOther = cached?.mark != null && head !== undefined && cached.mark.createdAt !== head.createdAt;
    const extended = cached === null || isOther ? null : await this.#extend(cached, until);
    const begun = extended === null ? ((await this.#options.begin?.(writtenTo)) ?? null) : null;
    const next =
      extended ?? begun ?? (await this.#extend({ state: this.#projection.start(), last: null }, until));
    if (next === null) throw new TypeError("The projection rejected an entry of the log");
    const mark = begun?.head ?? head ?? null;
    const readTo = Math.max(next.last?.seq ?? 0, begun?.head?.headSeq ?? until ?? writtenTo);
    const { state, last } = next;
    this.#cached = { state, last, upTo: readTo, mark: mark?.headSeq === readTo ? mark : null };
    this.#isCompared = owner === this.#owner;
    return { state, at: begun?.head ?? null };
  }

  /** Null: the log is another one, or what was added can't be added to the state. */
  async #extend(from: Progress<State>, until: number | undefined): Promise<Progress<State> | null> {
    let next: Progress<State> | null = from;
    let isFirst = from.last !== null;
    try {
      for await (const stored of this.#since(from.last, until)) {
        if (stored === null || (isFirst && stored.id !== from.last?.id)) return null;
        if (!isFirst && this.#isGap(next, stored.seq - 1)) return null;
        const before: Progress<State> = next;
        next = null; // nothing half extended stays
        next = isFirst ? before : this.#added(before, decodeEntry(stored));
        if (next === null) return null;
        isFirst = false;
      }
    } catch (error) {
      this.#cached = next === null ? null : { ...next, upTo: next.last?.seq ?? 0, mark: null };
      throw error;
    }
    return isFirst || (until !== undefined && this.#isGap(next, until)) ? null : next;
  }

  /** Whether entries are missing before the next one: `begin` reports where, so that nothing is left out. */
  #isGap({ last }: Progress<State>, before: number): boolean {
    const isWhole = this.#projection.types === undefined && this.#options.begin !== undefined;
    return isWhole && (last?.seq ?? 0) < before;
  }

  #added({ state }: Progress<State>, entry: Entry): Progress<State> | null {
    const next = this.#projection.add(state, entry);
    return next === null ? null : { state: next, last: { id: entry.id, seq: entry.seq } };
  }

  /** The entries from the last known one on; null: there are more than are added. */
  async *#since(
    last: Progress<State>["last"],
    until: number | undefined,
  ): AsyncGenerator<StoredEntry | null> {
    const { types } = this.#projection;
    const range = { after: Math.max(0, (last?.seq ?? 0) - 1), ...(types === undefined ? {} : { types }) };
    const { addedMax } = this.#options;
    if (addedMax === undefined)
      return yield* readLog(this.#space, this.#conversation, {
        ...range,
        ...(until === undefined ? {} : { upTo: until }),
      });
    const entries = await this.#space.read({
      conversation: this.#conversation,
      limit: addedMax,
      ...range,
      ...(until === undefined ? {} : { until }),
    });
    if (entries.length === addedMax) yield null;
    else yield* entries;
  }
}

/** The entries of a batch that are of these types, as the log has them. */
function entriesOf(
  { fromSeq, drafts, leaf: before }: Written,
  types: readonly EntryType[] | undefined,
): readonly Entry[] {
  let leaf = before;
  return drafts.flatMap((written, offset) => {
    const { draft, id, time } = written;
    const { type, payload, parentId = leaf } = draft;
    leaf = leafAfter(leaf, written);
    if (types?.includes(type) === false) return [];
    const entry = { v: FORMAT_VERSION, id, seq: fromSeq + offset, time, type, payload };
    return [decodeEntry({ ...entry, parentId: isNode({ type }) ? parentId : null })];
  });
}

export interface LogBounds<State> {
  /** How many logs. The one that was used longest ago goes first. */
  readonly logs: number;
  /** A state is dropped after this time; absent: never. */
  readonly maxAgeMs?: number;
  /** Whether a state takes too much memory to stay. */
  readonly isTooLarge?: (state: State) => boolean;
}

/** One projection of many logs, in bounded memory. */
export class LiveProjections<State> {
  readonly #projection: Projection<State>;
  readonly #bounds: LogBounds<State>;
  readonly #options: (space: SpaceStore, conversation: ConversationId) => LiveOptions<State>;
  readonly #live = new Map<string, LiveProjection<State>>();

  constructor(
    projection: Projection<State>,
    bounds: LogBounds<State>,
    options: (space: SpaceStore, conversation: ConversationId) => LiveOptions<State> = () => ({}),
  ) {
    this.#projection = projection;
    this.#bounds = bounds;
    this.#options = options;
  }

  of(holdfast: Holdfast, conversation: ConversationId): LiveProjection<State> {
    const space = spaceOf(holdfast);
    const name = `${holdfast.spaceId}/${conversation}`;
    const projection = this.#live.get(name);
    const live =
      projection ??
      new LiveProjection(space, conversation, this.#projection, this.#options(space, conversation));
    this.#live.delete(name);
    this.#live.set(name, live);
    const { logs, maxAgeMs } = this.#bounds;
    const [oldest] = this.#live.keys();
    if (this.#live.size > logs && oldest !== undefined) this.#live.delete(oldest);
    if (projection === undefined && maxAgeMs !== undefined)
      setTimeout(() => this.#drop(name, live), maxAgeMs).unref();
    return live;
  }

  /** See `LiveProjection.readAtHead`. */
  async readAtHead<T>(
    holdfast: Holdfast,
    conversation: ConversationId,
    use: (state: State, head: HeadView) => T | Promise<T>,
  ): Promise<T> {
    const live = this.of(holdfast, conversation);
    const result = await live.readAtHead(use);
    if (live.state !== null && this.#bounds.isTooLarge?.(live.state) === true)
      this.#drop(`${holdfast.spaceId}/${conversation}`, live);
    return result;
  }

  #drop(name: string, live: LiveProjection<State>): void {
    if (this.#live.get(name) === live) this.#live.delete(name);
  }
}

type Labels = Map<EntryId, string>;

const TYPES = ["label"] as const;
const ADDED_MAX = 512;

const LABELS: Projection<Labels> = {
  types: TYPES,
  start: () => new Map(),
  add(labels, entry) {
    if (entry.type !== "label") return labels;
    if (entry.label === null || entry.label === "") labels.delete(entry.target);
    else labels.set(entry.target, entry.label);
    return labels;
  },
};

/** The labels of many logs, with those that a fork inherited. */
export function liveLabels(bounds: LogBounds<Labels>): LiveProjections<Labels> {
  return new LiveProjections(LABELS, bounds, (space, conversation) => ({
    addedMax: ADDED_MAX,
    begin: async () => {
      const own = await readEntries(space, conversation, TYPES);
      const inherited = await readInherited(space, conversation, TYPES);
      const state = new Map(labelsOf([...inherited, ...own]));
      return { state, last: own.at(-1) ?? null, head: null };
    },
  }));
}
