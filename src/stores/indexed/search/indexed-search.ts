import { decodeEntry } from "#log/codec";
import { searchText } from "#log/entry-types";
import { isLogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import { matchesQuery, queryWords } from "#log/search";
import type { SearchHit, SearchRequest } from "#store/requests";
import { openLog, openWhole, settled } from "#stores/indexed/indexed-lineage";
import type { IndexedLog, IndexedLogs } from "#stores/indexed/indexed-log";
import { SearchFilter } from "./search-filter.ts";

type TimedHit = SearchHit & { readonly time: string };

interface Sought {
  readonly words: readonly string[];
  readonly limit: number;
}

/**
 * Searches the conversations of a space, the most recently changed first, each from its end, and stops when nothing that
 * is left can be newer than what was found. A filter says which bodies need not be read.
 */
export class IndexedSearch {
  readonly #logs: IndexedLogs;
  readonly #space: SpaceId;
  readonly #filters = new WeakMap<IndexedLog, SearchFilter>();

  constructor(logs: IndexedLogs, space: SpaceId) {
    this.#logs = logs;
    this.#space = space;
  }

  async find({ query, limit, conversation }: SearchRequest): Promise<readonly SearchHit[]> {
    const sought = { words: queryWords(query), limit };
    const found = await (conversation === undefined
      ? this.#searchAll(sought)
      : settled(async () => this.#searchOne(await openWhole(this.#logs, this.#space, conversation), sought)));
    return found.map(({ time: _, ...hit }) => hit);
  }

  async #searchAll(sought: Sought): Promise<readonly TimedHit[]> {
    if (sought.words.length === 0 || sought.limit <= 0) return [];
    let found: readonly TimedHit[] = [];
    const listed = (await this.#logs.list(this.#space)).filter(({ erased }) => !erased);
    for (const { conversation, updatedAt } of listed.toSorted(newestChangeFirst)) {
      // A conversation's own time is its latest entry's.
      const oldest = found[sought.limit - 1];
      if (oldest !== undefined && oldest.time > updatedAt) return found;
      const hits = await this.#searchReadable(conversation, sought);
      if (hits.length > 0) found = [...found, ...hits].toSorted(newerFirst).slice(0, sought.limit);
    }
    return found;
  }

  /** One damaged conversation does not keep the others from being searched; asked for by name, it says so. */
  async #searchReadable(conversation: ConversationId, sought: Sought): Promise<readonly TimedHit[]> {
    try {
      return await settled(async () =>
        this.#searchOne(await openLog(this.#logs, this.#space, conversation), sought),
      );
    } catch (error) {
      if (!isLogError(error)) throw error;
      // Erased since the list was made, or not even to be opened: nobody asked for it by name.
      if (error.code !== "conversation_not_found" && error.group !== "damaged") throw error;
      return [];
    }
  }

  /** By seq, which is a conversation's own order. */
  async #searchOne(log: IndexedLog, { words, limit }: Sought): Promise<readonly TimedHit[]> {
    const hits: TimedHit[] = [];
    if (words.length === 0 || limit <= 0) return hits;
    const { conversation } = log;
    for (const seqs of await this.#filterOf(log).candidates(words)) {
      for (const stored of (await log.fetch(seqs)).toReversed()) {
        const text = searchText(decodeEntry(stored));
        if (!matchesQuery(text, words) || log.index.hidden(stored.id, Number.POSITIVE_INFINITY) === true)
          continue;
        hits.push({ conversation, entry: stored.id, seq: stored.seq, text, time: stored.time });
        if (hits.length >= limit) return hits;
      }
    }
    return hits;
  }

  #filterOf(log: IndexedLog): SearchFilter {
    const known = this.#filters.get(log);
    if (known !== undefined) return known;
    const made = new SearchFilter(log);
    this.#filters.set(log, made);
    return made;
  }
}

function newestChangeFirst(
  one: { readonly updatedAt: string },
  other: { readonly updatedAt: string },
): number {
  return one.updatedAt === other.updatedAt ? 0 : one.updatedAt < other.updatedAt ? 1 : -1;
}

function newerFirst(one: TimedHit, other: TimedHit): number {
  if (one.time === other.time) return other.seq - one.seq;
  return one.time < other.time ? 1 : -1;
}
