import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import type { TailRequest } from "#store/requests";
import { followEntries, TailWaiters } from "#store/tail-waiters";
import type { Db, Row } from "#stores/postgres/db/db";
import type { Call } from "#stores/postgres/db/sql-texts";
import { GROWN } from "#stores/postgres/tables/pg-tail-sql";
import { readHead, readOwn } from "./pg-reads.ts";

const TAIL_ENTRIES_MAX = 256; // a slow reader is given this many at a time

/** Wakes tails: at once for what this store writes, by one statement now and then for all that others write. */
export class TailPoll {
  readonly #db: Db;
  readonly #waiters: TailWaiters<number>;
  #looking: boolean = false;

  constructor(db: Db, everyMs: number) {
    this.#db = db;
    this.#waiters = new TailWaiters({ everyMs, look: () => void this.#look(), rest: () => undefined });
  }

  get closed(): boolean {
    return this.#waiters.closed;
  }

  wake(space: SpaceId, conversation: ConversationId): void {
    this.#waiters.wake(nameOf(space, conversation));
  }

  wait(
    space: SpaceId,
    conversation: ConversationId,
    seq: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    return this.#waiters.wait(nameOf(space, conversation), seq, signal);
  }

  async #look(): Promise<void> {
    if (this.#looking) return; // a slow answer is not asked for again before it came
    this.#looking = true;
    try {
      const names = this.#waiters.names().map((name) => name.split(" "));
      const rows = await askEach<[string, number | null]>(this.#db, GROWN, names);
      for (const [name, headSeq] of rows)
        for (const { known, wake } of this.#waiters.of(name)) if (headSeq === null || headSeq > known) wake();
    } catch {
      // Of what failed those who wait are told when they read.
      this.#waiters.wakeAll();
    } finally {
      this.#looking = false;
    }
  }

  close(): void {
    this.#waiters.close();
  }
}

/** One question about conversations of many spaces, given as columns that begin with the space. */
async function askEach<R extends Row>(
  db: Db,
  call: Call,
  rows: readonly (readonly unknown[])[],
): Promise<readonly R[]> {
  const columns = (some: typeof rows): readonly unknown[] =>
    call.types.map((_, at) => some.map((row) => row[at]));
  if (!db.fenced || db.functions) return db.call<R>(call, ...columns(rows));
  const answers: R[] = [];
  for (const [space, some] of Map.groupBy(rows, ([first]) => String(first)))
    answers.push(...(await db.inSpace(space).call<R>(call, ...columns(some))));
  return answers;
}

function nameOf(space: SpaceId, conversation: ConversationId): string {
  return `${space} ${conversation}`; // neither has blanks
}

/** Own entries after a seq as they are committed, until the signal or the end of the store. */
export function tailEntries(
  db: Db,
  poll: TailPoll,
  space: SpaceId,
  { conversation, after, signal }: TailRequest,
): AsyncGenerator<StoredEntry> {
  return followEntries({
    after,
    signal,
    closed: () => poll.closed,
    read: (from) => readOn(db, space, conversation, from),
    changed: (from) => poll.wait(space, conversation, from, signal),
  });
}

async function readOn(
  db: Db,
  space: SpaceId,
  conversation: ConversationId,
  after: number,
): Promise<readonly StoredEntry[]> {
  const entries = await readOwn(db, space, { conversation, after, limit: TAIL_ENTRIES_MAX });
  const [first] = entries;
  if (first === undefined || first.seq === after + 1) return entries;
  const { head } = await readHead(db, space, conversation);
  throw new LogError(
    "damaged",
    `Conversation ${conversation} is damaged: its log ends at ${after} or before and should end at ${head.headSeq}`,
    { conversation, reachableSeq: after },
  );
}
