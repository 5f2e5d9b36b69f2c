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
const BY_ID = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_id WHERE conversation = ? AND id = ?`;
const UNINDEX = "DELETE FROM search WHERE rowid IN (SELECT row FROM entries WHERE conversation = ?)";
// Rows freed at the end of the table are used again; the index must look at them again too.
const REWIND = "UPDATE search_cursor SET entry = min(entry, (SELECT coalesce(max(row), 0) FROM entries))";

/** Removes a conversation, then any erased source that was kept only for it. */
export function eraseTx(lookup: Lookup, space: string, id: ConversationId): void {
  const { sql } = lookup;
  const doomed = lookup.listed(space, id);
  sql.run(UNINDEX, doomed.row);
  sql.run(
    "UPDATE conversations SET listed = 0, title = NULL, cwd = NULL, lease_writer = NULL, lease_until = NULL WHERE row = ?",
    doomed.row,
  );
  let at: Conversation | undefined = doomed;
  do {
    reduce(lookup, at.row);
    at = at.fork === null ? undefined : lookup.conversations.at(at.fork.source);
  } while (at !== undefined && !at.listed);
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

/** Removes the blobs that no remaining node names, by its payload or in it. */
function dropBlobs(lookup: Lookup, row: number): void {
  const { sql } = lookup;
  const held = sql
    .all<[string]>("SELECT digest FROM blobs WHERE conversation = ?", row)
    .map(([digest]) => digest);
  if (held.length === 0) return;
  const named = digestsIn(lookup, sql, row);
  for (const digest of held)
    if (!named.has(digest)) sql.run("DELETE FROM blobs WHERE conversation = ? AND digest = ?", row, digest);
}

function digestsIn(lookup: Lookup, sql: Sql, row: number): ReadonlySet<string> {
  const named = new Set<string>();
  let after = 0;
  for (;;) {
    const rows = sql.all<EntryRow>(KEPT, row, after);
    for (const entry of rows) {
      after = entry[2];
      if (entry[7] !== null) named.add(entry[7]);
      for (const [digest] of lookup.stored(entry).payload.matchAll(/[0-9a-f]{64}/g)) named.add(digest);
    }
    if (rows.length === 0) return named;
  }
}
