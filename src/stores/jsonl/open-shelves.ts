import { LogError } from "../../log/errors.ts";
import type { ConversationId } from "../../log/ids.ts";
import { fileGone } from "./file/log-file.ts";
import { type Home, logPath } from "./home.ts";
import type { JsonlShelf } from "./jsonl-shelf.ts";
import { loadShelf } from "./load.ts";

const ATTEMPTS_MAX = 4; // each one lost means that an erase replaced the file in between
const SHELVES_MAX = 512; // indexes kept in memory; an index is derived, so the least recently used may go

type HomeOf = (conversation: ConversationId) => Home;

/** The conversations whose index is in memory, and the way to have one there. */
export class OpenShelves {
  /** By path, the least recently used first. */
  readonly #shelves = new Map<string, JsonlShelf>();
  readonly #loading = new Map<string, Promise<JsonlShelf | null>>();

  /** What is in memory, as it was when it was last looked at. */
  cached(path: string): JsonlShelf | undefined {
    return this.#shelves.get(path);
  }

  forget(path: string, shelf: JsonlShelf | undefined = this.#shelves.get(path)): void {
    if (this.#shelves.get(path) === shelf) this.#shelves.delete(path);
  }

  /** The shelf as its file is now, on a source as that one's file is now; null when there is none. */
  async open(
    homeOf: HomeOf,
    conversation: ConversationId,
    below: readonly ConversationId[] = [],
  ): Promise<JsonlShelf | null> {
    if (below.includes(conversation)) {
      const through = below.join(", ");
      throw new LogError(
        "damaged",
        `Conversation ${conversation} is forked from itself, through ${through}`,
        { conversation },
      );
    }
    const openAbove = (id: ConversationId): Promise<JsonlShelf | null> =>
      this.open(homeOf, id, [...below, conversation]);
    const home = homeOf(conversation);
    const cached = this.#shelves.get(logPath(home));
    if (cached === undefined) return this.#load(home, openAbove, below.length === 0);
    const above = cached.source === null ? null : await openAbove(cached.source.conversation);
    const fresh = await cached.file.refresh();
    if (fresh && above === cached.source) return this.#keep(logPath(home), cached);
    this.forget(logPath(home), cached);
    const loaded = await this.#load(home, openAbove, below.length === 0);
    // An erase by another process leaves what forks need; anything else was not ours to expect.
    if (!fresh && !loaded?.unlisted) throw fileGone(conversation);
    return loaded;
  }

  /**
   * Loads a file once, however many ask for it at the same time. Only who asks for the conversation itself shares:
   * two loads that wait for each other's source would never end if the files name each other as source.
   */
  async #load(
    home: Home,
    openAbove: (id: ConversationId) => Promise<JsonlShelf | null>,
    shared: boolean,
  ): Promise<JsonlShelf | null> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const shelf = await this.#loadOnce(home, openAbove, shared);
      if (shelf !== null || (await home.disk.stat(logPath(home))) === null) return shelf;
    }
    throw fileGone(home.conversation);
  }

  /** Null when there is no such file, or another one by the time it was read. */
  async #loadOnce(
    home: Home,
    openAbove: (id: ConversationId) => Promise<JsonlShelf | null>,
    shared: boolean,
  ): Promise<JsonlShelf | null> {
    const path = logPath(home);
    let loading = shared ? this.#loading.get(path) : undefined;
    if (loading === undefined) {
      loading = loadShelf(home, openAbove);
      if (shared) this.#loading.set(path, loading);
    }
    const shelf = await loading.finally(() => shared && this.#loading.delete(path));
    if (shelf === null) return null;
    // Another caller's load may have begun before what this one has to see was written.
    return (await shelf.file.refresh()) ? this.#keep(path, shelf) : null;
  }

  #keep(path: string, shelf: JsonlShelf): JsonlShelf {
    this.#shelves.delete(path);
    this.#shelves.set(path, shelf);
    const [oldest] = this.#shelves.keys();
    if (this.#shelves.size > SHELVES_MAX && oldest !== undefined) this.#shelves.delete(oldest);
    return shelf;
  }
}
