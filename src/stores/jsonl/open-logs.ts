import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { fileGone } from "./file/log-file.ts";
import { type Home, logPath } from "./log-location.ts";
import type { JsonlShelf } from "./jsonl-log.ts";
import { type Beginning, loadShelf, readBeginning } from "./load.ts";

const ATTEMPTS_MAX = 4; // each one lost means that an erase replaced the file in between
const INDEX_BYTES_MAX = 268_435_456; // 256 MiB: an index is derived, so the least recently used may go
const ENTRY_BYTES = 720; // what an entry takes in an index, measured
const SHELF_BYTES = 4_096;

type HomeOf = (conversation: ConversationId) => Home;

interface Link {
  readonly home: Home;
  readonly beginning: Beginning;
}

/** The conversations whose index is in memory, and the way to have one there. */
export class OpenShelves {
  readonly #bytesMax: number;
  /** By path, the least recently used first. */
  readonly #shelves = new Map<string, JsonlShelf>();
  readonly #weights = new Map<JsonlShelf, number>();
  /** How many kept shelves stand right on a shelf: it is in memory anyway for as long as one does. */
  readonly #forks = new Map<JsonlShelf, number>();
  readonly #loading = new Map<string, Promise<JsonlShelf | null>>();
  #bytes: number = 0;

  constructor(bytesMax: number = INDEX_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** What is in memory, as it was when it was last looked at. */
  cached(path: string): JsonlShelf | undefined {
    return this.#shelves.get(path);
  }

  weightOf(shelf: JsonlShelf): number {
    return SHELF_BYTES + shelf.index.entries.length * ENTRY_BYTES;
  }

  forget(path: string, shelf: JsonlShelf | undefined = this.#shelves.get(path)): void {
    if (shelf === undefined || this.#shelves.get(path) !== shelf) return;
    this.#shelves.delete(path);
    this.#bytes -= this.#weights.get(shelf) ?? 0;
    this.#weights.delete(shelf);
    if (shelf.source !== null) this.#count(shelf.source, -1);
  }

  #count(source: JsonlShelf, change: 1 | -1): void {
    const forks = (this.#forks.get(source) ?? 0) + change;
    if (forks > 0) this.#forks.set(source, forks);
    else this.#forks.delete(source);
  }

  /**
   * The shelf as its file is now; null when there is none. What it inherits does not change, so its sources are not
   * looked at again: whoever reads from one that an erase has replaced is told `store_gone`, and finds the new one here.
   */
  async open(homeOf: HomeOf, conversation: ConversationId): Promise<JsonlShelf | null> {
    const home = homeOf(conversation);
    const cached = this.#shelves.get(logPath(home));
    if (cached === undefined) return this.#load(homeOf, home);
    const fresh = await cached.refresh();
    if (fresh && !cached.outdated) return this.#keep(logPath(home), cached);
    this.forget(logPath(home), cached);
    const loaded = await this.#load(homeOf, home);
    // An erase by another process leaves what forks need; anything else was not ours to expect.
    if (!fresh && !loaded?.unlisted) throw fileGone(conversation);
    return loaded;
  }

  async #load(homeOf: HomeOf, home: Home): Promise<JsonlShelf | null> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { above, links } = await this.#lineOf(homeOf, home.conversation);
      let shelf: JsonlShelf | null = above;
      for (const link of links) {
        shelf = await this.#loadOne(link, shelf);
        if (shelf === null) break;
      }
      if (shelf !== null || (await home.disk.stat(logPath(home))) === null) return shelf;
    }
    throw fileGone(home.conversation);
  }

  /** What has to be loaded for a conversation, from the top down, and the shelf in memory that it stands on. */
  async #lineOf(
    homeOf: HomeOf,
    conversation: ConversationId,
  ): Promise<{ readonly above: JsonlShelf | null; readonly links: readonly Link[] }> {
    const links: Link[] = [];
    const below = new Set<ConversationId>();
    let at: ConversationId | undefined = conversation;
    while (at !== undefined) {
      if (below.has(at)) throw forkedFromItself(at, below);
      below.add(at);
      const home = homeOf(at);
      const cached = this.#shelves.get(logPath(home));
      if (cached !== undefined && (await cached.refresh()) && !cached.outdated)
        return { above: this.#keep(logPath(home), cached), links: links.toReversed() };
      const beginning: Beginning | null = await readBeginning(home);
      if (beginning === null) break;
      links.push({ home, beginning });
      at = beginning.origin?.conversation;
    }
    return { above: null, links: links.toReversed() };
  }

  /** Loads a file once, however many ask for it at the same time; null when it is another one by now. */
  async #loadOne({ home, beginning }: Link, source: JsonlShelf | null): Promise<JsonlShelf | null> {
    const path = logPath(home);
    let loading = this.#loading.get(path);
    if (loading === undefined) {
      loading = loadShelf(home, beginning, source).finally(() => this.#loading.delete(path));
      this.#loading.set(path, loading);
    }
    const shelf = await loading;
    // Another caller's load may have begun before what this one has to see was written.
    return shelf !== null && (await shelf.refresh()) ? this.#keep(path, shelf) : null;
  }

  #keep(path: string, shelf: JsonlShelf): JsonlShelf {
    const before = this.#shelves.get(path);
    if (before !== shelf) {
      this.forget(path, before);
      if (shelf.source !== null) this.#count(shelf.source, 1);
    }
    this.#shelves.delete(path);
    this.#shelves.set(path, shelf);
    this.weigh(path);
    return shelf;
  }

  /** Takes note of what a shelf weighs now, after it was opened or written to, and makes room if that is too much. */
  weigh(path: string): void {
    const shelf = this.#shelves.get(path);
    if (shelf === undefined) return;
    const weight = this.weightOf(shelf);
    this.#bytes += weight - (this.#weights.get(shelf) ?? 0);
    this.#weights.set(shelf, weight);
    if (this.#bytes > this.#bytesMax) this.#makeRoom(shelf);
  }

  /** Forks go before their source: without it they would have to be loaded again, and it is in memory with them. */
  #makeRoom(needed: JsonlShelf): void {
    for (const [path, shelf] of this.#shelves) {
      if (this.#bytes <= this.#bytesMax) return;
      if (shelf !== needed && !this.#forks.has(shelf)) this.forget(path, shelf);
    }
  }
}

function forkedFromItself(conversation: ConversationId, below: ReadonlySet<ConversationId>): LogError {
  const through = [...below].join(", ");
  return new LogError("damaged", `Conversation ${conversation} is forked from itself, through ${through}`, {
    conversation,
  });
}
