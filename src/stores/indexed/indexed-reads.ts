import { createHash } from "node:crypto";
import { decodeEntry } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import {
  currentPlace,
  findVisible,
  type Held,
  hiddenAmong,
  latestOnBranch,
  pageBack,
  placeAt,
} from "#log/lineage/lineage";
import type { Place } from "#log/lineage/head";
import { type ConversationId, type EntryId, parseDigest, type SpaceId } from "#log/ids";
import { matchesQuery, queryWords } from "#log/search";
import { searchText } from "#log/entry-types";
import {
  openFamily,
  openReachable,
  openShelf,
  openWhole,
  settled,
  type ShelfFamily,
} from "./indexed-lineage.ts";
import { ListPages } from "./list-pages.ts";
import type { Shelf, Shelves } from "./indexed-log.ts";
import { followEntries } from "#store/tail-waiters";
import type {
  Page,
  PageRequest,
  ReadRequest,
  SearchHit,
  SearchRequest,
  SpaceStore,
  TailRequest,
} from "#store/store";
import type { SettingType } from "#log/entry";

const TAIL_ENTRIES_MAX = 256; // a slow reader is given this many at a time, so its backlog stays on disk

const LOGS_AT_ONCE = 16; // a window over many forks lies in as many logs: keeps the disk busy, and few files open

const SEARCH_ENTRIES_STEP = 256; // a search holds this many bodies at once, however long the log

/** The stored entries of nodes that may lie in several logs, in the order given. */
export async function fetchHeld(
  family: ShelfFamily,
  nodes: readonly Held[],
): Promise<readonly StoredEntry[]> {
  const fetched = new Map<string, StoredEntry>();
  const parts = [...Map.groupBy(nodes, (node) => node.conversation)];
  for (let from = 0; from < parts.length; from += LOGS_AT_ONCE) {
    const reads = parts.slice(from, from + LOGS_AT_ONCE).map(async ([conversation, held]) => {
      const seqs = held.map((node) => node.seq);
      for (const stored of (await family.shelves.get(conversation)?.fetch(seqs)) ?? [])
        fetched.set(stored.id, stored);
    });
    await Promise.all(reads);
  }
  return nodes.map((node) => {
    const stored = fetched.get(node.id);
    if (stored === undefined)
      throw new LogError("damaged", `Entry ${node.seq} of conversation ${node.conversation} cannot be read`, {
        seq: node.seq,
      });
    return stored;
  });
}

type ReadVerbs = Omit<SpaceStore, "create" | "fork" | "append" | "acquire" | "renew" | "erase" | "check">;

/** The verbs that read, over shelves; each reads again when an erase cut into it. */
export function shelfReads(shelves: Shelves, space: SpaceId): ReadVerbs {
  const verbs = readOnce(shelves, space);
  return {
    ...verbs,
    head: (conversation) => settled(() => verbs.head(conversation)),
    findAppend: (conversation, key) => settled(() => verbs.findAppend(conversation, key)),
    entry: (conversation, id) => settled(() => verbs.entry(conversation, id)),
    ids: (request) => settled(() => verbs.ids(request)),
    page: (request) => settled(() => verbs.page(request)),
    latest: (request) => settled(() => verbs.latest(request)),
    read: (request) => settled(() => verbs.read(request)),
    getBlob: (conversation, digest) => settled(() => verbs.getBlob(conversation, digest)),
  };
}

function readOnce(shelves: Shelves, space: SpaceId): ReadVerbs {
  const family = (conversation: ConversationId): Promise<ShelfFamily> =>
    openFamily(shelves, space, conversation);
  const pages = new ListPages(shelves, space);
  return {
    async head(conversation) {
      const shelf = await openWhole(shelves, space, conversation);
      return { ...shelf.index.head, lease: shelf.lease };
    },
    async findAppend(conversation, key) {
      return (await openWhole(shelves, space, conversation)).seen(key);
    },
    async entry(conversation, id) {
      const members = await openReachable(shelves, space, conversation);
      const found = findVisible(members.indexes, conversation, id);
      const holder = found && members.shelves.get(found.holder);
      const seq = holder?.index.get(id)?.seq;
      const [stored] = seq === undefined || holder === undefined ? [] : await holder.fetch([seq]);
      if (found === undefined || stored === undefined) {
        if (members.shelf.damage) throw members.shelf.damage;
        throw new LogError("entry_not_found", `Conversation ${conversation} has no entry ${id}`, {
          conversation,
          entry: id,
        });
      }
      return { ...stored, place: found.place };
    },
    ids: async (request) => ids(await openReachable(shelves, space, request.conversation), request),
    page: async (request) => page(await family(request.conversation), request),
    async latest({ conversation, from, types }) {
      const members = await family(conversation);
      const found = new Map<SettingType, StoredEntry & { place: Held["place"] }>();
      for (const type of types) {
        const node = latestOnBranch(members.indexes, startOf(members, from), type);
        const [stored] = node === undefined ? [] : await fetchHeld(members, [node]);
        if (node !== undefined && stored !== undefined) found.set(type, { ...stored, place: node.place });
      }
      return found;
    },
    read: async (request) => read(await openShelf(shelves, space, request.conversation), request),
    tail: (request) => tail(shelves, space, request),
    list: (request) => pages.page(request),
    search: (request) => search(shelves, space, request),
    async putBlob(conversation, bytes) {
      const digest = parseDigest(createHash("sha256").update(bytes).digest("hex"));
      // Under the lock: a blob that arrives during an erase must not outlive it.
      await shelves.locked(space, conversation, async () =>
        (await openWhole(shelves, space, conversation)).putBlob(digest, bytes),
      );
      return digest;
    },
    async getBlob(conversation, digest) {
      for (const shelf of (await family(conversation)).shelves.values()) {
        const bytes = await shelf.getBlob(digest);
        if (bytes !== null) return bytes;
      }
      throw new LogError("blob_not_found", `Conversation ${conversation} has no blob ${digest}`, {
        conversation,
      });
    },
  };
}

