import { DatabaseSync } from "node:sqlite";
import { LogError } from "#log/errors";

/** "Hold": how a file says that it is one of ours before anything in it is read. */
export const APPLICATION_ID = 0x48_6f_6c_64;

const SEARCH_TABLE = `
CREATE VIRTUAL TABLE search USING fts5(text, tokenize='trigram', detail=none, columnsize=0);
-- Without it a deleted entry's words would stay readable in the index.
INSERT INTO search(search, rank) VALUES ('secure-delete', 1);
`;

/** A label's text and target as its payload says; null where SQLite cannot tell: it lies in a blob, or too deep. */
export const LABEL_OF = "CASE WHEN json_valid(payload) THEN coalesce(payload ->> '$.label', '') END";
export const LABEL_TARGET_OF = "CASE WHEN json_valid(payload) THEN payload ->> '$.target' END";

const LABEL_INDEXES = `
CREATE INDEX entries_label ON entries (${LABEL_OF}, conversation, seq) WHERE kind = 32;
CREATE INDEX entries_label_target ON entries (${LABEL_TARGET_OF}, conversation, seq) WHERE kind = 32;
`;

/** A run's row from its start on. What changes while it runs is in the summary of its conversation. */
const RUNS_TABLE = `
CREATE TABLE runs (
  conversation INTEGER NOT NULL,
  seq INTEGER NOT NULL,      -- of its start
  space TEXT NOT NULL,
  run TEXT NOT NULL,
  trigger TEXT NOT NULL,
  mailbox TEXT,
  started_at TEXT NOT NULL,
  finished TEXT,             -- what was counted, as JSON; null while it runs
  PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_time ON runs (space, started_at, conversation, seq);
CREATE INDEX runs_mailbox ON runs (space, mailbox, started_at, conversation, seq) WHERE mailbox IS NOT NULL;
CREATE INDEX runs_id ON runs (run, space);
`;

/** Lists go by this index, so that the many logs of programs cost those of people nothing. */
const RECENT_INDEX =
  "CREATE INDEX conversations_recent ON conversations (space, unlisted, updated_at, id) WHERE listed = 1;";

// Rowid tables throughout the hot path: appends of many conversations share the last pages of "entries", which is
// what makes a group commit cheap. A conversation's own row number stands in for (space, id) in every index.
const SCHEMA: string = `
CREATE TABLE conversations (
  row INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: caches and forks name conversations by it
  space TEXT NOT NULL,
  id TEXT NOT NULL,
  listed INTEGER NOT NULL,               -- 0: erased, and kept for the forks that stand on it
  head_seq INTEGER NOT NULL,
  owner_seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  leaf_id TEXT NOT NULL,
  leaf_conversation INTEGER,             -- null: this one
  leaf_segment INTEGER NOT NULL,
  leaf_depth INTEGER NOT NULL,
  leaf_tip INTEGER NOT NULL,
  segments INTEGER NOT NULL,
  source INTEGER,                        -- the conversation a fork was asked from, and how much of it it sees
  source_head INTEGER,
  origin_entry TEXT,
  origin_conversation INTEGER,           -- the conversation that holds the node the fork grows from
  origin_segment INTEGER,
  origin_depth INTEGER,
  title TEXT,
  cwd TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  lease_writer TEXT,
  lease_until INTEGER,
  link BLOB,                             -- of the last batch
  owner_link BLOB,                       -- of the last batch of the owner
  summary TEXT,                          -- what lists show beyond the rest of the row, as JSON; null: not counted
  unlisted INTEGER NOT NULL DEFAULT 0,   -- 1: the log of a program, which lists leave out unless asked
  UNIQUE (space, id)
) STRICT;
${RECENT_INDEX}
CREATE INDEX conversations_source ON conversations (source) WHERE source IS NOT NULL;

CREATE TABLE entries (
  row INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  time TEXT NOT NULL,
  v INTEGER NOT NULL,
  parent TEXT,
  segment INTEGER, -- null for facts
  depth INTEGER,   -- along the whole path, so a fork goes on counting where its source was
  kind INTEGER,    -- the type again for the rare ones, so that only they are in the index by type
  blob TEXT,       -- the digest of a large payload, which then lies in "blobs"
  payload TEXT,
  link BLOB,       -- of the batch that ends here; null in the middle of one
  by_owner INTEGER -- of the batch that ends here: whether its owner wrote it
) STRICT;
CREATE UNIQUE INDEX entries_seq ON entries (conversation, seq);
CREATE UNIQUE INDEX entries_id ON entries (id, conversation); -- id first: ids made together lie together, whoever's they are
CREATE UNIQUE INDEX entries_path ON entries (conversation, segment, depth) WHERE segment IS NOT NULL;
CREATE INDEX entries_mark ON entries (conversation, segment, kind, depth) WHERE segment IS NOT NULL AND kind IS NOT NULL;
CREATE INDEX entries_kind ON entries (conversation, kind, seq) WHERE kind IS NOT NULL;
${LABEL_INDEXES}
CREATE TABLE segments (
  conversation INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  ancestor_conversation INTEGER,
  ancestor_segment INTEGER,
  ancestor_depth INTEGER,
  marks TEXT NOT NULL, -- where the latest node of each kind lies at the ancestor: found without hopping segments
  PRIMARY KEY (conversation, segment)
) STRICT, WITHOUT ROWID;

CREATE TABLE hides (
  conversation INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  holder INTEGER NOT NULL, -- the conversation that holds the target
  target TEXT NOT NULL,
  hidden INTEGER NOT NULL,
  PRIMARY KEY (conversation, depth, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  conversation INTEGER NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL,
  last_id TEXT NOT NULL,
  PRIMARY KEY (conversation, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
  row INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  digest TEXT NOT NULL,
  seq INTEGER NOT NULL, -- the head when it came: a fork sees the blobs its source had by then
  encoding TEXT NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (conversation, digest)
) STRICT;

${RUNS_TABLE}
CREATE TABLE search_cursor (entry INTEGER NOT NULL) STRICT; -- the last row of "entries" the index has seen
INSERT INTO search_cursor VALUES (0);
${SEARCH_TABLE}`;

