import type { StoredEntry } from "#log/entry";
import type { ConversationId, SpaceId } from "#log/ids";
import type { TailRequest } from "#store/requests";
import { TAIL_PAGE, TailFeeds, type TailPage, TailWaiters } from "#store/tail-feeds";
import { conversationNotFound } from "#store/lookup-errors";
import { isBusy } from "#stores/sqlite/sqlite-errors";
import type { ReadConnection } from "./read-connection.ts";
import { type Growth, tailName } from "./growth.ts";
import { LogError } from "#log/errors";
import { withinBytes } from "#store/page-bounds";
import { ENTRY_COLUMNS, type EntryRow } from "#stores/sqlite/tables/rows";
import { type Reader, storedOf } from "./reader.ts";

const POLL_MS = 50; // how late a commit of another process may be noticed
const CHECKED_PER_POLL = 100; // tails whose own conversation is looked at, after a change, for what growth does not show

/** Wakes the tails whose conversation changed: at once within the process, by one poll for all of other processes. */
export class Watcher {
  readonly #waiters: TailWaiters<number>;
  readonly #growth: Growth;
  readonly feeds: TailFeeds = new TailFeeds(() => this.#waiters.closed);
  /** How often it was looked whether anything has changed. */
  looks: number = 0;
  #unchecked: readonly string[] = [];
  #changedSince: boolean = false;

  constructor(growth: Growth) {
    this.#growth = growth;
    this.#waiters = new TailWaiters({ everyMs: POLL_MS, look: () => this.#look(), rest: () => this.#rest() });
  }

  /** Resolves when the conversation may be longer than `seq` or gone, when the signal fires, or at the end. */
  async changed(
    name: string,
    read: { readonly seq: number; readonly looks: number },
    signal: AbortSignal,
  ): Promise<void> {
    const woken = this.#waiters.wait(name, read.seq, signal);
    // What came after the last read, and before a look that came before the waiting began, is no news to the next look.
    if (read.looks !== this.looks) this.#safely(() => this.#check(name));
    await woken;
  }

  wake(name: string): void {
    this.#waiters.wake(name);
  }

  #look(): void {
    this.looks++;
    this.#safely(() => {
      const grown = this.#growth.since();
      for (const name of grown ?? []) this.#waiters.wake(name);
      if (grown !== null) this.#changedSince = true;
      this.#checkSome();
    });
  }

  /** Growth does not show everything, so after a change every tail is looked at once, a few at a time. */
  #checkSome(): void {
    if (this.#unchecked.length === 0 && this.#changedSince) {
      this.#unchecked = this.#waiters.names();
      this.#changedSince = false;
    }
    if (this.#unchecked.length === 0) return;
    for (const name of this.#unchecked.slice(0, CHECKED_PER_POLL)) this.#check(name);
    this.#unchecked = this.#unchecked.slice(CHECKED_PER_POLL);
  }

  #check(name: string): void {
    const headSeq = this.#growth.headSeq(name);
    for (const { position, wake } of this.#waiters.of(name))
      if (headSeq === null || headSeq > position) wake();
  }

  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      // Another process is just opening or closing the file; readers get any other error when they read.
      if (!isBusy(error)) this.#waiters.wakeAll();
    }
  }

  #rest(): void {
    this.#growth.forget();
    this.#unchecked = [];
  }

  close(): void {
    this.#waiters.close();
  }
}

/** Own entries after a seq, as they are committed, until the signal or the end of the store. */
export function tailEntries(
  reads: ReadConnection,
  watcher: Watcher,
  space: SpaceId,
  { conversation, ...from }: TailRequest,
): AsyncGenerator<StoredEntry> {
  const name = tailName(space, conversation);
  let looks = -1;
  const source = {
    read: (after: number): Promise<TailPage> =>
      reads.read((reader) => {
        ({ looks } = watcher);
        return readTailPage(reader, space, conversation, after);
      }),
    changed: (seq: number, signal: AbortSignal): Promise<void> =>
      watcher.changed(name, { seq, looks }, signal),
  };
  return watcher.feeds.follow(name, source, from);
}

const END = "SELECT row, head_seq FROM conversations WHERE space = ? AND id = ? AND listed = 1";
const NEXT = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?`;

/** The next entries, and how far the log reached before they were read. */
function readTailPage(
  { sql, lookup }: Reader,
  space: SpaceId,
  conversation: ConversationId,
  after: number,
): TailPage {
  const columns = sql.get<[number, number]>(END, space, conversation);
  if (columns === undefined) throw conversationNotFound(conversation);
  const [row, headSeq] = columns;
  if (headSeq <= after) return { entries: [], headSeq };
  const rows = sql.all<EntryRow>(NEXT, row, after, TAIL_PAGE.limit);
  if (rows.length > 0) return { entries: withinBytes(storedOf(rows, lookup), TAIL_PAGE.bytes), headSeq };
  throw new LogError(
    "damaged",
    `Conversation ${conversation} is damaged: its log ends at entry ${after} or earlier instead of ${headSeq}`,
    { conversation, reachableSeq: after },
  );
}
