import type { EntryType, StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import type { ForkPoint, Head, Lease, Place } from "#log/lineage/head";
import { leaseAt } from "#log/plans/lease";
import { readStoredSummary, storeSummary, type StoredSummary, type Summary } from "#log/summary";
import type { HeadView } from "#store/requests";
import { readJson } from "#log/json/read-json";
import { createHash } from "node:crypto";

/** A conversation's row as PostgreSQL writes it as JSON, so that it comes whole with whatever else is asked. */
export interface StateRow {
  readonly space: string;
  readonly id: ConversationId;
  readonly born: string;
  readonly listed: boolean;
  readonly head_seq: number;
  readonly owner_seq: number;
  readonly epoch: number;
  readonly link: string | null;
  readonly owner_link: string | null;
  readonly leaf_id: EntryId;
  readonly leaf_conversation: ConversationId | null;
  readonly leaf_segment: number;
  readonly leaf_depth: number;
  readonly leaf_tip: boolean;
  readonly segments: number;
  readonly source: ConversationId | null;
  readonly source_head: number | null;
  readonly origin_entry: EntryId | null;
  readonly origin_conversation: ConversationId | null;
  readonly origin_segment: number | null;
  readonly origin_depth: number | null;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly lease_writer: string | null;
  readonly lease_until: number | null;
  readonly summary: string | null;
  readonly summary_seq: number;
  readonly unlisted: boolean;
}

/** A conversation as its row says. */
export interface State {
  readonly head: Head;
  readonly lease: Lease | null;
  readonly listed: boolean;
  /** Another one for each conversation that ever had the id. */
  readonly born: string;
  /** The entry that last changed the summary. */
  readonly summarySeq: number;
}

export function readState(text: string): State {
  const row = readJson(text) as unknown as StateRow;
  const leaf = {
    conversation: row.leaf_conversation ?? row.id,
    segment: row.leaf_segment,
    depth: row.leaf_depth,
    id: row.leaf_id,
    tip: row.leaf_tip,
  };
  const head: Head = {
    conversation: row.id,
    headSeq: safe(row.head_seq),
    ownerSeq: safe(row.owner_seq),
    epoch: safe(row.epoch),
    link: row.link,
    ownerLink: row.owner_link,
    leaf,
    segments: row.segments,
    origin: originOf(row),
    title: textIn(row.title),
    cwd: textIn(row.cwd),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    summary: summaryIn(row.summary),
  };
  const { lease_writer: writer, lease_until: untilMs } = row;
  const lease = writer === null || untilMs === null ? null : { writer: unescapeText(writer), untilMs };
  return { head, lease, listed: row.listed, born: row.born, summarySeq: row.summary_seq };
}

/** `nowMs`: what the clock of the database said with it, or a test's. */
export function headView({ head, lease }: State, nowMs: number): HeadView {
  return { ...head, lease: leaseAt(lease, nowMs) };
}

function originOf(row: StateRow): ForkPoint | null {
  const { source, source_head: head, origin_entry: entry, origin_conversation: conversation } = row;
  const { origin_segment: segment, origin_depth: depth } = row;
  if (source === null || head === null || entry === null || conversation === null) return null;
  if (segment === null || depth === null) return null;
  return { source, head, entry, conversation, segment, depth };
}

/** The row of a log that begins. */
export function startRow(space: string, born: string, head: Head): StateRow {
  const { leaf, origin, conversation, summary } = head;
  return {
    space,
    id: conversation,
    born,
    listed: true,
    head_seq: head.headSeq,
    owner_seq: head.ownerSeq,
    epoch: head.epoch,
    link: head.link,
    owner_link: head.ownerLink,
    leaf_id: leaf.id,
    leaf_conversation: leaf.conversation === conversation ? null : leaf.conversation,
    leaf_segment: leaf.segment,
    leaf_depth: leaf.depth,
    leaf_tip: leaf.tip,
    segments: head.segments,
    source: origin?.source ?? null,
    source_head: origin?.head ?? null,
    origin_entry: origin?.entry ?? null,
    origin_conversation: origin?.conversation ?? null,
    origin_segment: origin?.segment ?? null,
    origin_depth: origin?.depth ?? null,
    title: textOut(head.title),
    cwd: textOut(head.cwd),
    created_at: head.createdAt,
    updated_at: head.updatedAt,
    lease_writer: null,
    lease_until: null,
    summary: summaryOut(summary),
    summary_seq: head.headSeq,
    unlisted: summary?.unlisted === true,
  };
}

function safe(number: number): number {
  if (Number.isSafeInteger(number)) return number;
  throw new LogError("damaged", `${number} is larger than the largest safe integer`, { number });
}

function textIn(text: string | null): string | null {
  return text === null ? null : unescapeText(text);
}

export function textOut(text: string | null): string | null {
  return text === null ? null : escapeText(text);
}

function summaryIn(text: string | null): Summary | null {
  return text === null ? null : readStoredSummary(readJson(text) as StoredSummary);
}

export function summaryOut(summary: Summary | null): string | null {
  return summary === null ? null : JSON.stringify(storeSummary(summary));
}

/** A row of an answer that has several parts. */
export type Part = readonly [
  part: string,
  data: string | null,
  v: number | null,
  id: EntryId | null,
  seq: number | null,
  parent: EntryId | null,
  time: string | null,
  type: string | null,
  payload: string | null,
  conversation: ConversationId | null,
  segment: number | null,
  depth: number | null,
  nowMs?: number | null,
];

export function partsOf(parts: readonly Part[], name: string): readonly Part[] {
  return parts.filter(([part]) => part === name);
}

/** The conversation of an answer; null where the space has none of that name. */
export function stateIn(parts: readonly Part[]): State | null {
  const text = parts.find(([part]) => part === "head")?.[1];
  return text === null || text === undefined ? null : readState(text);
}

export const ENTRY_COLUMNS = "v, id, seq, parent, time, type, payload";
export type EntryRow = readonly [
  v: number,
  id: EntryId,
  seq: number,
  parent: EntryId | null,
  time: string,
  type: EntryType,
  payload: string,
];

export function toStored([v, id, seq, parentId, time, type, payload]: EntryRow): StoredEntry {
  return { v, id, seq, parentId, time, type, payload };
}

export function storedPart(part: Part): StoredEntry {
  return toStored(part.slice(2, 9) as unknown as EntryRow);
}

export function placeIn([, , , , , , , , , conversation, segment, depth]: Part): Place | null {
  return conversation === null || segment === null || depth === null
    ? null
    : { conversation, segment, depth };
}

const UNSTORABLE = /[\\\0]|\p{Surrogate}/gu;
const ESCAPED = /\\(\\|0|u[0-9a-f]{4})/g;

/** Text outside of JSON as a column can hold it: PostgreSQL has no NUL, and UTF-8 no half of a character. */
export function escapeText(text: string): string {
  return text.replaceAll(UNSTORABLE, (letter) => {
    if (letter === "\\") return "\\\\";
    return letter === "\0" ? "\\0" : `\\u${letter.charCodeAt(0).toString(16)}`;
  });
}

function unescapeText(text: string): string {
  return text.replaceAll(ESCAPED, (_, code: string) => {
    if (code === "\\") return "\\";
    return code === "0" ? "\0" : String.fromCharCode(Number.parseInt(code.slice(1), 16));
  });
}

/** Stands for a name of any length in an index, which bounds what it takes. */
export function nameDigest(name: string): string {
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}
