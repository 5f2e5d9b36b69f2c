import { decodeEntry } from "#log/codec";
import type { EntryId } from "#log/ids";
import { searchText } from "#log/entry-types";
import { hidesOwn } from "#stores/sqlite/read/hidden";
import type { Lookup } from "#stores/sqlite/tables/lookup";
import { ENTRY_COLUMNS, type EntryRow } from "#stores/sqlite/tables/rows";
import { indexable, SEARCHED } from "#stores/sqlite/tables/search-words";

const ROWS_PER_STEP = 500; // a step holds the write lock for some milliseconds
const CHARS_PER_STEP = 1_000_000;

const LISTED = "(SELECT listed FROM conversations c WHERE c.row = conversation)";
const NEXT = `SELECT ${ENTRY_COLUMNS}, row, ${LISTED} FROM entries
  WHERE row > ? AND type IN (${SEARCHED}, 'hide') ORDER BY row LIMIT ${ROWS_PER_STEP}`;
const TARGET = `SELECT ${ENTRY_COLUMNS}, row, ${LISTED} FROM entries INDEXED BY entries_id WHERE conversation = ? AND id = ?`;
const INDEXED = "SELECT 1 FROM search WHERE rowid = ?";
const LAST = "SELECT coalesce(max(row), 0) FROM entries";

type NextRow = readonly [...EntryRow, row: number, listed: number];

/** Takes one more stretch of the log into the index; true when it has caught up. Run in a transaction of its own. */
export function indexTx(lookup: Lookup): boolean {
  const { sql } = lookup;
  const [cursor = 0] = sql.get<[number]>("SELECT entry FROM search_cursor") ?? [];
  const rows = sql.all<NextRow>(NEXT, cursor);
  let chars = 0;
  for (const [index, next] of rows.entries()) {
    chars += next[5] === "hide" ? indexTarget(lookup, next) : insertText(lookup, next);
    if (chars < CHARS_PER_STEP || index === rows.length - 1) continue;
    moveCursor(lookup, next[11]);
    return false;
  }
  const caughtUp = rows.length < ROWS_PER_STEP;
  moveCursor(lookup, caughtUp ? (sql.get<[number]>(LAST)?.[0] ?? cursor) : (rows.at(-1)?.[11] ?? cursor));
  return caughtUp;
}

function moveCursor(lookup: Lookup, row: number): void {
  lookup.sql.run("UPDATE search_cursor SET entry = ? WHERE entry <> ?", row, row);
}

/** Gives the number of characters that were taken in. */
function insertText(lookup: Lookup, next: NextRow): number {
  // An erased conversation's kept nodes are nobody's to find, and neither is what its own conversation hides.
  const text = next[12] === 1 ? textOf(lookup, next) : "";
  if (text !== "") lookup.sql.run("INSERT INTO search(rowid, text) VALUES (?, ?)", next[11], indexable(text));
  return text.length;
}

/**
 * What is hidden when the index comes to it is not taken in, so that a search need not step over it; shown again, it is.
 * What is hidden later stays: to take it out costs a hundred times what it costs to step over it.
 */
function indexTarget(lookup: Lookup, hide: NextRow): number {
  const { sql } = lookup;
  const id = targetIn(lookup, hide);
  const target = id === null ? undefined : sql.get<NextRow>(TARGET, hide[8], id);
  // One further on has its turn then; one that is inherited is its source's to show.
  if (target === undefined || target[11] > hide[11] || sql.get(INDEXED, target[11]) !== undefined) return 0;
  return insertText(lookup, target);
}

function targetIn(lookup: Lookup, hide: NextRow): EntryId | null {
  try {
    const entry = decodeEntry(lookup.stored(entryOf(hide)));
    return entry.type === "hide" ? entry.target : null;
  } catch {
    return null;
  }
}

function textOf(lookup: Lookup, next: NextRow): string {
  const entry = entryOf(next);
  if (hidesOwn(lookup, entry)) return "";
  try {
    return searchText(decodeEntry(lookup.stored(entry)));
  } catch {
    return ""; // a damaged entry is reported by check, and must not stop the index for all others
  }
}

function entryOf(next: NextRow): EntryRow {
  return next.slice(0, 11) as unknown as EntryRow;
}
