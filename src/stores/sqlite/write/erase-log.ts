import { relink } from "#log/batch-links";
import { digestsNamed } from "#log/plans/plan-erase";
import { sha256 } from "#store/sha256";
import type { ConversationId } from "#log/ids";
import { type Lookup, spotOf } from "#stores/sqlite/tables/lookup";
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
const LIVING = `${BELOW} SELECT b.head, c.origin_conversation, c.origin_segment, c.origin_depth
  FROM below b CROSS JOIN conversations c ON c.row = b.row WHERE c.listed = 1`;
const BY_ID = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_id WHERE conversation = ? AND id = ?`;
// The entries these named may be gone, and an id can be telling. Forks find their way by segment and depth.
const FORGET_NAMES =
  "UPDATE conversations SET leaf_id = '', origin_entry = iif(origin_entry IS NULL, NULL, '') WHERE row = ?";
const UNINDEX = "DELETE FROM search WHERE rowid IN (SELECT row FROM entries WHERE conversation = ?)";
// Rows freed at the end of the table are used again; the index must look at them again too.
const REWIND = "UPDATE search_cursor SET entry = min(entry, (SELECT coalesce(max(row), 0) FROM entries))";

const SET_LINK = "UPDATE entries SET link = ?, by_owner = 1 WHERE conversation = ? AND seq = ?";

/** Removes a conversation, then what was kept only for it of erased conversations above. */
export function eraseTx(lookup: Lookup, space: string, id: ConversationId): void {
  const { sql } = lookup;
  const doomed = lookup.listed(space, id);
  sql.run(UNINDEX, doomed.row);
  sql.run(
    "UPDATE conversations SET listed = 0, title = NULL, cwd = NULL, summary = NULL, lease_writer = NULL, lease_until = NULL WHERE row = ?",
    doomed.row,
  );
  const stoodOn = trim(lookup, doomed);
  let above = doomed.fork === null ? undefined : lookup.conversations.at(doomed.fork.source);
  // All the way up: past a living source there may be an erased one that kept a blob for this fork alone.
  while (above !== undefined) {
    if (!above.listed && stoodOn) dropBlobs(lookup, above.row);
    else if (!above.listed) trim(lookup, above);
    above = above.fork === null ? undefined : lookup.conversations.at(above.fork.source);
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
  const needed = neededFrom(lookup, row);
  sql.run("DELETE FROM keys WHERE conversation = ?", row);
  if (needed === null) {
    for (const table of ["entries", "hides", "segments", "blobs"])
      sql.run(`DELETE FROM ${table} WHERE conversation = ?`, row);
    sql.run("DELETE FROM conversations WHERE row = ?", row);
    return false;
  }
  const stoodOn =
    fork !== null && [...needed.depths.keys()].some((segment) => growsFrom(lookup, row, segment, fork.at));
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
  writeLinks(lookup, row);
  dropBlobs(lookup, row);
  return stoodOn;
}

/** What is left stands as new batches: a link of before would be a digest of what was erased. */
function writeLinks(lookup: Lookup, row: number): void {
  const { sql } = lookup;
  sql.run("UPDATE entries SET link = NULL, by_owner = NULL WHERE conversation = ? AND link IS NOT NULL", row);
  const kept = entriesIn(sql, ALL, row).map((entry) => lookup.stored(entry));
  let last: string | null = null;
  for (const { entries, link } of relink(sha256, kept)) {
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

function growsFrom(lookup: Lookup, row: number, segment: number, rowPlace: RowPlace): boolean {
  const { ancestor } = lookup.segment(row, segment);
  return (
    ancestor?.row === rowPlace.row &&
    ancestor.segment === rowPlace.segment &&
    ancestor.depth === rowPlace.depth
  );
}

interface Needed {
  /** The deepest node still inherited, for each segment with one. */
  readonly depths: ReadonlyMap<number, number>;
  /** Hide facts that no fork looks at. */
  readonly idleHides: readonly number[];
}

type Living = readonly [head: number, row: number, segment: number, depth: number];

/** What living forks, near and far, need of a conversation; null when there are none. */
function neededFrom(lookup: Lookup, row: number): Needed | null {
  const { sql } = lookup;
  const living = sql.all<Living>(LIVING, row).map(([head, holder, segment, depth]) => ({
    head,
    at: { row: holder, segment, depth },
  }));
  if (living.length === 0) return null;
  const depths = new Map<number, number>();
  const inRow = new Climb(lookup, (rowPlace) => rowPlace.row === row);
  for (const { at } of living) keepPath(lookup, inRow.from(at), depths);
  const inSegments = new Map<string, Climb>();
  const idleHides = sql.all<[number, number, string]>(HIDES, row).flatMap(([seq, holder, target]) => {
    const node = sql.get<EntryRow>(BY_ID, holder, target);
    const rowPlace = node === undefined ? null : spotOf(node);
    if (rowPlace === null) return [seq];
    const name = `${rowPlace.row}:${rowPlace.segment}`;
    const inSegment =
      inSegments.get(name) ??
      new Climb(lookup, (on) => on.row === rowPlace.row && on.segment === rowPlace.segment);
    inSegments.set(name, inSegment);
    const used = living.some(
      ({ head, at }) => head >= seq && (inSegment.from(at)?.depth ?? -1) >= rowPlace.depth,
    );
    return used ? [] : [seq];
  });
  return { depths, idleHides };
}

/** Notes how deep each segment of a conversation is inherited on the path that ends at a spot of it. */
function keepPath(lookup: Lookup, end: RowPlace | null, depths: Map<number, number>): void {
  for (let at = end; at !== null && at.row === end?.row; at = lookup.segment(at.row, at.segment).ancestor) {
    const known = depths.get(at.segment) ?? -1;
    if (known >= at.depth) return; // and so is all that is above it
    depths.set(at.segment, at.depth);
  }
}

/** Finds where paths first come to a place they are asked about. Each segment is climbed once, however many forks share it. */
class Climb {
  readonly #lookup: Lookup;
  readonly #isThere: (rowPlace: RowPlace) => boolean;
  readonly #above = new Map<string, RowPlace | null>();

  constructor(lookup: Lookup, isThere: (rowPlace: RowPlace) => boolean) {
    this.#lookup = lookup;
    this.#isThere = isThere;
  }

  from(end: RowPlace): RowPlace | null {
    const climbed: string[] = [];
    let at: RowPlace | null = end;
    while (at !== null && !this.#isThere(at)) {
      const name = `${at.row}:${at.segment}`;
      const known = this.#above.get(name);
      if (known !== undefined) {
        at = known;
        break;
      }
      climbed.push(name);
      at = this.#lookup.segment(at.row, at.segment).ancestor;
    }
    for (const name of climbed) this.#above.set(name, at);
    return at;
  }
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
  for (const [fork, head] of sql.all<[number, number]>(FORKS, row)) {
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