/** The visible nodes whose id starts so. */
function ids(
  { indexes, shelf }: ShelfFamily,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): readonly EntryId[] {
  const found = new Set<EntryId>();
  for (const { entries } of indexes.values())
    for (const { id, place } of entries) {
      if (found.size >= limit) return [...found];
      if (
        place !== null &&
        id.startsWith(prefix) &&
        findVisible(indexes, shelf.conversation, id) !== undefined
      )
        found.add(id);
    }
  return [...found];
}

async function page(family: ShelfFamily, request: PageRequest): Promise<Page> {
  const { indexes } = family;
  const end = startOf(family, request.from);
  const from = request.depth === undefined ? end : placeAt(indexes, end, request.depth);
  const { nodes, next } = pageBack(indexes, from, request.limit);
  const entries = await fetchHeld(family, nodes);
  return { entries, hidden: hiddenAmong(indexes, request.conversation, nodes), next };
}

function startOf({ indexes, shelf }: ShelfFamily, from: Place | undefined): Place {
  if (from === undefined) return shelf.index.head.leaf;
  const { conversation } = shelf;
  const place = currentPlace(indexes, conversation, from);
  if (place !== undefined) return place;
  throw new LogError("entry_not_found", `Conversation ${conversation} has no node at that place`, {
    conversation,
  });
}

/** Never silently shorter: a read that would go on behind a damage fails with it. */
async function read(shelf: Shelf, request: ReadRequest): Promise<readonly StoredEntry[]> {
  const seqs = shelf.index.seqs(request);
  const { after = Number.POSITIVE_INFINITY, until = Number.POSITIVE_INFINITY, newestFirst = false } = request;
  const { headSeq } = shelf.index.head;
  const short = newestFirst ? after > headSeq + 1 : seqs.length < request.limit && until > headSeq;
  if (shelf.damage && short) throw shelf.damage;
  return shelf.fetch(seqs);
}

function tail(shelves: Shelves, space: SpaceId, request: TailRequest): AsyncGenerator<StoredEntry> {
  const { conversation, signal } = request;
  let shelf: Shelf;
  let headSeq = 0; // as it was when the entries were chosen: the shelf itself grows under whoever holds it
  return followEntries({
    after: request.after,
    signal,
    closed: () => shelves.closed,
    async read(after) {
      const batch = await settled(async () => {
        shelf = await openShelf(shelves, space, conversation);
        ({ headSeq } = shelf.index.head);
        return shelf.fetch(shelf.index.seqs({ after, limit: TAIL_ENTRIES_MAX }));
      });
      if (batch.length === 0 && shelf.damage) throw shelf.damage;
      return batch;
    },
    changed: () => shelves.changed(space, shelf, headSeq, signal),
  });
}

type TimedHit = SearchHit & { readonly time: string };

async function search(
  shelves: Shelves,
  space: SpaceId,
  request: SearchRequest,
): Promise<readonly SearchHit[]> {
  const words = queryWords(request.query);
  const hits: TimedHit[] = [];
  // One damaged conversation does not keep the others from being searched; asked for by name, it says so.
  const named = request.conversation !== undefined;
  const scope = named ? [{ conversation: request.conversation, unlisted: false }] : await shelves.list(space);
  for (const { conversation, unlisted } of scope) {
    if (unlisted) continue;
    try {
      const found = await settled(async () =>
        searchOne(await (named ? openWhole : openShelf)(shelves, space, conversation), words),
      );
      for (const hit of found) hits.push(hit);
    } catch (error) {
      if (named || !isLogError(error)) throw error;
      // Erased since the list was made, or not even to be opened: nobody asked for it by name.
      if (error.code !== "conversation_not_found" && error.group !== "damaged") throw error;
    }
  }
  return hits
    .toSorted((a, b) => (named || a.time === b.time ? b.seq - a.seq : a.time < b.time ? 1 : -1))
    .slice(0, request.limit)
    .map(({ time: _, ...hit }) => hit);
}

async function searchOne(shelf: Shelf, words: readonly string[]): Promise<readonly TimedHit[]> {
  const hits: TimedHit[] = [];
  const { conversation } = shelf;
  for (let from = 0; from < shelf.index.entries.length; from += SEARCH_ENTRIES_STEP) {
    const seqs = shelf.index.entries.slice(from, from + SEARCH_ENTRIES_STEP).map((entry) => entry.seq);
    for (const stored of await shelf.fetch(seqs)) {
      const text = searchText(decodeEntry(stored));
      if (!matchesQuery(text, words) || shelf.index.hidden(stored.id, Number.POSITIVE_INFINITY) === true)
        continue;
      hits.push({ conversation, entry: stored.id, seq: stored.seq, text, time: stored.time });
    }
  }
  return hits;
}
