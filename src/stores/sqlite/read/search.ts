import { decodeEntry } from "../../../log/codec.ts";
import type { SpaceId } from "../../../log/ids.ts";
import { matchesQuery, queryWords, searchText } from "../../../log/search.ts";
import type { SearchHit, SearchRequest } from "../../../store/store.ts";
import type { EntryRow } from "../tables/rows.ts";
import { ENTRY_COLUMNS } from "../tables/rows.ts";

import { indexable, matchOf, SEARCHED_TYPES } from "../tables/search-words.ts";
import { hidesOwn } from "./hidden.ts";
import type { Reader } from "./reader.ts";

const CANDIDATES = 1_000; // looked at between two questions to the index

const SCOPE = "c.space = ? AND c.listed = 1 AND (? IS NULL OR c.row = ?)";
const INDEXED = `SELECT e.row AS row, e.time AS time, e.seq AS seq FROM search s CROSS JOIN entries e ON e.row = s.rowid
  CROSS JOIN conversations c ON c.row = e.conversation WHERE ${SCOPE}`;
// What came after the index last caught up is looked through as it is.
const UNINDEXED = `SELECT e.row, e.time, e.seq FROM entries e CROSS JOIN conversations c ON c.row = e.conversation
  WHERE ${SCOPE} AND e.row > (SELECT entry FROM search_cursor) AND e.type IN (${SEARCHED_TYPES})`;
const ORDER = `ORDER BY time DESC, seq DESC, row DESC LIMIT ${CANDIDATES} OFFSET ?`;
const BY_MATCH = `${INDEXED} AND search MATCH ? UNION ALL ${UNINDEXED} ${ORDER}`;
const BY_PART = `${INDEXED} AND instr(s.text, ?) > 0 UNION ALL ${UNINDEXED} ${ORDER}`;
const ENTRY = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE row = ?`;

/** The entries that hold every word, newest first. The index only proposes; the text of each decides. */
export function searchEntries(reader: Reader, space: SpaceId, request: SearchRequest): readonly SearchHit[] {
  const words = queryWords(request.query);
  const only = request.conversation === undefined ? null : reader.rowOf(space, request.conversation);
  const [first] = words;
  if (first === undefined) return [];
  const match = matchOf(words);
  // A word of one or two letters has no trigram; in scripts without spaces that is an ordinary word.
  const [text, asked] = match === null ? [BY_PART, indexable(first)] : [BY_MATCH, match];
  const hits: SearchHit[] = [];
  for (let offset = 0; hits.length < request.limit; offset += CANDIDATES) {
    const rows = reader.sql.all<[number]>(text, space, only, only, asked, space, only, only, offset);
    for (const [row] of rows) {
      if (hits.length >= request.limit) break;
      const hit = hitOf(reader, row, words);
      if (hit !== null) hits.push(hit);
    }
    if (rows.length < CANDIDATES) break;
  }
  return hits;
}

function hitOf(reader: Reader, row: number, words: readonly string[]): SearchHit | null {
  const { lookup, sql } = reader;
  const entry = sql.get<EntryRow>(ENTRY, row);
  if (entry === undefined || hidesOwn(lookup, entry)) return null;
  const stored = lookup.stored(entry);
  const text = searchText(decodeEntry(stored));
  if (!matchesQuery(text, words)) return null;
  return { conversation: lookup.conversations.nameOf(entry[8]), entry: stored.id, seq: stored.seq, text };
}
