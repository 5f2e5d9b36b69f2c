import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";

/** How much a tail reads at a time. While its reader is busy it holds no more; the rest stays in the store. */
export const TAIL_PAGE = { limit: 256, bytes: 65_536 } as const;

const RECENT_BYTES_MAX = 32_768; // for tails that are slightly behind; slower ones read from the store
const WRITTEN_LOGS_MAX = 256;
const WRITTEN_MS_MAX = 1_000; // a tail that starts later reads the log, which another process may have erased

/** The next entries of a log, and where it ended when they were read; entries that are all there is reach that end. */
export interface TailPage {
  readonly entries: readonly StoredEntry[];
  readonly headSeq: number;
  /**
   * The entry after which was read, null where the log does not reach so far. A store whose logs may come back older than they
   * were says so: a tail that was given another entry there ends with `diverged`.
   */
  readonly before?: EntryId | null;
}

/** One conversation as its tails read it. */
export interface TailSource {
  /** A page of the entries after a seq; none yet when empty. */
  read(after: number): Promise<TailPage>;
  /** Resolves when there may be entries after a seq, and at the signal. Entries since the last read count. */
  changed(after: number, signal: AbortSignal): Promise<void>;
}

/** The tails of a store: those of one conversation share one reader, and are given the very same entries. */
export class TailFeeds {
  readonly #feeds = new Map<string, Feed>();
  /** The latest entries that this store wrote, by log. The log that was written longest ago comes first. */
  readonly #written = new Map<string, WrittenEntries>();
  readonly #isClosed: () => boolean;

  constructor(isClosed: () => boolean) {
    this.#isClosed = isClosed;
  }

