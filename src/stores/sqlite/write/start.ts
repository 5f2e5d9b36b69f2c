import { planAppend } from "#log/plans/plan-append";
import type { AppendResult, Batch } from "#log/batch";
import { parseBody } from "#log/body";
import { idTaken } from "#log/plans/plan-erase";
import { LogError } from "#log/errors";
import { originBody, planFork } from "#log/plans/fork-point";
import { emptyHead, type ForkPoint } from "#log/lineage/head";
import type { ConversationId } from "#log/ids";
import type { ForkRequest, HeadView } from "#store/store";
import type { GroupCommand } from "#stores/sqlite/thread/messages";
import type { Lookup } from "#stores/sqlite/tables/lookup";
import type { RowPlace } from "#stores/sqlite/tables/rows";
import { findKey, idsOf, type PackedDrafts, writePlan } from "./append.ts";

const INSERT = `INSERT INTO conversations (space, id, listed, head_seq, owner_seq, epoch, leaf_id, leaf_conversation, leaf_segment,
  leaf_depth, leaf_tip, segments, source, source_head, origin_entry, origin_conversation, origin_segment, origin_depth, created_at, updated_at)
  VALUES (?, ?, 1, 0, 0, 0, '', NULL, 0, -1, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface Start {
  readonly space: string;
  readonly conversation: ConversationId;
  readonly batch: Omit<Batch, "author">;
  readonly packed: PackedDrafts;
  readonly fork: { readonly source: number; readonly point: ForkPoint; readonly at: RowPlace } | null;
}

export function createTx(
  lookup: Lookup,
  command: Extract<GroupCommand, { kind: "create" }>,
  packed: PackedDrafts,
): AppendResult {
  const { space, request } = command;
  if (request.drafts[0]?.draft.body["origin"] !== undefined) {
    throw new LogError("invalid_request", "A conversation with an origin is made by fork");
  }
  return startLog(lookup, { space, conversation: request.conversation, batch: request, packed, fork: null });
}

/** Writes the first batch of a log, or finds that the same request wrote it before. */
function startLog(lookup: Lookup, start: Start): AppendResult {
  const { space, conversation, batch, fork } = start;
  const { sql } = lookup;
  const existing = lookup.conversations.find(space, conversation);
  if (existing !== undefined) {
    const seen = batch.key === null || !existing.listed ? null : findKey(sql, existing.row, batch.key);
    if (seen === null) throw idTaken(conversation, !existing.listed);
    const { digest, ...range } = seen;
    return { ...range, ids: idsOf(sql, existing.row, seen), deduped: true, differs: digest !== batch.digest };
  }
  const time = batch.drafts[0]?.time ?? "";
  const head = emptyHead(conversation, fork?.point ?? null, time);
  const state = { head, lease: null, nowMs: 0, seen: null, known: new Map(), kept: new Map() };
  const plan = planAppend(state, { ...batch, author: { kind: "once" } });
  if (plan.kind === "deduped") throw idTaken(conversation);
  const point =
    fork === null ? [null, null, null, null, null, null] : pointColumns(fork.source, fork.point, fork.at);
  const row = sql.run(INSERT, space, conversation, ...point, time, time);
  writePlan(lookup, { row, space, plan, batch, packed: start.packed });
  return plan.result;
}

function pointColumns(source: number, point: ForkPoint, at: RowPlace): readonly (number | string | null)[] {
  return [source, point.head, point.entry, at.row, at.segment, at.depth];
}

/** One row and one entry, whatever the size of the source: a fork points at its source instead of copying it. */
export function forkTx(
  lookup: Lookup,
  space: string,
  request: ForkRequest,
): HeadView & { readonly deduped: boolean } {
  const { source, conversation, key } = request;
  const from = lookup.listed(space, source);
  const at = lookup.known(from, request.entry ?? from.head.leaf.id);
  if (at === undefined) {
    throw new LogError("entry_not_found", `Conversation ${source} has no entry ${request.entry}`, {
      conversation: source,
    });
  }
  const point = planFork(from.head, at);
  const holder =
    point.conversation === source
      ? from.row
      : (lookup.conversations.find(space, point.conversation)?.row ?? 0);
  const drafts = [{ draft: parseBody(originBody(point, request.cwd)), id: request.id, time: request.time }];
  // The source may grow between a fork and its retry, so the digest stands for what was asked, not for the cut.
  const digest = JSON.stringify([source, request.entry ?? null, request.cwd ?? null]);
  const result = startLog(lookup, {
    space,
    conversation,
    batch: { drafts, digest, key },
    packed: [],
    fork: { source: from.row, point, at: { row: holder, segment: point.segment, depth: point.depth } },
  });
  if (result.differs) throw idTaken(conversation);
  const made = lookup.listed(space, conversation);
  return { ...made.head, lease: made.lease, deduped: result.deduped };
}
