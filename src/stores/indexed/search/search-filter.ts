import { decodeEntry } from "#log/codec";
import { SEARCHED_TYPES, searchText } from "#log/entry-types";
import { foldText } from "#log/search";
import type { IndexedLog } from "#stores/indexed/indexed-log";

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
export class SearchFilter {
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
  for (let at = 0; at + GRAM <= text.length; at++) {
    const [one, two, three] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
    yield (Math.imul((one * 31 + two) * 31 + three, 0x9e3779b1) >>> 0) % BLOCK_BITS;
  }
}
