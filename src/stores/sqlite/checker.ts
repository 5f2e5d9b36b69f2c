import { parentPort, workerData } from "node:worker_threads";
import { entryDigest, LinkCheck } from "#log/batch-links";
import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import type { SpaceId } from "#log/ids";
import { RunFolder } from "#log/runs/run-folder";
import { sha256 } from "#store/sha256";
import type { Finding } from "#store/requests";
import { runRowProblem, unprovenNote } from "#store/check-findings";
import type { CheckReport, CheckTask } from "./run-check.ts";
import { toLogError, toWire } from "./sqlite-errors.ts";
import { ReadConnection } from "#stores/sqlite/read/read-connection";
import type { Reader } from "#stores/sqlite/read/reader";
import { rowPlaceOf } from "#stores/sqlite/tables/lookup";
import { type Conversation, ENTRY_COLUMNS, type EntryRow, linkText } from "#stores/sqlite/tables/rows";

// The entry of a check's thread.

const FINDINGS_MAX = 100; // of the file; past that it is not the details that matter
const IDS = "SELECT id FROM conversations WHERE space = ? ORDER BY row";
const ENTRIES = `SELECT ${ENTRY_COLUMNS}, link, by_owner FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT 500`;

const RUN_ROWS = "SELECT seq, finished FROM runs WHERE conversation = ? AND seq <= ?";

type LinkedRow = readonly [...EntryRow, link: Uint8Array | null, byOwner: number | null];

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
    .flatMap(([text]) => text.split("\n"))
    .filter((line) => line !== "ok" && !line.startsWith("***"))
    .map((line) => {
      const page = Number(/page (\d+)/i.exec(line)?.[1] ?? Number.NaN);
      return damage(line, { position: Number.isNaN(page) ? null : (page - 1) * pageBytes });
    });
}

function checkSpace(reader: Reader, space: SpaceId): readonly Finding[] {
  const ids = reader.sql.all<[string]>(IDS, space);
  return ids.flatMap(([id], index) => {
    const conversation = reader.lookup.conversations.find(space, id);
    const findings = conversation === undefined ? [] : checkLog(reader, conversation);
    report({ kind: "progress", done: index + 1, total: ids.length });
    return findings;
  });
}

/** The first thing wrong with a log: whatever comes after it cannot be trusted to be reached. */
function checkLog(reader: Reader, conversation: Conversation): readonly Finding[] {
  const { head, listed } = conversation;
  const damaged = (message: string, reachableSeq: number): readonly Finding[] => [
    damage(message, { conversation: head.conversation, reachableSeq }),
  ];
  let after = 0;
  const folder = new RunFolder();
  try {
    const links = new LinkCheck(sha256, firstLinkStart(reader, conversation));
    for (;;) {
      const rows = reader.sql.all<LinkedRow>(ENTRIES, conversation.row, after);
      for (const row of rows) {
        const wrong = checkEntry(reader, conversation, row, { seq: after + 1, folder });
        if (wrong !== null) return damaged(wrong, after);
        const changed = checkLink(reader, links, row);
        if (changed !== null) return damaged(changed, links.soundSeq);
        const orphaned = checkParent(reader, row);
        if (orphaned !== null) return damaged(orphaned, after);
        after = row[2];
      }
      if (rows.length === 0) break;
    }
    if (after !== head.headSeq)
      return listed ? damaged(`The log ends at entry ${after} instead of ${head.headSeq}`, after) : [];
    const wrong = links.end(head);
    if (wrong !== null) return damaged(wrong, links.soundSeq);
    const miscounted = listed ? checkRuns(reader, conversation, folder) : null;
    if (miscounted !== null) return damaged(miscounted, after);
    return listed ? unprovenNote(head.conversation, links.unprovenSeq) : [];
  } catch (error) {
    return damaged(toLogError(error, "the file").message, after);
  }
}

/** A fork's first link continues the digest of the node it grew from; the rest of an erased log starts again. */
function firstLinkStart(reader: Reader, { fork, listed }: Conversation): string {
  if (fork === null || !listed) return "";
  const [node] = reader.lookup.path(fork.point, 1).rows;
  return node === undefined ? "" : entryDigest(sha256, reader.lookup.stored(node));
}

function checkLink(reader: Reader, links: LinkCheck, row: LinkedRow): string | null {
  const [link, byOwner] = row.slice(11) as [Uint8Array | null, number | null];
  const text = linkText(link);
  const entry = reader.lookup.stored(row as unknown as EntryRow);
  return links.add(entry, text === null ? null : { link: text, byOwner: byOwner === 1 });
}

function checkEntry(
  reader: Reader,
  conversation: Conversation,
  row: LinkedRow,
  expected: { readonly seq: number; readonly folder: RunFolder },
): string | null {
  const seq = row[2];
  // The rest of an erased conversation has gaps by design.
  if (conversation.listed && seq !== expected.seq) return `Entry ${expected.seq} is missing`;
  try {
    expected.folder.add(decodeEntry(reader.lookup.stored(row as unknown as EntryRow)));
  } catch (error) {
    if (isLogError(error)) return error.message;
    throw error;
  }
  return null;
}

/** By its place, as a branch is read: the rest of an erased fork may lack the entry it was forked at. */
function checkParent({ lookup }: Reader, row: LinkedRow): string | null {
  const [, id, seq, parent] = row;
  if (parent === null) return null;
  const place = rowPlaceOf(row as unknown as EntryRow);
  const above = place && place.depth > 0 ? lookup.above(place, place.depth - 1) : null;
  return above !== null && lookup.has(above) && lookup.node(above)[1] === parent
    ? null
    : `The parent ${parent} of entry ${seq} (${id}) is missing`;
}

/** Whether the rows of runs are those that the log gives. One that is open there may have ended since it was read. */
function checkRuns(reader: Reader, { row, head }: Conversation, folder: RunFolder): string | null {
  if (head.summary === null) return null;
  const rows = new Map(reader.sql.all<[seq: number, finished: string | null]>(RUN_ROWS, row, head.headSeq));
  return runRowProblem(rows, folder);
}