/** Throws the search index away; it is derived, and the next search fills it again. */
export const REBUILD_SEARCH: string = `DROP TABLE IF EXISTS search; UPDATE search_cursor SET entry = 0; ${SEARCH_TABLE}`;

export const SCHEMA_VERSION = 1;

/** The highest number that programs gave a file before the first release; there it meant other tables. */
const PREVIEW_VERSIONS = 7;
const HAS_RUNS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'runs'";

/** The version of the tables in a file; 0: it has none, or those of a preview. */
export function schemaVersionOf(db: DatabaseSync): number {
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  return version <= PREVIEW_VERSIONS && db.prepare(HAS_RUNS).get() === undefined ? 0 : version;
}

const PREVIEW_LACKS: readonly (readonly [table: string, column: string, definition: string])[] = [
  ["entries", "link", "BLOB"],
  ["entries", "by_owner", "INTEGER"],
  ["conversations", "link", "BLOB"],
  ["conversations", "owner_link", "BLOB"],
  ["conversations", "summary", "TEXT"],
  ["conversations", "unlisted", "INTEGER NOT NULL DEFAULT 0"],
];
const HAS_COLUMN = "SELECT 1 FROM pragma_table_info(?) WHERE name = ?";

/** Creates the tables. The golden files of log formats 1 and 2 come from previews: they get the tables and columns they lack. */
function createTables(db: DatabaseSync): void {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'conversations'").get() === undefined) {
    db.exec(SCHEMA);
    return;
  }
  for (const [table, column, definition] of PREVIEW_LACKS)
    if (db.prepare(HAS_COLUMN).get(table, column) === undefined)
      db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`);
  db.exec(`DROP INDEX IF EXISTS entries_label; DROP INDEX IF EXISTS entries_label_target; DROP INDEX conversations_recent;
    ${RECENT_INDEX} ${LABEL_INDEXES} ${RUNS_TABLE} ${REBUILD_SEARCH}`);
}

export function checkSchemaVersion(version: number, path: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new LogError(
    "unsupported_version",
    `${path} has schema version ${version}. This version of Holdfast supports versions up to ${SCHEMA_VERSION}.`,
    { version: version, current: SCHEMA_VERSION },
  );
}

type Step = (db: DatabaseSync) => void;

/** Step n leads from schema version n to n + 1. Old files open forever: steps are added, never changed. */
export const STEPS: readonly Step[] = [createTables];

/** Brings the schema up to date in one transaction, which the caller has begun and ends. */
export function migrate(db: DatabaseSync, steps: readonly Step[] = STEPS): void {
  for (const step of steps.slice(schemaVersionOf(db))) step(db);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${steps.length}`);
}

const TABLES = `SELECT name, sql FROM file.sqlite_schema
  WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND (name = 'search_cursor' OR name NOT LIKE 'search%')`;
const INDEXES = "SELECT sql FROM file.sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";

/** An older file for reading only: it stays as it is, and a copy in memory is brought up to date. The search index starts empty. */
export function migratedCopy(file: string): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  try {
    db.prepare("ATTACH ? AS file").run(file);
    for (const { name, sql } of db.prepare(TABLES).all())
      db.exec(`${String(sql)}; INSERT INTO main.${String(name)} SELECT * FROM file.${String(name)}`);
    for (const { sql } of db.prepare(INDEXES).all()) db.exec(String(sql));
    db.exec("DETACH file");
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
