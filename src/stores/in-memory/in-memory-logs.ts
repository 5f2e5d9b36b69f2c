import type { ConversationId, SpaceId } from "#log/ids";
import type { Remnant, ShelfListed, Shelves } from "#stores/indexed/indexed-log";
import { TailWaiters } from "#store/tail-waiters";
import { MemoryShelf } from "./in-memory-log.ts";

/** What a memory store keeps; hand the same one to a new store to reopen it. */
export interface InMemoryBacking {
  readonly spaces: Map<SpaceId, Map<ConversationId, MemoryShelf>>;
  /** The last writer in line per conversation: handles on one backing take turns. */
  readonly lines: Map<string, Promise<unknown>>;
}

export function inMemoryBacking(): InMemoryBacking {
  return { spaces: new Map(), lines: new Map() };
}

export function memoryShelves(backing: InMemoryBacking): Shelves {
  const waiters = new TailWaiters<null>();
  let tails = 0;
  const spaceOf = (space: SpaceId): Map<ConversationId, MemoryShelf> =>
    backing.spaces.get(space) ?? new Map<ConversationId, MemoryShelf>();
  return {
    spaces: async () =>
      [...backing.spaces]
        .filter(([, shelves]) => [...shelves.values()].some((shelf) => !shelf.unlisted))
        .map(([space]) => space),
    open: async (space, conversation) => spaceOf(space).get(conversation) ?? null,
    async create(space, conversation, first, index) {
      const shelf = new MemoryShelf(conversation, index);
      await shelf.write(first);
      const shelves = spaceOf(space);
      shelves.set(conversation, shelf);
      backing.spaces.set(space, shelves);
    },
    async locked(space, conversation, work) {
      const name = `${space} ${conversation}`;
      const before = backing.lines.get(name) ?? Promise.resolve();
      const run = before.then(work, work);
      backing.lines.set(
        name,
        run.catch(() => undefined),
      );
      return run;
    },
    async list(space, prefix = "") {
      const all = [...spaceOf(space).values()];
      return all.filter((shelf) => shelf.conversation.startsWith(prefix)).map(listedOf);
    },
    async listOne(space, conversation) {
      const shelf = spaceOf(space).get(conversation);
      return shelf === undefined ? null : listedOf(shelf);
    },
    async reduce(space, conversation, remnant) {
      const shelf = spaceOf(space).get(conversation);
      if (shelf === undefined) return;
      if (remnant === null) spaceOf(space).delete(conversation);
      else spaceOf(space).set(conversation, remnantShelf(shelf, remnant));
      shelf.wake();
    },
    async changed(space, seen, seq, signal) {
      const shelf = spaceOf(space).get(seen.conversation);
      if (shelf !== seen || shelf.index.head.headSeq > seq) return;
      const name = String(++tails);
      const wake = (): void => waiters.wake(name);
      shelf.listeners.add(wake);
      await waiters.wait(name, null, signal);
      shelf.listeners.delete(wake);
    },
    get closed() {
      return waiters.closed;
    },
    check: async () => [],
    async close() {
      waiters.close();
    },
  };
}

function listedOf({ index: { head }, unlisted }: MemoryShelf): ShelfListed {
  return {
    conversation: head.conversation,
    title: head.title,
    cwd: head.cwd,
    createdAt: head.createdAt,
    updatedAt: head.updatedAt,
    headSeq: head.headSeq,
    leaf: head.leaf.id,
    origin: head.origin === null ? null : { conversation: head.origin.source, entry: head.origin.entry },
    damage: null,
    unlisted,
  };
}

/**
 * What forks still need of an erased conversation. The index is the same one: the forks' own indexes name places in it.
 */
function remnantShelf(shelf: MemoryShelf, remnant: Remnant): MemoryShelf {
  const left = new MemoryShelf(shelf.conversation, shelf.index);
  left.unlisted = true;
  for (const row of remnant.entries) left.rows.set(row.seq, row);
  left.index.reduce(new Set(left.rows.keys()), remnant.origin);
  for (const [digest, bytes] of shelf.bytes) if (remnant.blobs.has(digest)) left.bytes.set(digest, bytes);
  return left;
}
