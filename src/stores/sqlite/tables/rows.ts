import type { EntryType } from "#log/entry";
import { LogError } from "#log/errors";
import type { ForkPoint, Head, Lease, Place } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { readStoredSummary, storeSummary, type StoredSummary, type Summary } from "#log/summary";
import type { Sql } from "./sql.ts";
import { readJson } from "#log/json/read-json";

/** The columns of an entry, in the order of EntryRow. */
export const ENTRY_COLUMNS = "v, id, seq, parent, time, type, payload, blob, conversation, segment, depth";
export type EntryRow = readonly [
  v: number,
  id: EntryId,
  seq: number,
  parent: EntryId | null,
  time: string,
  type: EntryType,
  payload: string | null,
  blob: string | null,
  conversation: number,
  segment: number | null,
  depth: number | null,
];

/** A place with the conversation as its row, the way the tables name it. */
export interface RowPlace {
  readonly row: number;
  readonly segment: number;
  readonly depth: number;
}

const CONVERSATION_COLUMNS = `row, id, head_seq, owner_seq, epoch, leaf_id, leaf_conversation, leaf_segment, leaf_depth, leaf_tip,
  segments, source, source_head, origin_entry, origin_conversation, origin_segment, origin_depth,
  title, cwd, created_at, updated_at, lease_writer, lease_until, listed,
  lower(hex(link)), lower(hex(owner_link)), summary`; // links as text: a blob costs the reader four times as much

type ConversationColumns = readonly [
  row: number,
  id: ConversationId,
  headSeq: number,
  ownerSeq: number,
  epoch: number,
  leafId: EntryId,
  leafConversation: number | null,
  leafSegment: number,
  leafDepth: number,
  leafTip: number,
  segments: number,
  source: number | null,
  sourceHead: number | null,
  originEntry: EntryId | null,
  originConversation: number | null,
  originSegment: number | null,
  originDepth: number | null,
  title: string | null,
  cwd: string | null,
  createdAt: string,
  updatedAt: string,
  leaseWriter: string | null,
  leaseUntil: number | null,
  listed: number,
  link: string | null,
  ownerLink: string | null,
  summary: string | null,
];

/** A conversation as its row says: what the rules know of it, and where its fork point lies in the tables. */
export interface Conversation {
  readonly row: number;
  readonly listed: boolean;
  readonly head: Head;
  readonly lease: Lease | null;
  readonly fork: Fork | null;
}

/** The part of a conversation's row about its source. */
export interface Fork {
  readonly source: number;
  readonly head: number;
  readonly point: RowPlace;
}

const SELECT = `SELECT ${CONVERSATION_COLUMNS} FROM conversations`;
const BY_ID = `${SELECT} WHERE space = ? AND id = ?`;
const BY_ROW = `${SELECT} WHERE row = ?`;
const ROW_OF = "SELECT row FROM conversations WHERE space = ? AND id = ?";
const NO_SUMMARY = { text: null, summary: null };
const ID_OF = "SELECT id FROM conversations WHERE row = ?";
const NAMES_MAX = 10_000; // remembered names; dropped together when there are more

/** Finds conversations, and the names of those that rows point at. */
export class Conversations {
  readonly #sql: Sql;
  readonly #names = new Map<number, ConversationId>();
  /** As it was last read: a turn asks for one head again and again, and mostly it says the same. */
  #summary: { readonly text: string | null; readonly summary: Summary | null } = NO_SUMMARY;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Unlisted ones too: the caller decides whether they exist for it. */
  find(space: string, id: string): Conversation | undefined {
    const columns = this.#sql.get<ConversationColumns>(BY_ID, space, id);
    return columns && this.#conversation(columns);
  }

  /** The row alone, where nothing else is asked for. */
  rowOf(space: string, id: string): number | undefined {
    return this.#sql.get<[number]>(ROW_OF, space, id)?.[0];
  }

  inRow(row: number): Conversation | undefined {
    const columns = this.#sql.get<ConversationColumns>(BY_ROW, row);
    return columns && this.#conversation(columns);
  }

  /** Rows are never used twice, so a name once read stays true, but for one read in a transaction that then failed. */
  nameOf(row: number): ConversationId {
    const cached = this.#names.get(row);
    if (cached !== undefined) return cached;
    const name = this.#sql.get<[ConversationId]>(ID_OF, row)?.[0] ?? null;
    if (name === null) throw new LogError("damaged", `Conversation row ${row} is missing`, { row });
    if (this.#names.size >= NAMES_MAX) this.#names.clear();
    this.#names.set(row, name);
    return name;
  }

  forget(): void {
    this.#names.clear();
  }

  placeOf(rowPlace: RowPlace): Place {
    return { conversation: this.nameOf(rowPlace.row), segment: rowPlace.segment, depth: rowPlace.depth };
  }

  #conversation(columns: ConversationColumns): Conversation {
    const [
      row,
      conversation,
      headSeq,
      ownerSeq,
      epoch,
      leafId,
      leafRow,
      leafSegment,
      leafDepth,
      leafTip,
      segments,
    ] = columns;
    const [title, cwd, createdAt, updatedAt, leaseWriter, leaseUntil, listed, link, ownerLink, summary] =
      columns.slice(17) as [
        string | null,
        string | null,
        string,
        string,
        string | null,
        number | null,
        number,
        string | null,
        string | null,
        string | null,
      ];
    const fork = forkOf(columns);
    const leaf = {
      conversation: leafRow === null ? conversation : this.nameOf(leafRow),
      segment: leafSegment,
      depth: leafDepth,
      id: leafId,
      tip: leafTip === 1,
    };
    const origin = this.#origin(fork, columns[13]);
    const head = {
      conversation,
      headSeq,
      ownerSeq,
      epoch,
      link: link || null, // none is an empty text in hex
      ownerLink: ownerLink || null,
      leaf,
      segments,
      origin,
      title,
      cwd,
      createdAt,
      updatedAt,
      summary: this.#summaryIn(summary),
    };
    const lease =
      leaseWriter === null || leaseUntil === null ? null : { writer: leaseWriter, untilMs: leaseUntil };
    return { row, listed: listed === 1, head, lease, fork };
  }

  #summaryIn(text: string | null): Summary | null {
    if (text !== this.#summary.text) this.#summary = { text, summary: summaryIn(text) };
    return this.#summary.summary;
  }

  #origin(fork: Fork | null, entry: EntryId | null): ForkPoint | null {
    if (fork === null || entry === null) return null;
    return { ...this.placeOf(fork.point), source: this.nameOf(fork.source), entry, head: fork.head };
  }
}

function forkOf(columns: ConversationColumns): Fork | null {
  const [source, head, , row, segment, depth] = columns.slice(11, 17) as (number | null)[];
  if (source == null || head == null || row == null || segment == null || depth == null) return null;
  return { source, head, point: { row, segment, depth } };
}

/** A link as the tables keep it. */
export function linkBytes(link: string | null): Uint8Array | null {
  return link === null ? null : Buffer.from(link, "hex");
}

export function linkText(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString("hex");
}

/** What appends kept of a conversation; null: not counted. */
export function summaryIn(text: string | null): Summary | null {
  return text === null ? null : readStoredSummary(readJson(text) as StoredSummary);
}

export function summaryText(summary: Summary | null): string | null {
  return summary === null ? null : JSON.stringify(storeSummary(summary));
}
