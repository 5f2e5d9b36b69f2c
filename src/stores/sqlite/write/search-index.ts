import { decodeEntry } from "#log/codec";
import { searchText } from "#log/entry-types";
import type { Lookup } from "#stores/sqlite/tables/lookup";
import { ENTRY_COLUMNS, type EntryRow } from "#stores/sqlite/tables/rows";
import { indexable, SEARCHED } from "#stores/sqlite/tables/search-words";

const ROWS_PER_STEP = 500; // a step holds the write lock for some milliseconds
const CHARS_PER_STEP = 1_000_000;

const NEXT = `SELECT ${ENTRY_COLUMNS}, row, (SELECT listed FROM conversations c WHERE c.row = conversation)
  FROM entries WHERE row > ? AND type IN (${SEARCHED}) ORDER BY row LIMIT ${ROWS_PER_STEP}`;
const LAST = "SELECT coalesce(max(row), 0) FROM entries";

type NextRow = readonly [...EntryRow, row: number, listed: number];

/** Takes one more stretch of the log into the index; true when it has caught up. Run in a transaction of its own. */
export function indexTx(lookup: Lookup): boolean {
  const { sql } = lookup;
  const [cursor = 0] = sql.get<[number]>("SELECT entry FROM search_cursor") ?? [];
  const rows = sql.all<NextRow>(NEXT, cursor);
  let chars = 0;
  for (const [index, next] of rows.entries()) {
    // An erased conversation's kept nodes are nobody's to find.
    const text = next[12] === 1 ? textOf(lookup, next) : "";
    if (text !== "") sql.run("INSERT INTO search(rowid, text) VALUES (?, ?)", next[11], indexable(text));
    chars += text.length;
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

function textOf(lookup: Lookup, next: NextRow): string {
  try {
    return searchText(decodeEntry(lookup.stored(next.slice(0, 11) as unknown as EntryRow)));
  } catch {
    return ""; // a damaged entry is reported by check, and must not stop the index for all others
  }
}
