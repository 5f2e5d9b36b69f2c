import type { DatabaseSync } from "node:sqlite";
import { LogError } from "#log/errors";

/** "Hold": how a file says that it is one of ours before anything in it is read. */
export const APPLICATION_ID = 0x48_6f_6c_64;

const SEARCH_TABLE = `
CREATE VIRTUAL TABLE search USING fts5(text, tokenize='trigram', detail=none, columnsize=0);
-- Without it a deleted entry's words would stay readable in the index.
INSERT INTO search(search, rank) VALUES ('secure-delete', 1);
`;

// Rowid tables throughout the hot path: appends of many conversations share the last pages of "entries", which is
// what makes a group commit cheap. A conversation's own row number stands in for (space, id) in every index.
export const VERSION_1: string = `
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
  UNIQUE (space, id)
) STRICT;
CREATE INDEX conversations_recent ON conversations (space, updated_at, id) WHERE listed = 1;
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
  payload TEXT
) STRICT;
CREATE UNIQUE INDEX entries_seq ON entries (conversation, seq);
CREATE UNIQUE INDEX entries_id ON entries (id, conversation); -- id first: ids made together lie together, whoever's they are
CREATE UNIQUE INDEX entries_path ON entries (conversation, segment, depth) WHERE segment IS NOT NULL;
CREATE INDEX entries_mark ON entries (conversation, segment, kind, depth) WHERE segment IS NOT NULL AND kind IS NOT NULL;
CREATE INDEX entries_kind ON entries (conversation, kind, seq) WHERE kind IS NOT NULL;

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

CREATE TABLE search_cursor (entry INTEGER NOT NULL) STRICT; -- the last row of "entries" the index has seen
INSERT INTO search_cursor VALUES (0);
${SEARCH_TABLE}`;

/** Throws the search index away; it is derived, and the next search fills it again. */
export const REBUILD_SEARCH: string = `DROP TABLE IF EXISTS search; UPDATE search_cursor SET entry = 0; ${SEARCH_TABLE}`;

/** A label's text and target as its payload says; null where SQLite cannot tell: it lies in a blob, or too deep. */
export const LABEL_OF = "CASE WHEN json_valid(payload) THEN coalesce(payload ->> '$.label', '') END";
export const LABEL_TARGET_OF = "CASE WHEN json_valid(payload) THEN payload ->> '$.target' END";

export const LABEL_INDEXES: string = `
CREATE INDEX entries_label ON entries (${LABEL_OF}, conversation, seq) WHERE kind = 32;
CREATE INDEX entries_label_target ON entries (${LABEL_TARGET_OF}, conversation, seq) WHERE kind = 32;
`;

/** The last entry of a batch has the batch's link and says who wrote it; the head remembers the latest links. */
export const BATCH_LINKS = `
ALTER TABLE entries ADD COLUMN link BLOB;
ALTER TABLE entries ADD COLUMN by_owner INTEGER;
ALTER TABLE conversations ADD COLUMN link BLOB;
ALTER TABLE conversations ADD COLUMN owner_link BLOB;
`;
/** What lists show of a conversation beyond the rest of its row, as JSON; null: not counted. */
export const ADD_SUMMARY = "ALTER TABLE conversations ADD COLUMN summary TEXT";

/** Lists go by the index, so that the many logs of programs cost those of people nothing. */
export const UNLISTED_LOGS = `
ALTER TABLE conversations ADD COLUMN unlisted INTEGER NOT NULL DEFAULT 0;
UPDATE conversations SET unlisted = 1 WHERE summary ->> '$.unlisted';
DROP INDEX conversations_recent;
CREATE INDEX conversations_recent ON conversations (space, unlisted, updated_at, id) WHERE listed = 1;
`;

/** A run's row from its start on. What changes while it runs is in the summary of its conversation. */
export const RUN_ROWS = `
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

export const SCHEMA_VERSION = 7;
const FOLDED_SEARCH_VERSION = 2;
export const LABEL_INDEX_VERSION = 3;
export const BATCH_LINKS_VERSION = 4;
export const SUMMARY_VERSION = 5;
export const UNLISTED_VERSION = 6;
export const RUNS_VERSION = 7;

/** For a file that cannot be migrated: its index is of another kind, so everything is looked through as it is. */
export function hideOldSearch(db: DatabaseSync, version: number): void {
  if (version === 0 || version >= FOLDED_SEARCH_VERSION) return;
  db.exec(`CREATE TEMP TABLE search_cursor (entry INTEGER NOT NULL); INSERT INTO temp.search_cursor VALUES (0);
    CREATE VIRTUAL TABLE temp.search USING fts5(text, tokenize='trigram', detail=none, columnsize=0)`);
}

export function checkSchemaVersion(found: number, path: string): void {
  if (found <= SCHEMA_VERSION) return;
  throw new LogError(
    "unsupported_version",
    `${path} has schema version ${found}; this program knows versions up to ${SCHEMA_VERSION}. Nothing was changed: use a newer Holdfast.`,
    { version: found, current: SCHEMA_VERSION },
  );
}
