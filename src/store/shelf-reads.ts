import { createHash } from "node:crypto";
import { decodeEntry } from "../log/codec.ts";
import type { StoredEntry } from "../log/entry.ts";
import { LogError } from "../log/errors.ts";
import { findVisible, type Held, isHidden, latestOnBranch, pageBack } from "../log/family.ts";
import { type ConversationId, parseDigest, type SpaceId } from "../log/ids.ts";
import { matchesQuery, queryWords, searchText } from "../log/search.ts";
import { openFamily, type ShelfFamily } from "./shelf-family.ts";
import type { Shelf, Shelves } from "./shelf.ts";
import type { Listed, ListRequest, MarkType, Page, PageRequest, ReadRequest, SearchHit, SearchRequest, SpaceStore, TailRequest } from "./store.ts";

const TAIL_ENTRIES_MAX = 256; // a slow reader is given this many at a time, so its backlog stays on disk

/** The stored entries of nodes that may lie in several logs, in the order given. */
export async function fetchHeld(family: ShelfFamily, nodes: readonly Held[]): Promise<readonly StoredEntry[]> {
  const fetched = new Map<string, StoredEntry>();
  for (const [conversation, shelf] of family.shelves) {
    const seqs = nodes.filter((node) => node.conversation === conversation).map((node) => node.seq);
    if (seqs.length === 0) continue;
    for (const stored of await shelf.fetch(seqs)) fetched.set(stored.id, stored);
  }
  return nodes.map((node) => {
    const stored = fetched.get(node.id);
    if (stored === undefined) throw new LogError("damaged", `Entry ${node.seq} of conversation ${node.conversation} cannot be read`, { seq: node.seq });
    return stored;
  });
}

type ReadVerbs = Omit<SpaceStore, "create" | "fork" | "append" | "acquire" | "renew" | "erase" | "check">;

/** The verbs that read, over shelves. */
export function shelfReads(shelves: Shelves, space: SpaceId): ReadVerbs {
  const family = (conversation: ConversationId): Promise<ShelfFamily> => openFamily(shelves, space, conversation);
  return {
    async head(conversation) {
      const { shelf } = await family(conversation);
      return { ...shelf.index.head, lease: shelf.lease };
    },
    async findAppend(conversation, key) {
      return (await family(conversation)).shelf.seen(key);
    },
    async entry(conversation, id) {
      const members = await family(conversation);
      const found = findVisible(members.indexes, conversation, id);
      const holder = found && members.shelves.get(found.holder);
      const seq = holder?.index.get(id)?.seq;
      const [stored] = seq === undefined || holder === undefined ? [] : await holder.fetch([seq]);
      if (found === undefined || stored === undefined) {
        throw new LogError("entry_not_found", `Conversation ${conversation} has no entry ${id}`, { conversation, entry: id });
      }
      return { ...stored, place: found.place };
    },
    page: async (request) => page(await family(request.conversation), request),
    async latest({ conversation, from, types }) {
      const members = await family(conversation);
      const found = new Map<MarkType, StoredEntry & { place: Held["place"] }>();
      for (const type of types) {
        const node = latestOnBranch(members.indexes, from ?? members.shelf.index.head.leaf, type);
        const [stored] = node === undefined ? [] : await fetchHeld(members, [node]);
        if (node !== undefined && stored !== undefined) found.set(type, { ...stored, place: node.place });
      }
      return found;
    },
    read: async (request) => read((await family(request.conversation)).shelf, request),
    tail: (request) => tail(shelves, space, request),
    list: async (request) => list((await shelves.list(space)).filter((listed) => !listed.unlisted), request),
    search: (request) => search(shelves, space, request),
    async putBlob(conversation, bytes) {
      const { shelf } = await family(conversation);
      const digest = parseDigest(createHash("sha256").update(bytes).digest("hex"));
      await shelf.putBlob(digest, bytes);
      return digest;
    },
    async getBlob(conversation, digest) {
      for (const shelf of (await family(conversation)).shelves.values()) {
        const bytes = await shelf.getBlob(digest);
        if (bytes !== null) return bytes;
      }
      throw new LogError("blob_not_found", `Conversation ${conversation} has no blob ${digest}`, { conversation });
    },
  };
}

