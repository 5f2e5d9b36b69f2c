import { decodeEntry } from "#log/codec";
import { SEARCHED_TYPES, searchText } from "#log/entry-types";
import { isLogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import { foldText, matchesQuery, queryWords } from "#log/search";
import type { SearchHit, SearchRequest } from "#store/requests";
import { openLog, openWhole, settled } from "./indexed-lineage.ts";
import type { IndexedLog, IndexedLogs } from "./indexed-log.ts";

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
    const hits = await (conversation === undefined
      ? this.#searchAll(sought)
      : settled(async () => this.#searchOne(await openWhole(this.#logs, this.#space, conversation), sought)));
    return hits.map(({ time: _, ...hit }) => hit);
  }

  async #searchAll(sought: Sought): Promise<readonly TimedHit[]> {
    if (sought.words.length === 0 || sought.limit <= 0) return [];
    let matches: readonly TimedHit[] = [];
    const listed = (await this.#logs.list(this.#space)).filter(({ erased }) => !erased);
    for (const { conversation, updatedAt } of listed.toSorted(newestChangeFirst)) {
      // A conversation's own time is its latest entry's.
      const oldest = matches[sought.limit - 1];
      if (oldest !== undefined && oldest.time > updatedAt) return matches;
      const hits = await this.#searchReadable(conversation, sought);
      if (hits.length > 0) matches = [...matches, ...hits].toSorted(newerFirst).slice(0, sought.limit);
    }
    return matches;
  }

  /** One damaged conversation does not keep the others from being searched; asked for by name, it says so. */
  async #searchReadable(conversation: ConversationId, sought: Sought): Promise<readonly TimedHit[]> {
    try {
      return await settled(async () =>
        this.#searchOne(await openLog(this.#logs, this.#space, conversation), sought),
      );
    } catch (error) {
      if (!isLogError(error)) throw error;
      // Erased since the list was made, or unreadable: the search did not name it.
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
    const cached = this.#filters.get(log);
    if (cached !== undefined) return cached;
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

const BLOCK_ENTRIES = 32; // whose bodies are read together
const BLOCK_BITS = 32_768; // a tenth of them are set by entries of 500 letters: 128 bytes an entry
const FETCHED_BLOCKS = 8; // bodies held at once while blocks are filled
const GRAM = 3;

const SEARCHED: ReadonlySet<string> = new Set(SEARCHED_TYPES);

interface Block {
  readonly seqs: number[];
  readonly bits: Uint32Array;
}

/**
 * For blocks of a log's entries the parts of three letters that occur in them, as bits: a block without one of a word's
 * need not be read. Filled when the log is first searched, then with what was appended since. Derived, so it may go.
 */
class SearchFilter {
  readonly #log: IndexedLog;
  readonly #blocks: Block[] = [];
  /** How many entries of the index it has looked at. */
  #seen: number = 0;
  #filling: Promise<unknown> = Promise.resolve();

  constructor(log: IndexedLog) {
    this.#log = log;
  }

  /** The seqs to look at for these words, block by block, the last block first. */
  async candidates(words: readonly string[]): Promise<readonly (readonly number[])[]> {
    const filling = this.#filling.then(() => this.#fill());
    this.#filling = filling.catch(() => undefined);
    await filling;
    const wanted = words.flatMap((word) => [...gramBits(word)]);
    return this.#blocks
      .filter(({ bits }) => wanted.every((bit) => ((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0))
      .map(({ seqs }) => seqs)
      .toReversed();
  }

  async #fill(): Promise<void> {
    const { entries } = this.#log.index;
    while (this.#seen < entries.length) {
      const until = Math.min(entries.length, this.#seen + FETCHED_BLOCKS * BLOCK_ENTRIES);
      const some = entries.slice(this.#seen, until).filter(({ type }) => SEARCHED.has(type));
      for (const stored of await this.#log.fetch(some.map(({ seq }) => seq)))
        this.#add(stored.seq, foldText(searchText(decodeEntry(stored))));
      this.#seen = until;
    }
  }

  #add(seq: number, text: string): void {
    if (text === "") return;
    let block = this.#blocks.at(-1);
    if (block === undefined || block.seqs.length >= BLOCK_ENTRIES) {
      block = { seqs: [], bits: new Uint32Array(BLOCK_BITS / 32) };
      this.#blocks.push(block);
    }
    block.seqs.push(seq);
    for (const bit of gramBits(text))
      block.bits[bit >>> 5] = (block.bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
}

/** Of folded text: words are compared by the same letters. */
function* gramBits(text: string): Generator<number> {
  for (let index = 0; index + GRAM <= text.length; index++) {
    const [one, two, three] = [
      text.charCodeAt(index),
      text.charCodeAt(index + 1),
      text.charCodeAt(index + 2),
    ];
    yield (Math.imul((one * 31 + two) * 31 + three, 0x9e3779b1) >>> 0) % BLOCK_BITS;
  }
}
