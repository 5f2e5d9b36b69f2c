import { insertBlob, pack, type Packed } from "#stores/sqlite/tables/blob-rows";
import type { GroupCommand, Outcome } from "#stores/sqlite/thread/messages";
import { toLogError, toWire } from "#stores/sqlite/sqlite-errors";
import type { Lookup } from "#stores/sqlite/tables/lookup";
import { appendTx } from "./append-batch.ts";
import { packDrafts, type PackedDrafts } from "./pack-drafts.ts";
import type { Connection } from "./write-connection.ts";
import { createTx, forkTx } from "./start-log.ts";
import { leaseAt, planAcquire, planRenew } from "#log/plans/lease";
import type { HeadView } from "#store/requests";

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
    // A full disk may have ended the whole transaction already; then nobody's work is in it.
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
