import { parentPort, workerData } from "node:worker_threads";
import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import type { SpaceId } from "#log/ids";
import type { Finding } from "#store/store";
import type { CheckReport, CheckTask } from "./run.ts";
import { toLogError, toWire } from "#stores/sqlite/errors";
import { ReadConnection } from "#stores/sqlite/read/read-connection";
import type { Reader } from "#stores/sqlite/read/reader";
import { type Conversation, ENTRY_COLUMNS, type EntryRow } from "#stores/sqlite/tables/rows";

// The entry of a check's thread.

const FINDINGS_MAX = 100; // of the file; past that it is not the details that matter
const IDS = "SELECT id FROM conversations WHERE space = ? ORDER BY row";
const ENTRIES = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT 500`;

function report(message: CheckReport): void {
  parentPort?.postMessage(message, []);
}

if (parentPort !== null) {
  const { path, readOnly, space } = workerData as CheckTask;
  try {
    const connection = new ReadConnection(path, readOnly);
    const findings = await connection.read((reader) => [
      ...checkFileBytes(reader),
      ...checkSpace(reader, space),
    ]);
    connection.close();
    report({ kind: "findings", findings });
  } catch (error) {
    report({ kind: "failed", error: toWire(error, path) });
  }
}

function damage(message: string, more: Partial<Finding> = {}): Finding {
  return {
    conversation: null,
    severity: "damage",
    message,
    position: null,
    reachableSeq: null,
    repaired: false,
    ...more,
  };
}

/** SQLite's own look at the file; it names pages, which stand at a fixed place. */
function checkFileBytes(reader: Reader): readonly Finding[] {
  const pageBytes = reader.sql.pragma("page_size");
  return reader.sql
    .all<[string]>(`PRAGMA integrity_check(${FINDINGS_MAX})`)
    .flatMap(([said]) => said.split("\n"))
    .filter((said) => said !== "ok" && !said.startsWith("***"))
    .map((said) => {
      const page = Number(/page (\d+)/i.exec(said)?.[1] ?? Number.NaN);
      return damage(said, { position: Number.isNaN(page) ? null : (page - 1) * pageBytes });
    });
}

function checkSpace(reader: Reader, space: SpaceId): readonly Finding[] {
  const ids = reader.sql.all<[string]>(IDS, space);
  return ids.flatMap(([id], index) => {
    const conversation = reader.lookup.conversations.find(space, id);
    const finding = conversation === undefined ? null : checkLog(reader, conversation);
    report({ kind: "progress", done: index + 1, total: ids.length });
    return finding === null ? [] : [finding];
  });
}

/** The first thing wrong with a log: whatever comes after it cannot be trusted to be reached. */
function checkLog(reader: Reader, conversation: Conversation): Finding | null {
  const { head } = conversation;
  let after = 0;
  try {
    for (;;) {
      const rows = reader.sql.all<EntryRow>(ENTRIES, conversation.row, after);
      for (const row of rows) {
        const wrong = checkEntry(reader, conversation, row, after + 1);
        if (wrong !== null) return damage(wrong, { conversation: head.conversation, reachableSeq: after });
        after = row[2];
      }
      if (rows.length === 0) break;
    }
  } catch (error) {
    return damage(toLogError(error, "the file").message, {
      conversation: head.conversation,
      reachableSeq: after,
    });
  }
  if (!conversation.listed || after === head.headSeq) return null;
  return damage(`The log ends at ${after} and should end at ${head.headSeq}`, {
    conversation: head.conversation,
    reachableSeq: after,
  });
}

function checkEntry(
  reader: Reader,
  conversation: Conversation,
  row: EntryRow,
  expected: number,
): string | null {
  const [, id, seq, parent] = row;
  // What is left of an erased conversation has gaps by design.
  if (conversation.listed && seq !== expected) return `Entry ${expected} is missing`;
  try {
    decodeEntry(reader.lookup.stored(row));
  } catch (error) {
    if (isLogError(error)) return error.message;
    throw error;
  }
  if (parent !== null && reader.lookup.entry(conversation, parent) === undefined)
    return `The parent ${parent} of entry ${seq} (${id}) is missing`;
  return null;
}
