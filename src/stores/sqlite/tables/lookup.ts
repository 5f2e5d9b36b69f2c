import type { SettingType, StoredEntry } from "#log/entry";
import { SETTING_TYPES, typeNumber } from "#log/entry-types";
import { LogError } from "#log/errors";
import type { EntryPosition, Place, SettingPlaces } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { toStored } from "./blob-rows.ts";
import { conversationNotFound, nodeMissing, nodeNotFound } from "#store/lookup-errors";
import {
  type Conversation,
  Conversations,
  ENTRY_COLUMNS,
  type EntryRow,
  type Fork,
  type RowPlace,
} from "./rows.ts";
import { holding } from "./holding.ts";
import type { Sql } from "./sql.ts";
import { readJson } from "#log/json/read-json";

const LINEAGES_MAX = 256; // forks whose inherited path is remembered
const SEGMENTS_MAX = 4_096; // remembered hops; a segment never changes
const HEADS_MAX = 4_096; // conversations the writer remembers as it left them

const SEGMENT =
  "SELECT ancestor_conversation, ancestor_segment, ancestor_depth, marks FROM segments WHERE conversation = ? AND segment = ?";
const BY_ID = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_id WHERE conversation = ? AND id = ?`;
const NODE =
  "SELECT 1 FROM entries INDEXED BY entries_path WHERE conversation = ? AND segment = ? AND depth = ?";
const PATH = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_path
  WHERE conversation = ? AND segment = ? AND depth <= ? ORDER BY depth DESC LIMIT ?`;
const LATEST_OF_KIND = `SELECT depth FROM entries INDEXED BY entries_mark
  WHERE conversation = ? AND segment = ? AND kind = ? AND depth <= ? ORDER BY depth DESC LIMIT 1`;
