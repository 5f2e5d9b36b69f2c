import type { Appended } from "#log/batch";
import type { BatchEndAt } from "#log/batch-links";
import type { EntryType, SettingType, StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { Place } from "#log/lineage/head";
import { leaseAt } from "#log/plans/lease";
import { type ConversationId, type Digest, type EntryId, type SpaceId, parseListCursor } from "#log/ids";
import type {
  BatchEndsRequest,
  HeadView,
  IdsRequest,
  LabelRequest,
  ListRequest,
  Page,
  PageRequest,
  ReadRequest,
  RunPage,
  RunsRequest,
  SettingsFound,
  StoreWindow,
  WindowRequest,
  ConversationRow,
} from "#store/requests";
import { pageOfConversations, rowsMax, withinBytes } from "#store/page-bounds";
import { runPage } from "#stores/sqlite/tables/run-rows";
import { findBlob } from "#stores/sqlite/tables/blob-rows";
import { conversationNotFound } from "#store/lookup-errors";
import { Lookup, rowPlaceOf } from "#stores/sqlite/tables/lookup";
import { labelFacts, nodeIds } from "#stores/sqlite/tables/name-rows";
import { ENTRY_COLUMNS, type EntryRow, linkText, type RowPlace, summaryIn } from "#stores/sqlite/tables/rows";
import { typeNumber } from "#log/entry-types";
import { Sql } from "#stores/sqlite/tables/sql";
import { hiddenIn } from "./hidden.ts";
import type { DatabaseSync } from "node:sqlite";

const LEAF = `SELECT row, coalesce(leaf_conversation, row), leaf_segment, leaf_depth, source FROM conversations
  WHERE space = ? AND id = ? AND listed = 1`;
const ROW = "SELECT row FROM conversations WHERE space = ? AND id = ? AND listed = 1";
const KEY = "SELECT from_seq, to_seq, last_id, digest FROM keys WHERE conversation = ? AND key = ?";
const READ = {
  up: `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
  down: `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq < ? AND seq >= ? ORDER BY seq DESC LIMIT ?`,
};
const BATCH_ENDS = `SELECT seq, link, by_owner FROM entries INDEXED BY entries_seq
  WHERE conversation = ? AND seq > ? AND link IS NOT NULL ORDER BY seq LIMIT ?`;
/** Several kinds are merged in the order of the log, each along its index: no row is read that is not given. */
const READ_KINDS = {
  up: readKinds("seq > ? AND seq <= ?", ""),
  down: readKinds("seq < ? AND seq >= ?", "DESC"),
};
/** Types without a kind are found by going through the log, whatever else is asked for. */
const READ_TYPES = {
  up: readTypes("seq > ? AND seq <= ?", ""),
  down: readTypes("seq < ? AND seq >= ?", "DESC"),
};

type TypesStatement = (types: number) => string;

function perCount(make: TypesStatement): TypesStatement {
  const made: string[] = [];
  return (types) => (made[types] ??= make(types));
}

function readKinds(range: string, order: "" | "DESC"): TypesStatement {
  const one = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_kind WHERE conversation = ? AND kind = ? AND ${range}`;
  return perCount((kinds) => `${Array(kinds).fill(one).join(" UNION ALL ")} ORDER BY seq ${order} LIMIT ?`);
}

function readTypes(range: string, order: "" | "DESC"): TypesStatement {
  return (
    types,
  ) => `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND ${range}
  AND type IN (${Array(types).fill("?").join(", ")}) ORDER BY seq ${order} LIMIT ?`;
}

/** A conversation, and where a page of it ends. */
interface PageEnd {
  readonly row: number;
  readonly isFork: boolean;
  readonly end: RowPlace;
}

/** Answers questions on one read connection. Every answer is whole when it returns: no statement stays open. */
export class Reader {
  readonly sql: Sql;
  readonly lookup: Lookup;

  constructor(db: DatabaseSync) {
    this.sql = new Sql(db);
    this.lookup = new Lookup(this.sql);
  }

  spaces(): readonly SpaceId[] {
    return this.sql
      .all<[SpaceId]>("SELECT DISTINCT space FROM conversations WHERE listed = 1 ORDER BY space")
      .map(([space]) => space);
  }

  head(space: SpaceId, conversation: ConversationId, nowMs: number): HeadView {
    const { head, lease } = this.lookup.visibleConversation(space, conversation);
    return { ...head, lease: leaseAt(lease, nowMs) };
  }

  findAppend(
    space: SpaceId,
    conversation: ConversationId,
    key: string,
  ): (Appended & { readonly digest: string }) | null {
    const columns = this.sql.get<[number, number, EntryId, string]>(
      KEY,
      this.rowOf(space, conversation),
      key,
    );
    return columns === undefined
      ? null
      : { fromSeq: columns[0], toSeq: columns[1], lastId: columns[2], digest: columns[3] };
  }

  rowOf(space: SpaceId, conversation: ConversationId): number {
    const columns = this.sql.get<[number]>(ROW, space, conversation);
    if (columns === undefined) throw conversationNotFound(conversation);
    return columns[0];
  }

  entry(
    space: SpaceId,
    conversation: ConversationId,
    id: EntryId,
  ): StoredEntry & { readonly place: Place | null } {
    const row = this.lookup.entry(this.lookup.visibleConversation(space, conversation), id);
    if (row === undefined) {
      throw new LogError("entry_not_found", `Entry ${id} not found in conversation ${conversation}`, {
        conversation,
        entry: id,
      });
    }
    const rowPlace = rowPlaceOf(row);
    return {
      ...this.lookup.stored(row),
      place: rowPlace === null ? null : this.lookup.conversations.placeOf(rowPlace),
    };
  }

  ids(space: SpaceId, request: IdsRequest): readonly EntryId[] {
    const limit = rowsMax(request.limit);
    return nodeIds(this.lookup, this.lookup.visibleConversation(space, request.conversation), {
      ...request,
      limit,
    });
  }

  runs(space: SpaceId, request: RunsRequest): RunPage {
    return runPage(this.lookup, space, request);
  }

  labelled(space: SpaceId, request: LabelRequest): readonly StoredEntry[] | null {
    return labelFacts(this.lookup, this.lookup.visibleConversation(space, request.conversation), request);
  }

  page(space: SpaceId, request: PageRequest): Page {
    const { lookup } = this;
    const { row, isFork, end } =
      request.from === undefined
        ? this.#leafOf(space, request.conversation)
        : this.#placeIn(space, request.conversation, request.from);
    const from = request.depth === undefined ? end : lookup.above(end, request.depth);
    return this.#pageFrom({ row, isFork }, from, request.limit);
  }

  #leafOf(space: SpaceId, conversation: ConversationId): PageEnd {
    const columns = this.sql.get<[number, number, number, number, number | null]>(LEAF, space, conversation);
    if (columns === undefined) throw conversationNotFound(conversation);
    const [row, leafRow, segment, depth, source] = columns;
    return { row, isFork: source !== null, end: { row: leafRow, segment, depth } };
  }

  #placeIn(space: SpaceId, conversation: ConversationId, place: Place): PageEnd {
    // The conversation's own nodes are found without the rest of its row.
    if (place.conversation === conversation) {
      const own = this.#leafOf(space, conversation);
      const end = { row: own.row, segment: place.segment, depth: place.depth };
      if (this.lookup.has(end)) return { ...own, end };
    }
    const seen = this.lookup.visibleConversation(space, conversation);
    return { row: seen.row, isFork: seen.fork !== null, end: this.lookup.visible(space, seen, place) };
  }

  #pageFrom(
    conversation: { readonly row: number; readonly isFork: boolean },
    from: RowPlace,
    limit: number,
  ): Page {
    const { lookup } = this;
    const { rows, next } = lookup.path(from, rowsMax(limit));
    const entries: StoredEntry[] = [];
    for (const entry of rows) entries.push(lookup.stored(entry));
    const lowest = rows.at(-1)?.[10] ?? from.depth;
    const hidden = hiddenIn(lookup, conversation, rows, { lowest, highest: from.depth });
    return { entries, hidden, next: next === null ? null : lookup.conversations.placeOf(next) };
  }

  /** To be asked in one transaction. */
  window(space: SpaceId, request: WindowRequest, nowMs: number): StoreWindow {
    const seen = this.lookup.visibleConversation(space, request.conversation);
    const from = this.lookup.visible(space, seen, request.from ?? seen.head.leaf);
    return {
      head: { ...seen.head, lease: leaseAt(seen.lease, nowMs) },
      page: this.#pageFrom({ row: seen.row, isFork: seen.fork !== null }, from, request.limit),
      settings: this.#settings(from, request.settings),
    };
  }

  #settings(from: RowPlace, types: readonly SettingType[]): SettingsFound {
    const { lookup } = this;
    const settings = new Map<SettingType, StoredEntry & { readonly place: Place }>();
    for (const type of types) {
      const rowPlace = lookup.latestOfKind(from, typeNumber(type) ?? 0);
      if (rowPlace !== null)
        settings.set(type, {
          ...lookup.stored(lookup.node(rowPlace)),
          place: lookup.conversations.placeOf(rowPlace),
        });
    }
    return settings;
  }

  read(space: SpaceId, request: ReadRequest): readonly StoredEntry[] {
    const row = this.rowOf(space, request.conversation);
    const { newestFirst = false, types } = request;
    const limit = rowsMax(request.limit);
    const way = newestFirst ? "down" : "up";
    const { after = newestFirst ? Number.MAX_SAFE_INTEGER : 0 } = request;
    const { until = newestFirst ? 0 : Number.MAX_SAFE_INTEGER } = request;
    const rows = this.#rowsOf(way, types, { row, after, until, limit });
    // Large payloads do not lie in their rows: none is brought behind the one that is too much.
    return withinBytes(storedOf(rows, this.lookup), request.bytes);
  }

  #rowsOf(
    way: "up" | "down",
    filter: readonly EntryType[] | undefined,
    range: { readonly row: number; readonly after: number; readonly until: number; readonly limit: number },
  ): readonly EntryRow[] {
    const { row, after, until, limit } = range;
    if (filter === undefined) return this.sql.all<EntryRow>(READ[way], row, after, until, limit);
    const types = [...new Set(filter)];
    const kinds = types.map((type) => typeNumber(type));
    if (types.length === 0) return [];
    if (kinds.includes(null))
      return this.sql.all<EntryRow>(READ_TYPES[way](types.length), row, after, until, ...types, limit);
    const each = kinds.flatMap((kind) => [row, kind, after, until]);
    return this.sql.all<EntryRow>(READ_KINDS[way](kinds.length), ...each, limit);
  }

  batchEnds(space: SpaceId, { conversation, after, limit }: BatchEndsRequest): readonly BatchEndAt[] {
    const row = this.rowOf(space, conversation);
    return this.sql
      .all<[number, Uint8Array, number]>(BATCH_ENDS, row, after, rowsMax(limit))
      .map(([seq, link, byOwner]) => ({ seq, link: linkText(link) ?? "", byOwner: byOwner === 1 }));
  }

  list(space: SpaceId, request: ListRequest): ListPage {
    return listPage(this.lookup, space, request);
  }

  /** Own blobs, and those a source had when this conversation, or one above it, was forked. */
  blob(space: SpaceId, conversation: ConversationId, digest: Digest): Uint8Array {
    let holder = this.lookup.visibleConversation(space, conversation);
    let upTo = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const bytes = findBlob(this.sql, holder.row, digest, upTo);
      if (bytes !== null) return bytes;
      const above = holder.fork === null ? undefined : this.lookup.conversations.inRow(holder.fork.source);
      if (above === undefined || holder.fork === null) break;
      upTo = holder.fork.head;
      holder = above;
    }
    throw new LogError("blob_not_found", `Blob ${digest} not found in conversation ${conversation}`, {
      conversation,
    });
  }

  close(): void {
    this.sql.db.close();
  }
}