async function page(family: ShelfFamily, request: PageRequest): Promise<Page> {
  const { indexes, shelf } = family;
  const { nodes, next } = pageBack(indexes, request.from ?? shelf.index.head.leaf, request.limit);
  const entries = await fetchHeld(family, nodes);
  const hidden = new Set(nodes.filter((node) => isHidden(indexes, request.conversation, node.id)).map((node) => node.id));
  return { entries, hidden, next };
}

async function read(shelf: Shelf, request: ReadRequest): Promise<readonly StoredEntry[]> {
  const { after, limit, types, newestFirst = false } = request;
  const wanted: number[] = [];
  const { entries } = shelf.index;
  for (let step = 0; step < entries.length && wanted.length < limit; step++) {
    const entry = entries[newestFirst ? entries.length - 1 - step : step];
    if (entry === undefined || (types !== undefined && !types.includes(entry.type))) continue;
    if (after !== undefined && (newestFirst ? entry.seq >= after : entry.seq <= after)) continue;
    wanted.push(entry.seq);
  }
  return shelf.fetch(wanted);
}

async function* tail(shelves: Shelves, space: SpaceId, request: TailRequest): AsyncGenerator<StoredEntry> {
  const { conversation, signal = new AbortController().signal } = request;
  let after = request.after;
  while (!signal.aborted) {
    const { shelf } = await openFamily(shelves, space, conversation);
    const batch = await read(shelf, { conversation, after, limit: TAIL_ENTRIES_MAX });
    for (const stored of batch) {
      if (signal.aborted) return;
      after = stored.seq;
      yield stored;
    }
    if (batch.length === 0) await shelves.changed(space, conversation, shelf.index.head.headSeq, signal);
  }
}

function list(all: readonly (Listed & { readonly unlisted: boolean })[], request: ListRequest): { conversations: readonly Listed[]; next: string | null } {
  const order = (listed: Listed): string => `${listed.updatedAt} ${listed.conversation}`;
  const sorted = all
    .filter((listed) => listed.conversation.startsWith(request.prefix ?? ""))
    .filter((listed) => request.after === undefined || order(listed) < request.after)
    .toSorted((a, b) => (order(a) < order(b) ? 1 : -1));
  const conversations = sorted.slice(0, request.limit).map(({ unlisted: _, ...listed }) => listed);
  const last = conversations.at(-1);
  return { conversations, next: last !== undefined && sorted.length > conversations.length ? order(last) : null };
}

async function search(shelves: Shelves, space: SpaceId, request: SearchRequest): Promise<readonly SearchHit[]> {
  const words = queryWords(request.query);
  const hits: (SearchHit & { time: string })[] = [];
  const scope = request.conversation === undefined ? await shelves.list(space) : [{ conversation: request.conversation, unlisted: false }];
  for (const { conversation, unlisted } of scope) {
    if (unlisted) continue;
    const { shelf, indexes } = await openFamily(shelves, space, conversation);
    for (const stored of await shelf.fetch(shelf.index.entries.map((entry) => entry.seq))) {
      const text = searchText(decodeEntry(stored));
      if (!matchesQuery(text, words) || isHidden(indexes, conversation, stored.id)) continue;
      hits.push({ conversation, entry: stored.id, seq: stored.seq, text, time: stored.time });
    }
  }
  return hits
    .toSorted((a, b) => (a.time < b.time || (a.time === b.time && a.seq < b.seq) ? 1 : -1))
    .slice(0, request.limit)
    .map(({ time: _, ...hit }) => hit);
}