  /**
   * Entries after a seq in order, then what comes, until the signal or the end of the store. A store that is closed ends the
   * tails it has, and fails those asked for later.
   */
  async *follow(
    name: string,
    source: TailSource,
    { after, signal }: { readonly after: number; readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<StoredEntry> {
    const feed = this.#feeds.get(name) ?? this.#begin(name, source, after);
    let last: TailPlace = { seq: after, id: null };
    let hasRead = false;
    const ended = (): boolean => signal?.aborted === true || (hasRead && this.#isClosed());
    feed.join();
    try {
      while (!ended()) {
        let entries: readonly StoredEntry[];
        try {
          entries = await feed.after(last, signal);
        } catch (error) {
          if (ended()) return;
          throw error;
        }
        hasRead = true;
        for (const stored of entries) {
          if (ended()) return;
          last = placeOf(stored);
          yield stored;
        }
      }
    } finally {
      feed.leave();
    }
  }

  #begin(name: string, source: TailSource, after: number): Feed {
    const feed: Feed = new Feed(source, after, () => this.#forget(name, feed));
    this.#feeds.set(name, feed);
    const { entries, atMs } = this.#written.get(name) ?? NOTHING_WRITTEN;
    const isFresh = performance.now() - atMs < WRITTEN_MS_MAX;
    if (isFresh) feed.written(entries.filter(({ seq }) => seq > after));
    return feed;
  }

  #forget(name: string, feed: Feed): void {
    if (this.#feeds.get(name) === feed) this.#feeds.delete(name);
  }

  /** What this store has just written: its tails, and one that starts in a moment, don't read it. None: the log is gone, or new. */
  written(name: string, entries: readonly StoredEntry[]): void {
    this.#feeds.get(name)?.written(entries);
    const before = this.#written.get(name)?.entries ?? [];
    this.#written.delete(name);
    const [first] = entries;
    if (first === undefined) return;
    const isNext = before.at(-1)?.seq === first.seq - 1;
    this.#written.set(name, {
      entries: newest(isNext ? [...before, ...entries] : [...entries]),
      atMs: performance.now(),
    });
    const [oldest] = this.#written.keys();
    if (this.#written.size > WRITTEN_LOGS_MAX && oldest !== undefined) this.#written.delete(oldest);
  }
}

interface WrittenEntries {
  readonly entries: readonly StoredEntry[];
  readonly atMs: number;
}

const NOTHING_WRITTEN: WrittenEntries = { entries: [], atMs: 0 };

/** The last entry that was delivered; its id is unknown where a tail begins. */
interface TailPlace {
  readonly seq: number;
  readonly id: EntryId | null;
}

/** Without the rest of it, which may be large. */
const placeOf = ({ seq, id }: StoredEntry): TailPlace => ({ seq, id });

interface Waiting {
  readonly after: number;
  readonly done: PromiseWithResolvers<readonly StoredEntry[]>;
}

class Feed {
  readonly #source: TailSource;
  /** It has no followers or has failed: the next follower starts another. */
  readonly #onEnd: () => void;
  /** The last entry that was read; the one it begins after was not. */
  #last: TailPlace;
  /** The last entry that is known to be there; beyond the end there is something to be read. */
  #position: number;
  /** The newest entries up to the end, while a follower is behind. */
  #recent: StoredEntry[] = [];
  #tails: number = 0;
  readonly #waiting = new Set<Waiting>();
  #isRunning: boolean = false;
  #stop = new AbortController();

  constructor(source: TailSource, after: number, onEnd: () => void) {
    this.#source = source;
    this.#last = { seq: after, id: null };
    this.#position = after + 1;
    this.#onEnd = onEnd;
  }

  get #end(): number {
    return this.#last.seq;
  }

  join(): void {
    this.#tails++;
  }

  leave(): void {
    if (--this.#tails > 0) return;
    this.#onEnd();
    this.#stop.abort("over");
  }

  /** The entries after a seq, once there are any; none at the signal, or where it is worth looking again. */
  async after(place: TailPlace, signal: AbortSignal | undefined): Promise<readonly StoredEntry[]> {
    const after = place.seq;
    if (after >= this.#end) return this.#wait(after, signal);
    const missed = this.#end - after;
    if (missed <= this.#recent.length) return this.#recent.slice(-missed);
    const { entries, headSeq } = await this.#read(place);
    if (entries.length === 0 && after < this.#end) this.#goBack(after, headSeq);
    return entries;
  }

  /** A page of the log whose entries the tail was sent before; a log without its last entry is rejected. */
  async #read({ seq, id }: TailPlace): Promise<TailPage> {
    const page = await this.#source.read(seq);
    if (id === null || page.before === undefined || page.before === id) return page;
    throw new LogError(
      "diverged",
      `The log lost entry ${seq}, which this tail was sent. The database was probably restored, or failed over to a standby that lacked it. Read the log from the start`,
      { seq },
    );
  }

  /** The log does not reach as far as the tail wanted that began this. */
  #goBack(after: number, headSeq: number): void {
    this.#last = { seq: after, id: null };
    this.#position = headSeq;
    this.#recent = [];
    this.#stop.abort("over");
    this.#stop = new AbortController();
  }

  async #wait(after: number, signal: AbortSignal | undefined): Promise<readonly StoredEntry[]> {
    if (signal?.aborted) return [];
    const done = Promise.withResolvers<readonly StoredEntry[]>();
    const waiting = { after, done };
    const stop = (): void => done.resolve([]);
    signal?.addEventListener("abort", stop, { once: true });
    this.#waiting.add(waiting);
    if (this.#waiting.size === this.#tails) this.#recent = [];
    if (!this.#isRunning) void this.#run();
    try {
      return await done.promise;
    } finally {
      this.#waiting.delete(waiting);
      signal?.removeEventListener("abort", stop);
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#tails > 0) {
        const end = this.#end;
        if (this.#position <= end) {
          await this.#source.changed(end, this.#stop.signal);
          if (this.#end !== end) continue;
        }
        this.#position = end + 1;
        if (this.#waiting.size === 0) break; // read again when a follower waits
        this.#position = end;
        const { entries, headSeq } = await this.#read(this.#last);
        this.#position = Math.max(this.#position, headSeq);
        this.#add(entries.filter(({ seq }) => seq > this.#end));
      }
    } catch (error) {
      this.#position = this.#end + 1;
      this.#onEnd();
      for (const { done } of this.#waiting) done.reject(error);
    } finally {
      this.#isRunning = false;
    }
  }

  written(entries: readonly StoredEntry[]): void {
    this.#position = Math.max(this.#position, entries.at(-1)?.seq ?? 0);
    const fresh = entries.filter(({ seq }) => seq > this.#end);
    if (fresh[0]?.seq === this.#end + 1) this.#add(fresh);
  }

  /** Entries after the end, for waiting followers. */
  #add(fresh: readonly StoredEntry[]): void {
    const [first] = fresh;
    const last = fresh.at(-1);
    if (first === undefined || last === undefined) return;
    const hasGap = last.seq - this.#end !== fresh.length;
    const isForAll = this.#tails > 0 && this.#waiting.size === this.#tails;
    this.#recent = hasGap || isForAll ? [] : newest([...this.#recent, ...fresh]);
    this.#last = placeOf(last);
    for (const { after, done } of this.#waiting)
      done.resolve(after < first.seq ? fresh : fresh.filter(({ seq }) => seq > after));
    this.#waiting.clear();
  }
}

/** The last of these, as many as are kept. */
function newest(entries: StoredEntry[]): StoredEntry[] {
  let bytes = 0;
  const from = entries.findLastIndex(({ payload }) => (bytes += payload.length) > RECENT_BYTES_MAX);
  return entries.slice(from + 1);
}

const HOLD_MS = 2_147_483_647; // the longest a timer can be set for: it holds the process open and does nothing

/** How a store finds entries that it is not notified of: it looks from time to time while a tail waits. */
interface Look {
  readonly everyMs: number;
  look(): void;
  /** No tail waits any more. */
  rest(): void;
}

interface Waiter<EntryPosition> {
  /** What the one who waits has seen of the conversation. */
  readonly position: EntryPosition;
  readonly wake: () => void;
}

const NO_LOOK: Look = { everyMs: HOLD_MS, look: () => undefined, rest: () => undefined };

/** The tails of a store that wait for their conversations to grow. One timer serves all of them and keeps the process alive. */
export class TailWaiters<EntryPosition> {
  readonly #byName = new Map<string, Set<Waiter<EntryPosition>>>();
  readonly #look: Look;
  #timer: NodeJS.Timeout | null = null;
  #closed: boolean = false;

  constructor(look: Look = NO_LOOK) {
    this.#look = look;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The conversations with waiting tails. */
  names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  of(name: string): Iterable<Waiter<EntryPosition>> {
    return this.#byName.get(name) ?? [];
  }

  /** Resolves when the conversation may have changed, at the signal, or when the store is closed. */
  async wait(name: string, position: EntryPosition, signal: AbortSignal | undefined): Promise<void> {
    if (this.#closed || signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { position, wake: (): void => resolve() };
    this.#add(name, waiter);
    signal?.addEventListener("abort", waiter.wake, { once: true });
    await promise;
    signal?.removeEventListener("abort", waiter.wake);
    this.#remove(name, waiter);
  }

  #add(name: string, waiter: Waiter<EntryPosition>): void {
    const waiting = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, waiting.add(waiter));
    this.#timer ??= setInterval(() => this.#tick(), this.#look.everyMs);
    this.#timer.ref();
  }

  #remove(name: string, waiter: Waiter<EntryPosition>): void {
    const waiting = this.#byName.get(name);
    waiting?.delete(waiter);
    if (waiting?.size === 0) this.#byName.delete(name);
    // It stops at its next tick: most who are woken wait again at once.
    if (this.#byName.size === 0) this.#timer?.unref();
  }

  #tick(): void {
    if (this.#byName.size === 0) this.#stop();
    else this.#look.look();
  }

  #stop(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#look.rest();
  }

  wake(name: string): void {
    for (const { wake } of this.of(name)) wake();
  }

  wakeAll(): void {
    for (const name of this.#byName.keys()) this.wake(name);
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    this.wakeAll();
  }
}
