import type { Appended, AppendResult, Batch, PlannedEntry, StampedDraft } from "#log/batch";
import { digestedParts, entryDigest } from "#log/batch-links";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { SETTING_TYPES, typeNumber } from "#log/entry-types";
import type { ConversationId, EntryId } from "#log/ids";
import type { Head, EntryPosition, SettingPlaces } from "#log/lineage/head";
import { type TailRead, tailReads, LOOKBACK_NODES } from "#log/plans/boundary";
import { changeHead, runChangesOf } from "#log/plans/head-change";
import { leaseAfter } from "#log/plans/lease";
import {
  type OpenedSegment,
  linkOf,
  parentsOf,
  planAppend,
  refsOf,
  resultOf,
  type WritePlan,
} from "#log/plans/plan-append";
import { sha256, sha256AndBytes } from "#store/sha256";
import { insertBlob } from "#stores/sqlite/tables/blob-rows";
import { type Lookup, rowPlaceOf } from "#stores/sqlite/tables/lookup";
import {
  type Conversation,
  ENTRY_COLUMNS,
  type EntryRow,
  linkBytes,
  summaryText,
} from "#stores/sqlite/tables/rows";
import { writeRuns } from "#stores/sqlite/tables/run-rows";
import type { Sql } from "#stores/sqlite/tables/sql";
import type { GroupCommand } from "#stores/sqlite/thread/messages";
import type { PackedDrafts } from "./pack-drafts.ts";

export type KeyRecord = Appended & { readonly digest: string };

