import { relink } from "#log/batch-links";
import { digestsNamed, type EraseFacts, planErase } from "#log/plans/plan-erase";
import { sha256 } from "#store/sha256";
import type { ConversationId } from "#log/ids";
import { type Lookup, rowPlaceOf } from "#stores/sqlite/tables/lookup";
import {
  type Conversation,
  ENTRY_COLUMNS,
  type EntryRow,
  linkBytes,
  type RowPlace,
} from "#stores/sqlite/tables/rows";
import type { Sql } from "#stores/sqlite/tables/sql";

const SEGMENTS = "SELECT DISTINCT segment FROM segments WHERE conversation = ?";
const HIDES = "SELECT seq, holder, target FROM hides WHERE conversation = ?";
const KEPT = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE conversation = ? AND segment IS NOT NULL AND seq > ? ORDER BY seq LIMIT 200`;
const ALL = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT 200`;
// Every fork, near and far, with how much of the conversation's log it may see.
const BELOW = `WITH RECURSIVE below(row, head) AS (
    SELECT row, source_head FROM conversations WHERE source = ?
    UNION SELECT c.row, b.head FROM conversations c JOIN below b ON c.source = b.row)`;
const FORKS = `${BELOW} SELECT row, head FROM below`;
// The forks right below a conversation, and those below erased ones among them.
const STANDING = `WITH RECURSIVE below(row, listed) AS (
    SELECT row, listed FROM conversations WHERE source = ?
    UNION ALL SELECT c.row, c.listed FROM below b JOIN conversations c ON c.source = b.row WHERE b.listed = 0)
  SELECT c.row, c.source, c.source_head, c.listed, c.origin_conversation, c.origin_segment, c.origin_depth
  FROM below b CROSS JOIN conversations c ON c.row = b.row ORDER BY c.row DESC`;
