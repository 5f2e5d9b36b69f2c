import { insertBlob, pack, type Packed } from "#stores/sqlite/tables/blob-rows";
import type { GroupCommand, Outcome } from "#stores/sqlite/thread/messages";
import { toLogError, toWire } from "#stores/sqlite/sqlite-errors";
import type { Lookup } from "#stores/sqlite/tables/lookup";
import { appendTx, findKey, idsOf, writePlan } from "./append-batch.ts";
import { packDrafts, type PackedDrafts } from "./pack-drafts.ts";
import type { Connection } from "./write-connection.ts";
import { leaseAt, planAcquire, planRenew } from "#log/plans/lease";
import type { HeadView } from "#store/requests";
import type { AppendResult } from "#log/batch";
import type { ForkPoint, Head } from "#log/lineage/head";
import { summaryAfter } from "#log/plans/head-change";
import { resultOf } from "#log/plans/plan-append";
import { type ForkRequest, forkStart, planStart, type Start } from "#log/plans/plan-start";
import { sha256 } from "#store/sha256";
import type { RowPlace } from "#stores/sqlite/tables/rows";

/** Thrown when a command failed after it had begun to write, to begin the group again with savepoints. */
class HalfWritten extends Error {}

/**
 * Commits a group of commands together: one transaction, one sync. A command that the rules refuse has written nothing,
 * so it takes nothing else with it. What comes in while the group runs (`late`) shares its sync. An outcome is known
 * only when the commit has returned.
 */
export function runGroup(
  connection: Connection,
  lookup: Lookup,
  first: readonly GroupCommand[],
  late: () => readonly GroupCommand[],
): readonly Outcome[] {
  const commands = [...first];
  try {
    return commit(connection, lookup, { commands, late, savepoints: false });
  } catch (error) {
    // What the failed transaction had made visible to its own lookups is not there.
    lookup.forget();
    const failed = error instanceof HalfWritten ? null : error;
    if (failed !== null) return failAll(connection, commands, failed);
  }
  try {
    return commit(connection, lookup, { commands, late: () => [], savepoints: true });
  } catch (error) {
    lookup.forget();
    return failAll(connection, commands, error);
  }
}

function failAll(
  connection: Connection,
  commands: readonly GroupCommand[],
  error: unknown,
): readonly Outcome[] {
  const failed: Outcome = { ok: false, error: toWire(error, connection.path) };
  return commands.map(() => failed);
}

interface Group {
  /** Grows by those that join late. */
  readonly commands: GroupCommand[];
  readonly late: () => readonly GroupCommand[];
  /** Savepoints make a command's failure its own, and cost an eighth of the work: they come out when one is needed. */
  readonly savepoints: boolean;
}

function commit(connection: Connection, lookup: Lookup, group: Group): readonly Outcome[] {
  const { commands } = group;
  const full = commands.some((command) => command.durability === "full");
  const packed = commands.map((command) => packCommand(command));
  const runOne = group.savepoints ? runSaved : runPlain;
  return connection.transaction(full, () => {
    const outcomes: Outcome[] = [];
    while (outcomes.length < commands.length) {
      for (const command of commands.slice(outcomes.length)) {
        const parts = packed[outcomes.length] ?? packCommand(command);
        outcomes.push(runOne(connection, lookup, () => runCommand(lookup, command, parts)));
      }
      // Only a synced group may be joined: a late command may need the sync.
      if (full) commands.push(...group.late());
    }
    return outcomes;
  });
}

function runPlain(connection: Connection, _lookup: Lookup, work: () => unknown): Outcome {
  const { sql, path } = connection;
  const before = sql.writes;
  try {
    return { ok: true, value: work() };
  } catch (error) {
    if (sql.writes !== before) throw new HalfWritten();
    return { ok: false, error: toWire(error, path) };
  }
}

function runSaved(connection: Connection, lookup: Lookup, work: () => unknown): Outcome {
  const { sql, path } = connection;
  sql.run("SAVEPOINT one");
  try {
    const value = work();
    sql.run("RELEASE one");
    return { ok: true, value };
  } catch (error) {
    // A full disk may have ended the whole transaction already, so that it holds no work.
    if (!sql.db.isTransaction) throw toLogError(error, path);
    sql.run("ROLLBACK TO one");
    sql.run("RELEASE one");
    lookup.forget();
    return { ok: false, error: toWire(error, path) };
  }
}

/** Compressing is slow, so it happens before other processes are kept waiting. */
function packCommand(command: GroupCommand): PackedDrafts {
  if (command.kind === "blob") return [{ digest: "", blob: pack(command.request.bytes) }];
  return command.kind === "append" || command.kind === "create" ? packDrafts(command.request.drafts) : [];
}

