import type { AppendResult } from "#log/batch";
import type { ForkPoint, Head } from "#log/lineage/head";
import { summaryAfter } from "#log/plans/head-change";
import { leaseAt } from "#log/plans/lease";
import { resultOf } from "#log/plans/plan-append";
import { type ForkRequest, forkStart, planStart, type Start } from "#log/plans/plan-start";
import { sha256 } from "#store/sha256";
import type { HeadView } from "#store/requests";
import type { GroupCommand } from "#stores/sqlite/thread/messages";
import type { Lookup } from "#stores/sqlite/tables/lookup";
import type { RowPlace } from "#stores/sqlite/tables/rows";
import { findKey, idsOf, writePlan } from "./append-batch.ts";
import type { PackedDrafts } from "./pack-drafts.ts";

const INSERT = `INSERT INTO conversations (space, id, listed, head_seq, owner_seq, epoch, leaf_id, leaf_conversation, leaf_segment,
  leaf_depth, leaf_tip, segments, source, source_head, origin_entry, origin_conversation, origin_segment, origin_depth, created_at, updated_at, unlisted)
  VALUES (?, ?, 1, 0, 0, 0, '', NULL, 0, -1, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface StartInput {
  readonly space: string;
  readonly start: Start;
  readonly packed: PackedDrafts;
  readonly fork: { readonly source: number; readonly point: ForkPoint; readonly at: RowPlace } | null;
}

export function createTx(
  lookup: Lookup,
  command: Extract<GroupCommand, { kind: "create" }>,
  packed: PackedDrafts,
): AppendResult {
  const { space, request } = command;
  const start = { conversation: request.conversation, origin: null, batch: request, previous: "" };
  return startLog(lookup, { space, start, packed, fork: null }).result;
}

/** Writes the first batch of a log, or finds that the same request wrote it before; then there is no new head. */
function startLog(
  lookup: Lookup,
  { space, start, packed, fork }: StartInput,
): { readonly result: AppendResult; readonly head: Head | null } {
  const { conversation, batch } = start;
  const { sql } = lookup;
  const earlier = lookup.conversations.find(space, conversation);
  const seen = earlier === undefined || batch.key === null ? null : findKey(sql, earlier.row, batch.key);
  const existing =
    earlier === undefined ? null : { listed: earlier.listed, seen, ownerLink: earlier.head.ownerLink };
  const planned = planStart(existing, start);
  if (planned.kind === "refused") throw planned.error;
  if (planned.kind === "deduped") {
    const ids = earlier === undefined ? [] : idsOf(sql, earlier.row, planned.result);
    return { result: { ...planned.result, ids }, head: null };
  }
  const { empty, plan } = planned;
  const point =
    fork === null ? [null, null, null, null, null, null] : pointColumns(fork.source, fork.point, fork.at);
  const unlisted = summaryAfter(empty, plan.change)?.unlisted === true ? 1 : 0;
  const row = sql.run(INSERT, space, conversation, ...point, empty.createdAt, empty.updatedAt, unlisted);
  const { previous } = start;
  const head = writePlan(lookup, { row, space, head: empty, previous, plan, batch, packed });
  return { result: resultOf(plan, head), head };
}

function pointColumns(source: number, point: ForkPoint, at: RowPlace): readonly (number | string | null)[] {
  return [source, point.head, point.entry, at.row, at.segment, at.depth];
}

/** One row and one entry, whatever the size of the source: a fork points at its source instead of copying it. */
export function forkTx(
  lookup: Lookup,
  space: string,
  { request, nowMs }: { readonly request: ForkRequest; readonly nowMs: number },
): HeadView & { readonly deduped: boolean } {
  const { source, conversation } = request;
  const from = lookup.visibleConversation(space, source);
  const id = request.entry ?? from.head.leaf.id;
  const row = lookup.entry(from, id);
  const node = row && lookup.stored(row);
  const at = row && lookup.knownAt(from, row);
  const start = forkStart(sha256, { head: from.head, at, node }, request);
  const { origin: point } = start;
  const holder =
    point.conversation === source ? from.row : (lookup.conversations.rowOf(space, point.conversation) ?? 0);
  const { result, head } = startLog(lookup, {
    space,
    start,
    packed: [],
    fork: { source: from.row, point, at: { row: holder, segment: point.segment, depth: point.depth } },
  });
  const { deduped } = result;
  if (head !== null) return { ...head, lease: null, deduped };
  const made = lookup.visibleConversation(space, conversation);
  return { ...made.head, lease: leaseAt(made.lease, nowMs), deduped };
}
