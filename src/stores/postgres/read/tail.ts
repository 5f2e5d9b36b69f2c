import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import type { TailRequest } from "#store/requests";
import { TAIL_PAGE, TailFeeds, type TailPage } from "#store/tail-feeds";
import { TailWaiters } from "#store/tail-waiters";
import { askEachSpace, type Db } from "#stores/postgres/db/db";
import type { ListenClient } from "#stores/postgres/db/listener";
import { GROWN } from "#stores/postgres/tables/tail-sql";
import { HintedTails, HintSender } from "./wake-hints.ts";
import { readTailPage } from "./reads.ts";

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

  /** Somebody may wait for it in another process. */
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
      // Of what failed those who wait are told when they read.
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
    `Conversation ${conversation} is damaged: its log ends at ${after} or before and should end at ${headSeq}`,
    { conversation, reachableSeq: after },
  );
}
