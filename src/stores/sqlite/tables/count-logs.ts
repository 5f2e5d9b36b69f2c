import type { DatabaseSync } from "node:sqlite";
import { decodeEntry } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { SUMMARY_TYPES } from "#log/entry-types";
import { SummaryCounter } from "#log/projections/summary-of";
import type { Summary } from "#log/summary";
import { isSqliteError } from "#stores/sqlite/sqlite-errors";
import { toStored } from "./blob-rows.ts";
import { ENTRY_COLUMNS, type EntryRow, summaryText } from "./rows.ts";
import { Sql } from "./sql.ts";

const ROWS_STEP = 200; // payloads held at once
const CONVERSATIONS = `SELECT row, head_seq, segments FROM conversations WHERE listed = 1 AND row > ? ORDER BY row LIMIT ${ROWS_STEP}`;
const COUNTED = `type IN (${SUMMARY_TYPES.map((type) => `'${type}'`).join(", ")})`;
const COLUMNS = ENTRY_COLUMNS.replace(
  "payload, blob",
  `iif(${COUNTED}, payload, '{}'), iif(${COUNTED}, blob, NULL)`,
);
const ENTRIES = `SELECT ${COLUMNS} FROM entries INDEXED BY entries_seq
  WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ${ROWS_STEP}`;

/** Counts the logs of a file from before appends kept what lists show. A log that cannot be read whole stays uncounted. */
export function countLogs(db: DatabaseSync): void {
  const sql = new Sql(db);
  let after = 0;
  for (;;) {
    const some = sql.all<[row: number, headSeq: number, segments: number]>(CONVERSATIONS, after);
    for (const [row, headSeq, segments] of some) {
      const summary = countLog(sql, row, { headSeq, segments });
      if (summary !== null)
        sql.run("UPDATE conversations SET summary = ? WHERE row = ?", summaryText(summary), row);
      after = row;
    }
    if (some.length === 0) return;
  }
}

function countLog(
  sql: Sql,
  conversation: number,
  { headSeq, segments }: { readonly headSeq: number; readonly segments: number },
): Summary | null {
  const counter = new SummaryCounter();
  const whole = foldLog(sql, conversation, headSeq, (entry) => void counter.add(decodeEntry(entry)));
  return whole ? counter.result(segments) : null;
}

/** Goes through a log from its first entry on; false where it cannot be read whole. */
export function foldLog(
  sql: Sql,
  conversation: number,
  headSeq: number,
  onEntry: (entry: StoredEntry) => void,
): boolean {
  let seq = 0;
  try {
    for (;;) {
      const rows = sql.all<EntryRow>(ENTRIES, conversation, seq);
      for (const row of rows) {
        if (row[2] !== seq + 1) return false;
        seq = row[2];
        onEntry(toStored(row, sql));
      }
      if (rows.length === 0) return seq === headSeq;
    }
  } catch (error) {
    // What is damaged is for the doctor; it does not keep the file from being brought up to date.
    if (isSqliteError(error)) throw error;
    return false;
  }
}