const BY_ID = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_id WHERE conversation = ? AND id = ?`;
// The entries these named may be gone, and an id can be telling. Forks find their way by segment and depth.
const FORGET_NAMES =
  "UPDATE conversations SET leaf_id = '', origin_entry = iif(origin_entry IS NULL, NULL, '') WHERE row = ?";
const UNINDEX = "DELETE FROM search WHERE rowid IN (SELECT row FROM entries WHERE conversation = ?)";
// Rows freed at the end of the table are used again; the index must look at them again too.
const REWIND = "UPDATE search_cursor SET entry = min(entry, (SELECT coalesce(max(row), 0) FROM entries))";

const SET_LINK = "UPDATE entries SET link = ?, by_owner = 1 WHERE conversation = ? AND seq = ?";

/** Removes a conversation, then the parts of erased conversations above that only it needed. */
export function eraseTx(lookup: Lookup, space: string, id: ConversationId): void {
  const { sql } = lookup;
  const doomed = lookup.visibleConversation(space, id);
  sql.run(UNINDEX, doomed.row);
  sql.run(
    "UPDATE conversations SET listed = 0, title = NULL, cwd = NULL, summary = NULL, lease_writer = NULL, lease_until = NULL WHERE row = ?",
    doomed.row,
  );
  sql.run("DELETE FROM runs WHERE conversation = ?", doomed.row);
  const stoodOn = trim(lookup, doomed);
  let above = doomed.fork === null ? undefined : lookup.conversations.inRow(doomed.fork.source);
  // All the way up: past a living source there may be an erased one that kept a blob for this fork alone.
  while (above !== undefined) {
    if (!above.listed && stoodOn) dropBlobs(lookup, above.row);
    else if (!above.listed) trim(lookup, above);
    above = above.fork === null ? undefined : lookup.conversations.inRow(above.fork.source);
  }
  sql.run(REWIND);
  lookup.forget();
}

/**
 * Leaves of an erased conversation what living forks inherit: nodes on their paths, and what hides them. Says whether one
 * of those paths goes through the point it was forked at itself: then all that is above is still needed as it was.
 */
function trim(lookup: Lookup, { row, fork }: Conversation): boolean {
  const { sql } = lookup;
  const hides = hidesIn(lookup, row);
  const plan = planErase(factsOf(lookup, row, forksOn(lookup, row), hides));
  sql.run("DELETE FROM keys WHERE conversation = ?", row);
  if (plan === null) {
    for (const table of ["entries", "hides", "segments", "blobs"])
      sql.run(`DELETE FROM ${table} WHERE conversation = ?`, row);
    sql.run("DELETE FROM conversations WHERE row = ?", row);
    return false;
  }
  for (const [segment] of sql.all<[number]>(SEGMENTS, row)) {
    const depth = plan.depths.get(segment) ?? -1;
    sql.run("DELETE FROM entries WHERE conversation = ? AND segment = ? AND depth > ?", row, segment, depth);
    if (depth === -1) sql.run("DELETE FROM segments WHERE conversation = ? AND segment = ?", row, segment);
  }
  sql.run("DELETE FROM entries WHERE conversation = ? AND segment IS NULL AND type <> 'hide'", row);
  for (const { seq } of hides) {
    if (plan.hides.has(seq)) continue;
    sql.run("DELETE FROM entries WHERE conversation = ? AND seq = ?", row, seq);
    sql.run("DELETE FROM hides WHERE conversation = ? AND seq = ?", row, seq);
  }
  sql.run(FORGET_NAMES, row);
  writeLinks(lookup, row);
  dropBlobs(lookup, row);
  return fork !== null && plan.above !== null && isSamePlace(plan.above, fork.point);
}

/** The rest is written as new batches: an earlier link would be a digest of erased text. */
function writeLinks(lookup: Lookup, row: number): void {
  const { sql } = lookup;
  sql.run("UPDATE entries SET link = NULL, by_owner = NULL WHERE conversation = ? AND link IS NOT NULL", row);
  const remaining = entriesIn(sql, ALL, row).map((entry) => lookup.stored(entry));
  let last: string | null = null;
  for (const { entries, link } of relink(sha256, remaining)) {
    if (link === null) continue;
    sql.run(SET_LINK, linkBytes(link), row, entries.at(-1)?.seq ?? 0);
    last = link;
  }
  sql.run(
    "UPDATE conversations SET link = ?, owner_link = ? WHERE row = ?",
    linkBytes(last),
    linkBytes(last),
    row,
  );
}

function isSamePlace(one: RowPlace, other: RowPlace): boolean {
  return one.row === other.row && one.segment === other.segment && one.depth === other.depth;
}

type DependentFork = EraseFacts<RowPlace>["forks"][number];
type ForkRow = readonly [
  row: number,
  source: number,
  head: number,
  listed: number,
  holder: number,
  segment: number,
  depth: number,
];

/** The forks right below a conversation, each with the deepest place that is still looked at through it. */
function forksOn(lookup: Lookup, row: number): readonly DependentFork[] {
  const on = new Map<number, DependentFork[]>();
  // A fork is younger than its source, so those of an erased one have been seen before it.
  for (const [fork, source, head, listed, holder, segment, depth] of lookup.sql.all<ForkRow>(STANDING, row)) {
    const own = { row: holder, segment, depth };
    const point = listed === 1 ? own : planErase(factsOf(lookup, fork, on.get(fork) ?? [], []))?.above;
    if (!point) continue;
    const others = on.get(source);
    if (others === undefined) on.set(source, [{ point: point, head }]);
    else others.push({ point: point, head });
  }
  return on.get(row) ?? [];
}

function factsOf(
  lookup: Lookup,
  row: number,
  forks: EraseFacts<RowPlace>["forks"],
  hides: EraseFacts<RowPlace>["hides"],
): EraseFacts<RowPlace> {
  return {
    forks,
    hides,
    isOwn: (place) => place.row === row,
    segmentName: (place) => `${place.row}:${place.segment}`,
    ancestorOf: (place) => lookup.segment(place.row, place.segment).ancestor,
  };
}

function hidesIn({ sql }: Lookup, row: number): EraseFacts<RowPlace>["hides"] {
  return sql.all<[number, number, string]>(HIDES, row).map(([seq, holder, target]) => {
    const node = sql.get<EntryRow>(BY_ID, holder, target);
    return { seq, target: node === undefined ? null : rowPlaceOf(node) };
  });
}

/** Removes the blobs that neither a remaining node names nor an entry of a fork that could see them. */
function dropBlobs(lookup: Lookup, row: number): void {
  const { sql } = lookup;
  const counts = new Map(
    sql.all<[string, number]>("SELECT digest, seq FROM blobs WHERE conversation = ?", row),
  );
  if (counts.size === 0) return;
  const named = new Set<string>();
  for (const entry of entriesIn(sql, KEPT, row)) {
    if (entry[7] !== null) named.add(entry[7]);
    for (const digest of digestsNamed(lookup.stored(entry).payload, counts)) named.add(digest);
  }
  for (const [fork, head] of sql.all<[number, number]>(FORKS, row)) {
    const seen = new Set(
      [...counts].flatMap(([digest, seq]) => (seq <= head && !named.has(digest) ? [digest] : [])),
    );
    if (seen.size === 0) continue;
    for (const entry of entriesIn(sql, ALL, fork))
      for (const digest of digestsNamed(lookup.stored(entry).payload, seen)) named.add(digest);
  }
  for (const digest of counts.keys())
    if (!named.has(digest)) sql.run("DELETE FROM blobs WHERE conversation = ? AND digest = ?", row, digest);
}

function* entriesIn(sql: Sql, query: string, row: number): Generator<EntryRow> {
  let after = 0;
  for (;;) {
    const rows = sql.all<EntryRow>(query, row, after);
    for (const entry of rows) {
      after = entry[2];
      yield entry;
    }
    if (rows.length === 0) return;
  }
}
