import { decodeEntry } from "#log/codec";
import type { SpaceId } from "#log/ids";
import { matchesQuery, queryWords } from "#log/search";
import { searchText } from "#log/entry-types";
import type { SearchHit, SearchRequest } from "#store/requests";
import type { EntryRow } from "#stores/sqlite/tables/rows";
import { ENTRY_COLUMNS } from "#stores/sqlite/tables/rows";
import { indexable, matchOf, SEARCHED } from "#stores/sqlite/tables/search-words";
import { hidesOwn } from "./hidden.ts";
import type { Reader } from "./reader.ts";

const ROWS_FIRST = 64; // asked for at first: few are needed as a rule, and each batch after it is larger
const ROWS_MAX = 1_000;
const CANDIDATES_MAX = 1_000; // looked at for one conversation before it is walked instead
const WALKED_ENTRIES = 500; // of one conversation at once
const LATER_ENTRIES_MAX = 20_000; // written since the oldest hit: past that there are few hits, and all are looked at

const SCOPE = "c.space = ? AND c.listed = 1";
// The index gives rows in the order they were written, so whoever has enough stops: a common word costs no more than a rare one.
const BY_MATCH = "SELECT rowid FROM search WHERE search MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?";
const BY_PART = "SELECT rowid FROM search WHERE instr(text, ?) > 0 AND rowid < ? ORDER BY rowid DESC LIMIT ?";
// Entries after the end of the index are searched directly.
const UNINDEXED = `SELECT row FROM entries WHERE row > (SELECT entry FROM search_cursor) AND row < ?
  AND type IN (${SEARCHED}) ORDER BY row DESC LIMIT ?`;