export function* storedOf(rows: readonly EntryRow[], lookup: Lookup): Generator<StoredEntry> {
  for (const row of rows) yield lookup.stored(row);
}

const COLUMNS = "id, title, cwd, created_at, updated_at, head_seq, leaf_id, source, origin_entry, summary";
const ORDER = "ORDER BY updated_at DESC, id DESC LIMIT ?";
// The index holds order and prefix, so rows outside the page are not read, and bodies never. Forks of one conversation are few.
const ALL = "INDEXED BY conversations_recent WHERE";
const FORKS = `INDEXED BY conversations_source
  WHERE source = (SELECT row FROM conversations WHERE space = ? AND id = ?) AND`;
const BEHIND = "AND (updated_at, id) < (?, ?)";

/** By whether it lists forks and whether it follows a cursor; each is created once. */
const texts = new Map<string, string>();

function textOf(isForks: boolean, isBehind: boolean): string {
  const key = `${isForks} ${isBehind}`;
  const made =
    texts.get(key) ??
    `SELECT ${COLUMNS} FROM conversations ${isForks ? FORKS : ALL}
  listed = 1 AND space = ? AND unlisted = ? ${isBehind ? BEHIND : ""} AND substr(id, 1, ?) = ? ${ORDER}`;
  texts.set(key, made);
  return made;
}

