import { digestsNamed } from "../../../log/erase.ts";
import type { ConversationId } from "../../../log/ids.ts";
import { type Lookup, onPath, spotOf } from "../tables/lookup.ts";
import { type Conversation, ENTRY_COLUMNS, type EntryRow } from "../tables/rows.ts";
import type { Sql } from "../tables/sql.ts";

const FORKS = `WITH RECURSIVE below(row) AS (
    SELECT row FROM conversations WHERE source = ?
    UNION SELECT c.row FROM conversations c JOIN below b ON c.source = b.row)
  SELECT c.row FROM below b JOIN conversations c ON c.row = b.row WHERE c.listed = 1`;
const SEGMENTS = "SELECT DISTINCT segment FROM segments WHERE conversation = ?";
const HIDES = "SELECT seq, holder, target FROM hides WHERE conversation = ?";
const KEPT = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE conversation = ? AND segment IS NOT NULL AND seq > ? ORDER BY seq LIMIT 200`;
const ALL = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT 200`;
// Every fork, near and far, with how much of the conversation's log it may see.
const BELOW = `WITH RECURSIVE below(row, head) AS (
    SELECT row, source_head FROM conversations WHERE source = ?
    UNION SELECT c.row, b.head FROM conversations c JOIN below b ON c.source = b.row)
  SELECT row, head FROM below`;
const BY_ID = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_id WHERE conversation = ? AND id = ?`;
// The entries these named may be gone, and an id can be telling. Forks find their way by segment and depth.
const FORGET_NAMES =
  "UPDATE conversations SET leaf_id = '', origin_entry = iif(origin_entry IS NULL, NULL, '') WHERE row = ?";
const UNINDEX = "DELETE FROM search WHERE rowid IN (SELECT row FROM entries WHERE conversation = ?)";
// Rows freed at the end of the table are used again; the index must look at them again too.
const REWIND = "UPDATE search_cursor SET entry = min(entry, (SELECT coalesce(max(row), 0) FROM entries))";

/** Removes a conversation, then what was kept only for it of erased conversations above. */
export function eraseTx(lookup: Lookup, space: string, id: ConversationId): void {
  const { sql } = lookup;
  const doomed = lookup.listed(space, id);
  sql.run(UNINDEX, doomed.row);
  sql.run(
    "UPDATE conversations SET listed = 0, title = NULL, cwd = NULL, lease_writer = NULL, lease_until = NULL WHERE row = ?",
    doomed.row,
  );
  let at: Conversation | undefined = doomed;
  // All the way up: past a living source there may be an erased one that kept a blob for this fork alone.
  while (at !== undefined) {
    if (at === doomed || !at.listed) reduce(lookup, at.row);
    at = at.fork === null ? undefined : lookup.conversations.at(at.fork.source);
  }
  sql.run(REWIND);
  lookup.forget();
}

/** Leaves of an erased conversation what living forks inherit: nodes on their paths, and what hides them. */
function reduce(lookup: Lookup, row: number): void {
  const { sql } = lookup;
  const needed = neededFrom(lookup, row);
  sql.run("DELETE FROM keys WHERE conversation = ?", row);
  if (needed === null) {
    for (const table of ["entries", "hides", "segments", "blobs"])
      sql.run(`DELETE FROM ${table} WHERE conversation = ?`, row);
    sql.run("DELETE FROM conversations WHERE row = ?", row);
    return;
  }
  for (const [segment] of sql.all<[number]>(SEGMENTS, row)) {
    const depth = needed.depths.get(segment) ?? -1;
    sql.run("DELETE FROM entries WHERE conversation = ? AND segment = ? AND depth > ?", row, segment, depth);
    if (depth === -1) sql.run("DELETE FROM segments WHERE conversation = ? AND segment = ?", row, segment);
  }
  sql.run("DELETE FROM entries WHERE conversation = ? AND segment IS NULL AND type <> 'hide'", row);
  for (const seq of needed.idleHides) {
    sql.run("DELETE FROM entries WHERE conversation = ? AND seq = ?", row, seq);
    sql.run("DELETE FROM hides WHERE conversation = ? AND seq = ?", row, seq);
  }
  sql.run(FORGET_NAMES, row);
  dropBlobs(lookup, row);
}

interface Needed {
  /** The deepest node still inherited, for each segment with one. */
  readonly depths: ReadonlyMap<number, number>;
  /** Hide facts that no fork looks at. */
  readonly idleHides: readonly number[];
}

/** What living forks, near and far, need of a conversation; null when there are none. */
function neededFrom(lookup: Lookup, row: number): Needed | null {
  const { sql } = lookup;
  const depths = new Map<number, number>();
  const lineages = sql.all<[number]>(FORKS, row).flatMap(([fork]) => {
    const below = lookup.conversations.at(fork)?.fork;
    return below ? [lookup.lineage(fork, below)] : [];
  });
  if (lineages.length === 0) return null;
  for (const lineage of lineages) {
    for (const [name, depth] of lineage.depths) {
      const [holder, segment] = name.split(":").map(Number);
      if (holder === row && segment !== undefined)
        depths.set(segment, Math.max(depth, depths.get(segment) ?? -1));
    }
  }
  const idleHides = sql.all<[number, number, string]>(HIDES, row).flatMap(([seq, holder, target]) => {
    const node = sql.get<EntryRow>(BY_ID, holder, target);
    const spot = node === undefined ? null : spotOf(node);
    const used = lineages.some(
      (lineage) =>
        onPath(lineage, spot) && lineage.hideLevels.some((level) => level.row === row && level.head >= seq),
    );
    return used ? [] : [seq];
  });
  return { depths, idleHides };
}

/** Removes the blobs that neither a remaining node names nor an entry of a fork that could see them. */
function dropBlobs(lookup: Lookup, row: number): void {
  const { sql } = lookup;
  const held = new Map(
    sql.all<[string, number]>("SELECT digest, seq FROM blobs WHERE conversation = ?", row),
  );
  if (held.size === 0) return;
  const named = new Set<string>();
  for (const entry of entriesIn(sql, KEPT, row)) {
    if (entry[7] !== null) named.add(entry[7]);
    for (const digest of digestsNamed(lookup.stored(entry).payload, held)) named.add(digest);
  }
  for (const [fork, head] of sql.all<[number, number]>(BELOW, row)) {
    const seen = new Set(
      [...held].flatMap(([digest, seq]) => (seq <= head && !named.has(digest) ? [digest] : [])),
    );
    if (seen.size === 0) continue;
    for (const entry of entriesIn(sql, ALL, fork))
      for (const digest of digestsNamed(lookup.stored(entry).payload, seen)) named.add(digest);
  }
  for (const digest of held.keys())
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
