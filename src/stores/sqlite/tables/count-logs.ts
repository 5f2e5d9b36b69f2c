import type { DatabaseSync } from "node:sqlite";
import { decodeEntry } from "#log/codec";
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
  let seq = 0;
  try {
    for (;;) {
      const rows = sql.all<EntryRow>(ENTRIES, conversation, seq);
      for (const row of rows) {
        if (row[2] !== seq + 1) return null;
        seq = row[2];
        counter.add(decodeEntry(toStored(row, sql)));
      }
      if (rows.length === 0) return seq === headSeq ? counter.result(segments) : null;
    }
  } catch (error) {
    // What is damaged is for the doctor; it does not keep the file from being brought up to date.
    if (isSqliteError(error)) throw error;
    return null;
  }
}
