import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import type { TailRequest } from "#store/requests";
import { TAIL_PAGE, TailFeeds, type TailPage, TailWaiters } from "#store/tail-feeds";
import { askEachSpace, type Db } from "#stores/postgres/db";
import { type ListenClient, PgListener } from "#stores/postgres/connections";
import { GROWN, WAIT } from "#stores/postgres/tables/tail-sql";
import { readTailPage } from "./reads.ts";
import { createHash } from "node:crypto";

/**
 * Wakes tails: at once for what this store writes, by one statement now and then for all that others write, and before that
 * where somebody listens.
 */
export class TailPoll {
  readonly #db: Db;
  readonly #waiters: TailWaiters<number>;
  readonly #hints: HintSender;
  readonly #hinted: HintedTails | null;
  readonly feeds: TailFeeds = new TailFeeds(() => this.#waiters.closed);
  #looking: boolean = false;

  constructor(
    db: Db,
    input: { readonly everyMs: number; readonly listen: (() => Promise<ListenClient>) | null },
  ) {
    const { everyMs, listen } = input;
    this.#db = db;
    this.#waiters = new TailWaiters({
      everyMs,
      look: () => void this.#look(),
      rest: () => void this.#hinted?.rest(),
    });
    this.#hints = new HintSender(db);
    this.#hinted = listen === null ? null : new HintedTails(db, this.#waiters, listen);
  }

  /** The conversation has these entries now, or is gone. */
  wake(space: SpaceId, conversation: ConversationId, entries: readonly StoredEntry[] = []): void {
    const name = nameOf(space, conversation);
    this.feeds.written(name, entries);
    this.#waiters.wake(name);
  }

  /** A tail in another process may wait for it. */
  wakeElsewhere(space: SpaceId, conversation: ConversationId): void {
    this.#hints.send(nameOf(space, conversation));
  }

  wait(
    space: SpaceId,
    conversation: ConversationId,
    seq: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const waiting = this.#waiters.wait(nameOf(space, conversation), seq, signal);
    this.#hinted?.onWait();
    return waiting;
  }

  async #look(): Promise<void> {
    if (this.#looking) return; // a slow answer is not asked for again before it came
    this.#looking = true;
    try {
      const names = this.#waiters.names().map((name) => name.split(" "));
      const rows = await askEachSpace<[string, number | null]>(this.#db, GROWN, names);
      for (const [name, headSeq] of rows)
        for (const { position, wake } of this.#waiters.of(name)) if (headSeq !== position) wake();
    } catch {
      // Waiting readers get the error when they read.
      this.#waiters.wakeAll();
    } finally {
      this.#looking = false;
    }
  }

  async close(): Promise<void> {
    this.#waiters.close();
    await this.#hinted?.close();
    await this.#hints.close();
  }
}

function nameOf(space: SpaceId, conversation: ConversationId): string {
  return `${space} ${conversation}`; // neither has blanks
}

/** Own entries after a seq as they are committed, until the signal or the end of the store. */
export function tailEntries(
  db: Db,
  poll: TailPoll,
  space: SpaceId,
  { conversation, ...from }: TailRequest,
): AsyncGenerator<StoredEntry> {
  const source = {
    read: (after: number): Promise<TailPage> => readOn(db, space, conversation, after),
    changed: (seq: number, signal: AbortSignal): Promise<void> => poll.wait(space, conversation, seq, signal),
  };
  return poll.feeds.follow(nameOf(space, conversation), source, from);
}

async function readOn(
  db: Db,
  space: SpaceId,
  conversation: ConversationId,
  after: number,
): Promise<TailPage> {
  const page = await readTailPage(db, space, { conversation, after, ...TAIL_PAGE });
  const { entries, headSeq } = page;
  if (headSeq <= after || entries[0]?.seq === after + 1) return page;
  throw new LogError(
    "damaged",
    `Conversation ${conversation} is damaged: its log ends at entry ${after} or earlier instead of ${headSeq}`,
    { conversation, reachableSeq: after },
  );
}

const PAUSE_MS = 50;
const NOTIFY = "select pg_notify($1, u.hint) from unnest($2::text[]) as u (hint)";

function channelOf({ schema }: Db): string {
  return `holdfast_${schema}`;
}

/** Every role that can connect can listen, so a hint reveals nothing to those who do not know the name. */
function hintOf(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}

/**
 * Tells other processes that a log has grown that somebody there waits for. The append is over by then and waits for nothing:
 * a NOTIFY in its transaction would hold a lock of the whole server until the disk has it. What comes meanwhile goes in one.
 */
class HintSender {
  readonly #db: Db;
  readonly #names = new Set<string>();
  #sending: Promise<void> | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  send(name: string): void {
    this.#names.add(name);
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    while (this.#names.size > 0) {
      const hints = [...this.#names].map(hintOf);
      this.#names.clear();
      await this.#db.write(NOTIFY, channelOf(this.#db), hints).catch(() => undefined); // a hint may be lost
    }
    this.#sending = null;
  }

  async close(): Promise<void> {
    await this.#sending;
  }
}

/**
 * Wakes tails before they look: they say at which head they wait, the append that comes next there is told, and its process
 * sends a hint. It is said once for each wait and not more often than the pause allows, so a busy log costs no more.
 */
class HintedTails {
  readonly #db: Db;
  readonly #waiters: TailWaiters<number>;
  readonly #listener: PgListener;
  /** The head at which each conversation was said to be waited for. */
  readonly #sentSeqs = new Map<string, number>();
  /** What each hint stands for. */
  readonly #names = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #saying: Promise<void> | null = null;

  constructor(db: Db, waiters: TailWaiters<number>, open: () => Promise<ListenClient>) {
    this.#db = db;
    this.#waiters = waiters;
    this.#listener = new PgListener({
      open,
      channel: channelOf(db),
      onReady: () => {
        this.#sentSeqs.clear(); // earlier notifications were not received
        this.onWait();
      },
      onHint: (hint) => this.#receive(hint),
    });
  }

  /** A tail starts to wait. */
  onWait(): void {
    this.#listener.start();
    if (!this.#listener.ready || this.#timer !== null || this.#unsaid().length === 0) return;
    this.#saying ??= this.#say();
    this.#timer = setTimeout(() => this.#onPause(), PAUSE_MS);
  }

  #onPause(): void {
    this.#timer = null;
    this.onWait();
  }

  #unsaid(): readonly (readonly [space: string, conversation: string, seq: number])[] {
    return this.#waiters.names().flatMap((name) => {
      const seq = Math.max(...Array.from(this.#waiters.of(name), ({ position }) => position));
      const [space = "", conversation = ""] = name.split(" ");
      return this.#sentSeqs.get(name) === seq ? [] : [[space, conversation, seq] as const];
    });
  }

  async #say(): Promise<void> {
    const rows = this.#unsaid();
    const seqs = new Map(rows.map(([space, conversation, seq]) => [`${space} ${conversation}`, seq]));
    this.#forgetGone();
    for (const name of seqs.keys()) this.#names.set(hintOf(name), name);
    try {
      const answers = await askEachSpace<[string, boolean]>(this.#db, WAIT, rows);
      for (const [name, grown] of answers) {
        if (grown) this.#waiters.wake(name);
        else this.#sentSeqs.set(name, seqs.get(name) ?? 0);
      }
    } catch {
      // They are looked for all the same.
    } finally {
      this.#saying = null;
    }
  }

  #receive(hint: string): void {
    const name = this.#names.get(hint);
    if (name !== undefined) this.#waiters.wake(name);
  }

  /** Keeps at most twice as many names as have waiting tails, so that this search is rare. */
  #forgetGone(): void {
    const waited = new Set(this.#waiters.names());
    if (this.#names.size <= 2 * waited.size) return;
    for (const [hint, name] of this.#names) if (!waited.has(name)) this.#names.delete(hint);
    for (const name of this.#sentSeqs.keys()) if (!waited.has(name)) this.#sentSeqs.delete(name);
  }

  /** No tail waits any more. */
  async rest(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#sentSeqs.clear();
    this.#names.clear();
    await this.#listener.stop();
  }

  async close(): Promise<void> {
    await this.rest();
    await this.#saying;
  }
}