const ENTRY = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE row = ?`;
const SEEN = `SELECT 1 FROM conversations c WHERE ${SCOPE} AND c.row = ?`;
const WALK = `SELECT row, seq FROM entries INDEXED BY entries_seq
  WHERE conversation = ? AND seq < ? AND type IN (${SEARCHED}) ORDER BY seq DESC LIMIT ${WALKED_ENTRIES}`;
// Numbered parameters would do, but Node 22 takes them for named ones. The latest of what each conversation had before the oldest hit was written. Times rise within a conversation.
const LATER = `SELECT 1 FROM conversations c INDEXED BY conversations_recent
  WHERE ${SCOPE} AND c.updated_at >= ? AND EXISTS (SELECT 1 FROM
    (SELECT time, seq FROM entries e INDEXED BY entries_seq WHERE e.conversation = c.row AND e.row < ? ORDER BY e.seq DESC LIMIT 1)
    WHERE time > ? OR (time = ? AND seq > ?)) LIMIT 1`;
const LAST_ROW = "SELECT max(row) FROM entries";
const FIRST_ROW =
  "SELECT row FROM entries INDEXED BY entries_seq WHERE conversation = ? ORDER BY seq LIMIT 1";

interface SearchRow extends SearchHit {
  readonly row: number;
  readonly time: string;
}

interface Sought {
  readonly space: SpaceId;
  readonly words: readonly string[];
  readonly limit: number;
  /** The row of the one conversation that is searched; null for all of the space. */
  readonly only: number | null;
}

/** The entries that hold every word, newest first. The index only proposes; the text of each decides. */
export function searchEntries(reader: Reader, space: SpaceId, request: SearchRequest): readonly SearchHit[] {
  const words = queryWords(request.query);
  const only = request.conversation === undefined ? null : reader.rowOf(space, request.conversation);
  if (words.length === 0 || request.limit <= 0) return [];
  const sought = { space, words, limit: request.limit, only };
  const rows = only === null ? searchAll(reader, sought) : searchOne(reader, sought, only);
  return rows.slice(0, request.limit).map(({ row: _, time: _time, ...hit }) => hit);
}

/** By time, which across conversations is all there is to order by. */
function searchAll(reader: Reader, sought: Sought): readonly SearchRow[] {
  const matches: SearchRow[] = [];
  let enough = sought.limit;
  for (const rows of candidates(reader, sought.words)) {
    for (const row of rows) {
      const hit = hitAt(reader, sought, row);
      if (hit === null) continue;
      matches.push(hit);
      if (matches.length < enough) continue;
      const newest = matches.toSorted(newerFirst);
      if (!laterElsewhere(reader, sought, newest, row)) return newest;
      enough *= 2; // entries that were written earlier and dated later may be among the next
    }
  }
  return matches.toSorted(newerFirst);
}

function newerFirst(one: SearchRow, other: SearchRow): number {
  if (one.time !== other.time) return one.time < other.time ? 1 : -1;
  return other.seq - one.seq || other.row - one.row;
}

/** By seq, which is a conversation's own order. */
function searchOne(reader: Reader, sought: Sought, only: number): readonly SearchRow[] {
  const first = reader.sql.get<[number]>(FIRST_ROW, only)?.[0] ?? 0;
  const matches: SearchRow[] = [];
  let looked = 0;
  for (const rows of candidates(reader, sought.words)) {
    for (const row of rows) {
      const hit = row < first ? null : hitAt(reader, sought, row);
      if (hit !== null) matches.push(hit);
      if (matches.length >= sought.limit || row < first) return matches;
    }
    // Words that are common elsewhere: from here on it costs less to look through the conversation itself.
    looked += rows.length;
    if (looked >= CANDIDATES_MAX) {
      const before = rows.at(-1) ?? 0;
      return [...matches, ...walk(reader, sought, { only, before, wanted: sought.limit - matches.length })];
    }
  }
  return matches;
}

/** The hits of one conversation that were written before a row, found by reading it backwards. */
function walk(
  reader: Reader,
  sought: Sought,
  stretch: { readonly only: number; readonly before: number; readonly wanted: number },
): readonly SearchRow[] {
  const matches: SearchRow[] = [];
  let seq = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = reader.sql.all<[row: number, seq: number]>(WALK, stretch.only, seq);
    for (const [row] of rows) {
      const hit = row < stretch.before ? hitAt(reader, sought, row) : null;
      if (hit !== null) matches.push(hit);
      if (matches.length >= stretch.wanted) return matches;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < WALKED_ENTRIES) return matches;
    [, seq] = last;
  }
}

type Ask = (before: number, limit: number) => readonly [number][];

function* batches(ask: Ask): Generator<readonly number[]> {
  let before = Number.MAX_SAFE_INTEGER;
  for (let limit = ROWS_FIRST; ; limit = Math.min(limit * 4, ROWS_MAX)) {
    const rows = ask(before, limit).map(([row]) => row);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    before = rows.at(-1) ?? 0;
  }
}

/** Rows that may match, the latest written first. */
function* candidates(reader: Reader, words: readonly string[]): Generator<readonly number[]> {
  const { sql } = reader;
  yield* batches((before, limit) => sql.all<[number]>(UNINDEXED, before, limit));
  // A word of one or two letters has no trigram; in scripts without spaces that is an ordinary word.
  const match = matchOf(words);
  const [text, value] = match === null ? [BY_PART, indexable(words[0] ?? "")] : [BY_MATCH, match];
  yield* batches((before, limit) => sql.all<[number]>(text, value, before, limit));
}

/**
 * Whether an entry written before this row could be dated after the oldest hit that is wanted: one that was imported with its
 * own time, as a rule. Within a conversation times rise, and a conversation's own time is its latest entry's.
 */
function laterElsewhere(
  { sql }: Reader,
  { space, limit }: Sought,
  newest: readonly SearchRow[],
  written: number,
): boolean {
  const oldest = newest[limit - 1];
  if (oldest === undefined) return false;
  const last = sql.get<[number]>(LAST_ROW)?.[0] ?? 0;
  if (last - written > LATER_ENTRIES_MAX) return true;
  return sql.get(LATER, space, oldest.time, written, oldest.time, oldest.time, oldest.seq) !== undefined;
}

function hitAt(reader: Reader, sought: Sought, row: number): SearchRow | null {
  const entry = reader.sql.get<EntryRow>(ENTRY, row);
  if (entry === undefined) return null;
  const inScope =
    sought.only === null
      ? reader.sql.get(SEEN, sought.space, entry[8]) !== undefined
      : entry[8] === sought.only;
  const { lookup } = reader;
  if (!inScope || hidesOwn(lookup, entry)) return null;
  const text = searchText(decodeEntry(lookup.stored(entry)));
  if (!matchesQuery(text, sought.words)) return null;
  const [, id, seq, , time] = entry;
  return { conversation: lookup.conversations.nameOf(entry[8]), entry: id, seq, text, row, time };
}
