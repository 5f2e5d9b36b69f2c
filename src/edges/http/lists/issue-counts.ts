import type { Holdfast } from "#conversation/holdfast";
import { eachEntry } from "#conversation/read-log";
import { readContextIssues } from "#conversation/reading";
import { isLogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { IssueFinder, openIssues } from "#log/projections/issues";

const KEPT_MAX = 1_000;
const READ_MAX = 20_000; // entries for one request: a list does not wait for the longest log in it

interface Counted {
  readonly finder: IssueFinder;
  /** Of the last entry it was given. */
  seen: number;
  /** Of the head that `count` is of. */
  headSeq: number;
  count: number;
}

/**
 * How many issues conversations have, for lists. What was read of a log is kept, so that a list that is asked for again costs what was
 * appended since, and a long log is read over several requests: until then nobody knows.
 */
export class IssueCounts {
  readonly #kept = new Map<string, Counted>();
  readonly #readMax: number;
  #working: Promise<unknown> = Promise.resolve();

  constructor(readMax: number = READ_MAX) {
    this.#readMax = readMax;
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
    let name = "";
    try {
      const conversation = parseConversationId(id);
      const { headSeq, createdAt, summary } = await holdfast.space.head(conversation);
      name = `${holdfast.spaceId}/${id} ${createdAt}`; // an id may be given to another once it was erased
      const known = this.#of(name, headSeq);
      if (known.headSeq === headSeq) return { read: 0, count: known.count };
      const counts = summary?.counts ?? null;
      if (counts !== null && !counts.more) {
        const context = await readContextIssues(holdfast.space, conversation);
        [known.headSeq, known.count] = [headSeq, openIssues(counts).length + context.length];
        return { read: 0, count: known.count };
      }
      const upTo = Math.min(headSeq, known.seen + most);
      const read = upTo - known.seen;
      if (read > 0) {
        const onEntry = (entry: Parameters<IssueFinder["add"]>[0]): void => known.finder.add(entry);
        await eachEntry(holdfast.space, conversation, { after: known.seen, upTo, onEntry });
      }
      known.seen = upTo;
      if (upTo < headSeq) return { read, count: null };
      const context = await readContextIssues(holdfast.space, conversation);
      [known.headSeq, known.count] = [headSeq, known.finder.result().length + context.length];
      return { read, count: known.count };
    } catch (error) {
      this.#kept.delete(name);
      if (!isLogError(error)) throw error;
      return { read: 0, count: null };
    }
  }

  #of(name: string, headSeq: number): Counted {
    const known = this.#kept.get(name);
    const isOf = known !== undefined && known.seen <= headSeq;
    const counted = isOf ? known : { finder: new IssueFinder(), seen: 0, headSeq: -1, count: 0 };
    this.#kept.delete(name);
    this.#kept.set(name, counted);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return counted;
  }
}