function runCommand(lookup: Lookup, command: GroupCommand, packed: PackedDrafts): unknown {
  switch (command.kind) {
    case "create":
      return createTx(lookup, command, packed);
    case "fork":
      return forkTx(lookup, command.space, command);
    case "append":
      return appendTx(lookup, command, packed);
    case "acquire":
    case "renew":
      return leaseTx(lookup, command);
    case "blob":
      return putBlobTx(lookup, command, packed[0]?.blob);
  }
}

function putBlobTx(
  lookup: Lookup,
  command: Extract<GroupCommand, { kind: "blob" }>,
  packed: Packed | undefined,
): string {
  const { row, head } = lookup.visibleConversation(command.space, command.request.conversation);
  if (packed === undefined) return "";
  insertBlob(lookup.sql, row, head.headSeq, packed);
  return packed.digest;
}

const UPDATE = "UPDATE conversations SET epoch = ?, lease_writer = ?, lease_until = ? WHERE row = ?";

function leaseTx(lookup: Lookup, command: Extract<GroupCommand, { kind: "acquire" | "renew" }>): HeadView {
  const { space, nowMs } = command;
  const conversation = lookup.visibleConversation(space, command.request.conversation);
  const { epoch, lease } =
    command.kind === "acquire"
      ? planAcquire(conversation.head, conversation.lease, { ...command.request, nowMs })
      : planRenew(conversation.head, conversation.lease, { ...command.request, nowMs });
  lookup.sql.run(UPDATE, epoch, lease?.writer ?? null, lease?.untilMs ?? null, conversation.row);
  const head = { ...conversation.head, epoch };
  lookup.keepHead(space, { ...conversation, head, lease });
  return { ...head, lease: leaseAt(lease, nowMs) };
}

const INSERT = `INSERT INTO conversations (space, id, listed, head_seq, owner_seq, epoch, leaf_id, leaf_conversation, leaf_segment,
  leaf_depth, leaf_tip, segments, source, source_head, origin_entry, origin_conversation, origin_segment, origin_depth, created_at, updated_at, unlisted)
  VALUES (?, ?, 1, 0, 0, 0, '', NULL, 0, -1, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface StartInput {
  readonly space: string;
  readonly start: Start;
  readonly packed: PackedDrafts;
  readonly fork: { readonly source: number; readonly point: ForkPoint; readonly place: RowPlace } | null;
}

function createTx(
  lookup: Lookup,
  command: Extract<GroupCommand, { kind: "create" }>,
  packed: PackedDrafts,
): AppendResult {
  const { space, request } = command;
  const start = { conversation: request.conversation, origin: null, batch: request, previous: "" };
  return startLog(lookup, { space, start, packed, fork: null }).result;
}

/** Writes the first batch of a log, or finds that the same request wrote it before; then it returns no new head. */
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
    fork === null ? [null, null, null, null, null, null] : pointColumns(fork.source, fork.point, fork.place);
  const unlisted = summaryAfter(empty, plan.change)?.unlisted === true ? 1 : 0;
  const row = sql.run(INSERT, space, conversation, ...point, empty.createdAt, empty.updatedAt, unlisted);
  const { previous } = start;
  const head = writePlan(lookup, { row, space, head: empty, previous, plan, batch, packed });
  return { result: resultOf(plan, head), head };
}

function pointColumns(
  source: number,
  point: ForkPoint,
  place: RowPlace,
): readonly (number | string | null)[] {
  return [source, point.head, point.entry, place.row, place.segment, place.depth];
}

/** One row and one entry, whatever the size of the source: a fork points at its source instead of copying it. */
function forkTx(
  lookup: Lookup,
  space: string,
  { request, nowMs }: { readonly request: ForkRequest; readonly nowMs: number },
): HeadView & { readonly deduped: boolean } {
  const { source, conversation } = request;
  const from = lookup.visibleConversation(space, source);
  const id = request.entry ?? from.head.leaf.id;
  const row = lookup.entry(from, id);
  const node = row && lookup.stored(row);
  const position = row && lookup.positionAt(from, row);
  const start = forkStart(sha256, { head: from.head, position, node }, request);
  const { origin: point } = start;
  const holder =
    point.conversation === source ? from.row : (lookup.conversations.rowOf(space, point.conversation) ?? 0);
  const { result, head } = startLog(lookup, {
    space,
    start,
    packed: [],
    fork: { source: from.row, point, place: { row: holder, segment: point.segment, depth: point.depth } },
  });
  const { deduped } = result;
  if (head !== null) return { ...head, lease: null, deduped };
  const made = lookup.visibleConversation(space, conversation);
  return { ...made.head, lease: leaseAt(made.lease, nowMs), deduped };
}
