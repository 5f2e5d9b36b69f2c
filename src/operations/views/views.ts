import { liveLabels, LiveProjections, isSameMark, type LogMark } from "#conversation/live-projection";
import { type EntryId, parseConversationId } from "#log/ids";
import { DailyUsageCache, TurnUsageCache } from "./usage-views.ts";
import { ChainCache, TreePages } from "./whole-logs.ts";
import type { Holdfast } from "#conversation/holdfast";
import { readIssuesInContext } from "#conversation/ledger";
import { isLogError } from "#log/errors";
import { IssueFinder, openIssues } from "#log/projections/issues";
import { projectionBy } from "#log/projections/projection";
import type { HeadView } from "#store/requests";

/** Caches of logs that one process shares among its callers: a lost one costs time. */
export class Views {
  readonly chains: ChainCache = new ChainCache();
  readonly labels: LiveProjections<Map<EntryId, string>> = liveLabels({ logs: 64, maxAgeMs: 600_000 });
  readonly trees: TreePages = new TreePages();
  readonly dailyUsage: DailyUsageCache = new DailyUsageCache();
  readonly turnUsage: TurnUsageCache = new TurnUsageCache();
  readonly issueCounts: IssueCounts = new IssueCounts();
}

const LOGS_CACHED_MAX = 1_000;
const READ_MAX = 20_000; // entries for one request: a list does not wait for the longest log in it

interface Counted extends LogMark {
  readonly count: number;
}

/**
 * How many issues conversations have, for lists. What was read of a log is kept, so that a list that is asked for again costs what was
 * appended since, and a long log is read over several requests: until then nobody knows.
 */
export class IssueCounts {
  readonly #found = new LiveProjections(
    projectionBy(() => new IssueFinder()),
    { logs: LOGS_CACHED_MAX },
  );
  /** What was counted, by conversation, with the head it is of. The one asked for longest ago goes first. */
  readonly #counts = new Map<string, Counted>();
  readonly #readMax: number;
  #working: Promise<unknown> = Promise.resolve();

  constructor(readMax: number = READ_MAX) {
    this.#readMax = readMax;
  }

  /** What was counted at a head; null: nothing yet. */
  at(holdfast: Holdfast, head: HeadView): number | null {
    const known = this.#counts.get(`${holdfast.spaceId}/${head.conversation}`);
    return known !== undefined && isSameMark(known, head) ? known.count : null;
  }

  /** Null where it is not known yet, or cannot be read. One request after the other: each goes on where the one before ended. */
  read(holdfast: Holdfast, ids: readonly string[]): Promise<readonly (number | null)[]> {
    const counts = this.#working.then(() => this.#read(holdfast, ids));
    this.#working = counts.catch(() => undefined);
    return counts;
  }

  async #read(holdfast: Holdfast, ids: readonly string[]): Promise<readonly (number | null)[]> {
    const counts: (number | null)[] = [];
    let left = this.#readMax;
    for (const id of ids) {
      const { read, count } = await this.#count(holdfast, id, left);
      left -= read;
      counts.push(count);
    }
    return counts;
  }

  async #count(
    holdfast: Holdfast,
    id: string,
    most: number,
  ): Promise<{ readonly read: number; readonly count: number | null }> {
    const name = `${holdfast.spaceId}/${id}`;
    try {
      const conversation = parseConversationId(id);
      const head = await holdfast.handle(conversation).head();
      const known = this.#counts.get(name);
      if (known !== undefined && isSameMark(known, head)) return { read: 0, count: known.count };
      const counts = head.summary?.counts ?? null;
      if (counts !== null && !counts.more)
        return { read: 0, count: await this.#keep(holdfast, head, openIssues(counts).length) };
      const live = this.#found.of(holdfast, conversation);
      const before = live.upTo <= head.headSeq ? live.upTo : 0;
      const upTo = Math.min(head.headSeq, before + most);
      const found = await live.readUpTo(upTo, (finder) => finder.result().length);
      const read = upTo - before;
      if (upTo < head.headSeq) return { read, count: null };
      return { read, count: await this.#keep(holdfast, head, found) };
    } catch (error) {
      this.#counts.delete(name);
      if (!isLogError(error)) throw error;
      return { read: 0, count: null };
    }
  }

  /** The issues of the log and those of its context. */
  async #keep(holdfast: Holdfast, head: HeadView, found: number): Promise<number> {
    const { conversation, createdAt, headSeq, link } = head;
    const context = await readIssuesInContext(holdfast.handle(conversation), head);
    const name = `${holdfast.spaceId}/${conversation}`;
    const count = found + context.length;
    this.#counts.delete(name);
    this.#counts.set(name, { createdAt, headSeq, link, count });
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > LOGS_CACHED_MAX && oldest !== undefined) this.#counts.delete(oldest);
    return count;
  }
}