const AT = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_path WHERE conversation = ? AND segment = ? AND depth = ?`;
const ANY_HIDE = "SELECT 1 FROM hides WHERE conversation = ? AND seq <= ? LIMIT 1";
const FORK = `SELECT source, source_head, origin_conversation, origin_segment, origin_depth FROM conversations
  WHERE row = ? AND source IS NOT NULL`;

/** A line of descent: the spot it grew from, and where the latest node of each kind lies there. */
export interface SegmentInfo {
  readonly ancestor: RowPlace | null;
  readonly latest: { readonly [kind: string]: readonly [row: number, segment: number, depth: number] };
}

/** What a fork inherits. It never changes, since nothing the sources add later is part of it. */
export interface Lineage {
  /** For each "row:segment" of the path to the fork point, the deepest node of it. */
  readonly depths: ReadonlyMap<string, number>;
  readonly holders: ReadonlySet<number>;
  /** The sources, oldest first, with how much of each is seen; and those among them that hide something. */
  readonly levels: readonly { readonly row: number; readonly head: number }[];
  readonly hideLevels: readonly { readonly row: number; readonly head: number }[];
}

export interface PathRead {
  readonly rows: readonly EntryRow[];
  readonly next: RowPlace | null;
}

/** Finds nodes and paths: what the writer needs to plan and the reader needs to answer, in one place. */
export class Lookup {
  readonly sql: Sql;
  readonly conversations: Conversations;
  readonly #lineages = new Map<number, Lineage>();
  readonly #segments = new Map<string, SegmentInfo>();
  readonly #heads = new Map<string, Conversation>();

  constructor(sql: Sql) {
    this.sql = sql;
    this.conversations = new Conversations(sql);
  }

  /** A conversation its space can see. */
  visibleConversation(space: string, id: ConversationId): Conversation {
    const row = this.#heads.get(headName(space, id)) ?? this.conversations.find(space, id);
    if (row === undefined || !row.listed) throw conversationNotFound(id);
    return row;
  }

  /** For the writer, which knows what its next command will find: no one else writes unnoticed. */
  keepHead(space: string, conversation: Conversation): void {
    if (this.#heads.size >= HEADS_MAX) this.#heads.clear();
    this.#heads.set(headName(space, conversation.head.conversation), conversation);
  }

  /** Another process has written. */
  forgetHeads(): void {
    this.#heads.clear();
  }

  stored(row: EntryRow): StoredEntry {
    return toStored(row, this.sql);
  }

  segment(row: number, segment: number): SegmentInfo {
    const name = `${row}:${segment}`;
    const cached = this.#segments.get(name);
    if (cached !== undefined) return cached;
    const columns = this.sql.get<[number | null, number, number, string]>(SEGMENT, row, segment);
    if (columns === undefined)
      throw new LogError("damaged", `Segment ${segment} of conversation row ${row} is missing`, { segment });
    const ancestor = columns[0] === null ? null : { row: columns[0], segment: columns[1], depth: columns[2] };
    const info: SegmentInfo = { ancestor, latest: readJson(columns[3]) as SegmentInfo["latest"] };
    if (this.#segments.size >= SEGMENTS_MAX) this.#segments.clear();
    this.#segments.set(name, info);
    return info;
  }

  /** Reads inside a transaction that then failed must not be remembered. */
  forget(): void {
    this.#segments.clear();
    this.#lineages.clear();
    this.#heads.clear();
    this.conversations.forget();
  }

  /** Up to `limit` nodes from a spot towards the root, newest first, and where the next stretch starts. */
  path(from: RowPlace, limit: number): PathRead {
    if (limit <= 0) return { rows: [], next: from };
    let rows: EntryRow[] = [];
    let place = from;
    for (;;) {
      const part = this.sql.all<EntryRow>(PATH, place.row, place.segment, place.depth, limit - rows.length);
      const lowest = place.depth - part.length + 1;
      if (part[0]?.[10] !== place.depth || part.at(-1)?.[10] !== lowest) throw this.#missingIn(place, part);
      if (rows.length === 0) rows = part;
      else rows.push(...part);
      const { ancestor } = this.segment(place.row, place.segment);
      const start = ancestor === null ? 0 : ancestor.depth + 1;
      if (lowest > start) {
        if (rows.length < limit) throw this.#missing({ ...place, depth: lowest - 1 });
        return { rows, next: { ...place, depth: lowest - 1 } };
      }
      if (ancestor === null || rows.length >= limit) return { rows, next: ancestor };
      place = ancestor;
    }
  }

  /** The node of a depth on the path that ends at a place. */
  above(from: RowPlace, depth: number): RowPlace {
    let place = from;
    while (depth < place.depth) {
      const { ancestor } = this.segment(place.row, place.segment);
      if (ancestor === null || depth > ancestor.depth) return { ...place, depth: Math.max(depth, 0) };
      place = ancestor;
    }
    return place;
  }

  has({ row, segment, depth }: RowPlace): boolean {
    return this.sql.get(NODE, row, segment, depth) !== undefined;
  }

  node(rowPlace: RowPlace): EntryRow {
    const row = this.sql.get<EntryRow>(AT, rowPlace.row, rowPlace.segment, rowPlace.depth);
    if (row === undefined) throw this.#missing(rowPlace);
    return row;
  }

  /** The latest node of a kind on the path that ends at a place. */
  latestOfKind(from: RowPlace, kind: number): RowPlace | null {
    const columns = this.sql.get<[number]>(LATEST_OF_KIND, from.row, from.segment, kind, from.depth);
    if (columns !== undefined) return { ...from, depth: columns[0] };
    const above = this.segment(from.row, from.segment).latest[kind];
    return above === undefined ? null : { row: above[0], segment: above[1], depth: above[2] };
  }

  /** Where the latest node of each setting lies on the path that ends at a place. */
  settings(from: RowPlace): SettingPlaces {
    const places: { [T in SettingType]?: Place } = {};
    for (const type of SETTING_TYPES) {
      const place = this.latestOfKind(from, typeNumber(type) ?? 0);
      if (place !== null) places[type] = this.conversations.placeOf(place);
    }
    return places;
  }

  /** An entry visible to a conversation: its own, or a node of the path it was forked from. */
  entry(conversation: Conversation, id: EntryId): EntryRow | undefined {
    const own = this.sql.get<EntryRow>(BY_ID, conversation.row, id);
    if (own !== undefined || conversation.fork === null) return own;
    const lineage = this.lineage(conversation.row, conversation.fork);
    for (const holder of holding(this.sql, "id", [id], lineage.holders)) {
      const row = this.sql.get<EntryRow>(BY_ID, holder, id);
      if (row !== undefined && onPath(lineage, rowPlaceOf(row))) return row;
    }
    return undefined;
  }

  position(conversation: Conversation, id: EntryId): EntryPosition | undefined {
    const row = this.entry(conversation, id);
    return row && this.positionAt(conversation, row);
  }

  /** The same for a caller that has its row. */
  positionAt(conversation: Conversation, row: EntryRow): EntryPosition {
    const [, id] = row;
    const rowPlace = rowPlaceOf(row);
    if (rowPlace === null) return { id, place: null, tip: false };
    const own = rowPlace.row === conversation.row;
    const tip = own && !this.has({ ...rowPlace, depth: rowPlace.depth + 1 });
    return { id, place: this.conversations.placeOf(rowPlace), tip };
  }

  /** The spot of a place, if the conversation may look there. */
  visible(space: string, conversation: Conversation, place: Place): RowPlace {
    const { segment, depth } = place;
    const own = place.conversation === conversation.head.conversation;
    const row = own ? conversation.row : this.conversations.find(space, place.conversation)?.row;
    const rowPlace = { row: row ?? 0, segment, depth };
    const seen =
      own ||
      (conversation.fork !== null && onPath(this.lineage(conversation.row, conversation.fork), rowPlace));
    if (seen && this.has(rowPlace)) return rowPlace;
    const { leaf } = conversation.head;
    // The head says it is there, so it was lost; any other place may never have been.
    if (seen && leaf.conversation === place.conversation && leaf.segment === segment && leaf.depth === depth)
      throw this.#missing(rowPlace);
    throw nodeNotFound(conversation.head.conversation);
  }

  lineage(row: number, fork: Fork): Lineage {
    const cached = this.#lineages.get(row);
    if (cached !== undefined) return cached;
    const depths = new Map<string, number>();
    const holders = new Set<number>();
    for (
      let place: RowPlace | null = fork.point;
      place !== null;
      place = this.segment(place.row, place.segment).ancestor
    ) {
      depths.set(`${place.row}:${place.segment}`, place.depth);
      holders.add(place.row);
    }
    const levels: { row: number; head: number }[] = [];
    for (let level: Fork | null = fork; level !== null; level = this.#forkOf(level.source))
      levels.push({ row: level.source, head: level.head });
    levels.reverse();
    const hideLevels = levels.filter((level) => this.sql.get(ANY_HIDE, level.row, level.head) !== undefined);
    const lineage = { depths, holders, levels, hideLevels };
    if (this.#lineages.size >= LINEAGES_MAX) this.#lineages.clear();
    this.#lineages.set(row, lineage);
    return lineage;
  }

  /** The first gap in what should be an unbroken stretch towards the root. */
  #missingIn(from: RowPlace, rows: readonly EntryRow[]): LogError {
    const whole = rows.findIndex((row, index) => row[10] !== from.depth - index);
    return this.#missing({ ...from, depth: from.depth - (whole === -1 ? rows.length : whole) });
  }

  #missing({ row, depth }: RowPlace): LogError {
    return nodeMissing(this.conversations.nameOf(row), depth);
  }

  #forkOf(row: number): Fork | null {
    const columns = this.sql.get<[number, number, number, number, number]>(FORK, row);
    return columns === undefined
      ? null
      : {
          source: columns[0],
          head: columns[1],
          point: { row: columns[2], segment: columns[3], depth: columns[4] },
        };
  }
}

function headName(space: string, id: ConversationId): string {
  return `${id} ${space}`; // neither has blanks
}

export function rowPlaceOf(row: EntryRow): RowPlace | null {
  const [segment, depth] = [row[9], row[10]];
  return segment === null || depth === null ? null : { row: row[8], segment, depth };
}

export function onPath(lineage: Lineage, rowPlace: RowPlace | null): boolean {
  return (
    rowPlace !== null && rowPlace.depth <= (lineage.depths.get(`${rowPlace.row}:${rowPlace.segment}`) ?? -1)
  );
}