type Row = readonly [
  id: ConversationId,
  title: string | null,
  cwd: string | null,
  createdAt: string,
  updatedAt: string,
  headSeq: number,
  leaf: EntryId,
  source: number | null,
  originEntry: EntryId | null,
  summary: string | null,
];

interface ListPage {
  readonly conversations: readonly ConversationRow[];
  readonly next: string | null;
}

/** A page of a space's conversations, the most recently changed first. */
function listPage(lookup: Lookup, space: SpaceId, request: ListRequest): ListPage {
  const { sql } = lookup;
  const { after, prefix = "", forkOf } = request;
  const limit = rowsMax(request.limit);
  const unlisted = request.unlisted === true ? 1 : 0;
  const rows = sql.all<Row>(
    textOf(forkOf !== undefined, after !== undefined),
    ...(forkOf === undefined ? [] : [space, forkOf]),
    space,
    unlisted,
    ...(after === undefined ? [] : parseListCursor(after)),
    prefix.length,
    prefix,
    limit + 1,
  );
  return pageOfConversations(rows, limit, (row) => toListed(lookup, row));
}

function toListed(lookup: Lookup, row: Row): ConversationRow {
  const [conversation, title, cwd, createdAt, updatedAt, headSeq, leaf, source, entry, summary] = row;
  const origin =
    source === null || entry === null ? null : { conversation: lookup.conversations.nameOf(source), entry };
  const columns = { conversation, title, cwd, createdAt, updatedAt, headSeq, leaf, origin };
  return { ...columns, summary: summaryIn(summary), damage: null };
}