const KEY = "SELECT from_seq, to_seq, last_id, digest FROM keys WHERE conversation = ? AND key = ?";
const BY_SEQ = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq = ?`;
const IDS =
  "SELECT id FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq";
const INSERT_ENTRY = `INSERT INTO entries
  (conversation, seq, id, type, time, v, parent, segment, depth, kind, blob, payload, link, by_owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?)`;
const INSERT_KEY =
  "INSERT INTO keys (conversation, key, digest, from_seq, to_seq, last_id) VALUES (?, ?, ?, ?, ?, ?)";
const INSERT_HIDE =
  "INSERT INTO hides (conversation, depth, seq, holder, target, hidden) VALUES (?, ?, ?, ?, ?, ?)";
const INSERT_SEGMENT = `INSERT INTO segments
  (conversation, segment, ancestor_conversation, ancestor_segment, ancestor_depth, marks) VALUES (?, ?, ?, ?, ?, ?)`;
const UPDATE_HEAD = `UPDATE conversations SET head_seq = ?, owner_seq = ?, epoch = ?, leaf_id = ?, leaf_conversation = ?,
  leaf_segment = ?, leaf_depth = ?, leaf_tip = ?, segments = ?, title = ?, cwd = ?, updated_at = ?, link = ?, owner_link = ?
  WHERE row = ?`;
const UPDATE_HEAD_AND_SUMMARY = UPDATE_HEAD.replace("owner_link = ?", "owner_link = ?, summary = ?");

const END_LEASE = "UPDATE conversations SET lease_writer = NULL, lease_until = NULL WHERE row = ?";

export function appendTx(
  lookup: Lookup,
  command: Extract<GroupCommand, { kind: "append" }>,
  packed: PackedDrafts,
): AppendResult {
  const { space, request, nowMs } = command;
  const conversation = lookup.visibleConversation(space, request.conversation);
  const { head, lease, row } = conversation;
  const seen = request.key === null ? null : findKey(lookup.sql, row, request.key);
  const positions = findPositions(lookup, conversation, request.drafts);
  const tails = new Map<EntryId, readonly Entry[]>();
  for (const read of tailReads(head, request.drafts)) {
    const entries = readCompactionTail(lookup, conversation, read);
    if (entries !== null) tails.set(read.compaction, entries);
  }
  const settings = settingsAt(lookup, conversation, parentsOf(head, request.drafts));
  const plan = planAppend({ head, lease, nowMs, seen, positions, tails, settings }, request);
  if (plan.kind === "refused") throw plan.error;
  if (plan.kind === "deduped") return { ...plan.result, ids: idsOf(lookup.sql, row, plan.result) };
  const previous = head.link ?? lastDigest(lookup, conversation);
  const next = writePlan(lookup, { row, space, head, previous, plan, batch: request, packed });
  const after = leaseAfter(lease, request.author);
  if (after !== lease) lookup.sql.run(END_LEASE, row);
  lookup.keepHead(space, { ...conversation, head: next, lease: after });
  return resultOf(plan, next);
}

/** What the first link continues in a log from before there were links. */
function lastDigest(lookup: Lookup, { row, head }: Conversation): string {
  const last = lookup.sql.get<EntryRow>(BY_SEQ, row, head.headSeq);
  return last === undefined ? "" : entryDigest(sha256, lookup.stored(last));
}

export function findKey(sql: Sql, row: number, key: string): KeyRecord | null {
  const columns = sql.get<[number, number, EntryId, string]>(KEY, row, key);
  return columns === undefined
    ? null
    : { fromSeq: columns[0], toSeq: columns[1], lastId: columns[2], digest: columns[3] };
}

export function idsOf(sql: Sql, row: number, range: Appended): readonly EntryId[] {
  return sql.all<[EntryId]>(IDS, row, range.fromSeq, range.toSeq).map(([id]) => id);
}

function findPositions(
  lookup: Lookup,
  conversation: Conversation,
  drafts: readonly StampedDraft[],
): ReadonlyMap<EntryId, EntryPosition> {
  const positions = new Map<EntryId, EntryPosition>();
  for (const id of refsOf(drafts)) {
    const position = lookup.position(conversation, id);
    if (position !== undefined) positions.set(id, position);
  }
  return positions;
}

/** Where the settings lie that hold at nodes which a new segment may grow from. */
function settingsAt(
  lookup: Lookup,
  conversation: Conversation,
  parents: ReadonlySet<EntryId>,
): ReadonlyMap<EntryId, SettingPlaces> {
  const settings = new Map<EntryId, SettingPlaces>();
  for (const id of parents) {
    const entry = lookup.entry(conversation, id);
    const place = entry && rowPlaceOf(entry);
    if (place) settings.set(id, lookup.settings(place));
  }
  return settings;
}

/** The nodes a compaction in the batch is judged by; nothing is read when its first kept entry is off the path. */
function readCompactionTail(
  lookup: Lookup,
  conversation: Conversation,
  read: TailRead,
): readonly Entry[] | null {
  const fromRow = lookup.entry(conversation, read.from);
  const untilRow = read.firstKept === null ? fromRow : lookup.entry(conversation, read.firstKept);
  const from = fromRow && rowPlaceOf(fromRow);
  const until = untilRow && rowPlaceOf(untilRow);
  if (!from || !until || until.depth > from.depth) return null;
  let place = from;
  while (place.row !== until.row || place.segment !== until.segment) {
    const { ancestor } = lookup.segment(place.row, place.segment);
    if (ancestor === null || ancestor.depth < until.depth) return null;
    place = ancestor;
  }
  const { rows } = lookup.path(from, from.depth - until.depth + 1 + LOOKBACK_NODES);
  return rows.map((row) => decodeEntry(lookup.stored(row)));
}

export interface PlanWrite {
  readonly row: number;
  readonly space: string;
  /** The head that the plan is carried out on. */
  readonly head: Head;
  /** The link that the batch's own link continues. */
  readonly previous: string;
  readonly plan: WritePlan;
  readonly batch: Pick<Batch, "key" | "digest" | "drafts">;
  readonly packed: PackedDrafts;
}

/** Carries a plan out, inside the transaction it was made in. Returns the head as it is then. */
export function writePlan(lookup: Lookup, write: PlanWrite): Head {
  const { row, plan, batch, head } = write;
  const { sql } = lookup;
  const link = insertEntries(lookup, write);
  for (const opened of plan.segments) insertSegment(lookup, write, opened);
  const next = changeHead(head, plan.change, link);
  if (batch.key !== null) {
    const { fromSeq, toSeq, lastId } = resultOf(plan, next);
    sql.run(INSERT_KEY, row, batch.key, batch.digest, fromSeq, toSeq, lastId);
  }
  const runs = runChangesOf(head, plan.change);
  if (runs !== null) writeRuns(sql, write, runs);
  updateHead(lookup, write, next);
  return next;
}

/** Writes the entries, and with the last of them the link of the batch, which it returns. */
function insertEntries(lookup: Lookup, write: PlanWrite): string {
  const { plan, head, previous } = write;
  const digests: string[] = [];
  let link = "";
  for (const entry of plan.entries) {
    const packed = write.packed[entry.offset];
    // The hash and the row take the same bytes: a text is encoded once, and not held until its turn comes.
    const hashed = packed === undefined ? sha256AndBytes(digestedParts(entry)) : null;
    digests.push(hashed?.hash ?? packed?.digest ?? "");
    const isLast = entry.offset === plan.entries.length - 1;
    if (isLast) link = linkOf(sha256, plan, { headSeq: head.headSeq, previous, digests });
    insertEntry(lookup.sql, write, entry, {
      payload: hashed?.bytes ?? null,
      link: isLast ? linkBytes(link) : null,
    });
    if (entry.type === "hide") insertHide(lookup, write, entry);
  }
  return link;
}

interface RowBytes {
  /** In UTF-8; null where it lies in a blob. */
  readonly payload: Uint8Array | null;
  /** Of its batch, when it is the last of it. */
  readonly link: Uint8Array | null;
}

function insertEntry(sql: Sql, write: PlanWrite, entry: PlannedEntry, { payload, link }: RowBytes): void {
  const { row, head, plan } = write;
  const { place } = entry;
  const blob = write.packed[entry.offset]?.blob;
  const seq = head.headSeq + 1 + entry.offset;
  if (blob !== undefined) insertBlob(sql, row, seq, blob);
  sql.run(
    INSERT_ENTRY,
    row,
    seq,
    entry.id,
    entry.type,
    entry.time,
    entry.v,
    entry.parentId,
    place === null ? null : place.segment,
    place === null ? null : place.depth,
    typeNumber(entry.type),
    blob === undefined ? null : blob.digest,
    payload,
    link,
    link === null ? null : Number(plan.change.byOwner),
  );
}

function insertHide(lookup: Lookup, write: PlanWrite, entry: PlannedEntry): void {
  const place = entry.target?.place;
  if (!place || entry.target === null) return;
  const hidden = write.batch.drafts[entry.offset]?.draft.body["hidden"] === false ? 0 : 1;
  const holder = rowOf(lookup, write, place.conversation);
  const seq = write.head.headSeq + 1 + entry.offset;
  lookup.sql.run(INSERT_HIDE, write.row, place.depth, seq, holder, entry.target.id, hidden);
}

function insertSegment(
  lookup: Lookup,
  write: PlanWrite,
  { segment, ancestor, settings }: OpenedSegment,
): void {
  const marks: { [number: number]: readonly number[] } = {};
  for (const type of SETTING_TYPES) {
    const place = settings[type];
    if (place !== undefined)
      marks[typeNumber(type) ?? 0] = [rowOf(lookup, write, place.conversation), place.segment, place.depth];
  }
  const from =
    ancestor === null
      ? [null, null, null]
      : [rowOf(lookup, write, ancestor.conversation), ancestor.segment, ancestor.depth];
  lookup.sql.run(INSERT_SEGMENT, write.row, segment, ...from, JSON.stringify(marks));
}

function rowOf(lookup: Lookup, write: PlanWrite, conversation: ConversationId): number {
  if (conversation === write.head.conversation) return write.row;
  return lookup.conversations.rowOf(write.space, conversation) ?? 0;
}

function updateHead(lookup: Lookup, write: PlanWrite, head: Head): void {
  const { leaf } = head;
  const leafRow = leaf.conversation === head.conversation ? null : rowOf(lookup, write, leaf.conversation);
  const link = linkBytes(head.link);
  // Most heads have the summary of the one before: it is neither written as text nor bound again.
  const isUnchanged = head.summary === write.head.summary && write.head.headSeq > 0;
  lookup.sql.run(
    isUnchanged ? UPDATE_HEAD : UPDATE_HEAD_AND_SUMMARY,
    head.headSeq,
    head.ownerSeq,
    head.epoch,
    leaf.id,
    leafRow,
    leaf.segment,
    leaf.depth,
    leaf.tip ? 1 : 0,
    head.segments,
    head.title,
    head.cwd,
    head.updatedAt,
    link,
    head.ownerLink === head.link ? link : linkBytes(head.ownerLink),
    ...(isUnchanged ? [] : [summaryText(head.summary)]),
    write.row,
  );
}
