/** In statements the schema is written as "@": which one it is, only an open store knows. */
const TEXT = 'text collate "C"';
const OWNER = `space ${TEXT} not null, conversation ${TEXT} not null`;

/** The tables with a row or more per conversation, all under (space, conversation). */
export const LOG_TABLES = [
  "entries",
  "segments",
  "hides",
  "labels",
  "keys",
  "blobs",
  "runs",
  "search",
] as const;

const TABLES: { readonly [T in (typeof LOG_TABLES)[number]]: string } = {
  entries: `${OWNER}, seq int8 not null, id ${TEXT} not null, type ${TEXT} not null, time ${TEXT} not null, v int4 not null,
    parent ${TEXT}, segment int4, depth int4, kind int4, payload ${TEXT} not null, link ${TEXT}, by_owner boolean,
    primary key (space, conversation, seq)`,
  segments: `${OWNER}, segment int4 not null, ancestor_conversation ${TEXT}, ancestor_segment int4, ancestor_depth int4,
    marks jsonb not null, primary key (space, conversation, segment)`,
  hides: `${OWNER}, depth int4 not null, seq int8 not null, holder ${TEXT} not null, target ${TEXT} not null,
    hidden boolean not null, primary key (space, conversation, depth, seq)`,
  labels: `${OWNER}, seq int8 not null, target ${TEXT} not null, label ${TEXT} not null,
    primary key (space, conversation, seq)`,
  keys: `${OWNER}, key ${TEXT} not null, digest ${TEXT} not null, from_seq int8 not null, to_seq int8 not null,
    last_id ${TEXT} not null, primary key (space, conversation, key)`,
  blobs: `${OWNER}, digest ${TEXT} not null, seq int8 not null, bytes bytea not null,
    primary key (space, conversation, digest)`,
  runs: `${OWNER}, seq int8 not null, run ${TEXT} not null, trigger ${TEXT} not null, mailbox ${TEXT},
    started_at ${TEXT} not null, end_seq int8, finished ${TEXT}, primary key (space, conversation, seq)`,
  search: `${OWNER}, seq int8 not null, time ${TEXT} not null, words ${TEXT} not null, grams text[] collate "C" not null,
    primary key (space, conversation, seq)`,
};

const INDEXES = `
create unique index entries_id on @.entries (space, conversation, id);
create unique index entries_path on @.entries (space, conversation, segment, depth) where segment is not null;
create index entries_kind on @.entries (space, conversation, kind, seq) where kind is not null;
create index entries_mark on @.entries (space, conversation, segment, kind, depth) where segment is not null and kind is not null;
create index labels_label on @.labels (space, conversation, label);
create index labels_target on @.labels (space, conversation, target);
create index runs_time on @.runs (space, started_at, conversation, seq);
create index runs_mailbox on @.runs (space, mailbox, started_at, conversation, seq) where mailbox is not null;
create index runs_id on @.runs (space, run);
create index search_grams on @.search using gin (grams);
create index search_time on @.search (space, time, seq);
`;

/** Whether a conversation has entries that the index of words has not come to; only those are in the index of these. */
export const IS_BEHIND = "c.listed and c.head_seq > coalesce(c.indexed_seq, 0)";

/**
 * A conversation's row is its head. It is written with every append, so a page keeps room for it. `wake_seq` is the head at which
 * somebody waits for the next append, `indexed_seq` the last entry in the index of words.
 */
const CONVERSATIONS = `
create table @.conversations (
  space ${TEXT} not null, id ${TEXT} not null, born ${TEXT} not null, listed boolean not null,
  head_seq int8 not null, owner_seq int8 not null, epoch int8 not null, link ${TEXT}, owner_link ${TEXT},
  leaf_id ${TEXT} not null, leaf_conversation ${TEXT}, leaf_segment int4 not null, leaf_depth int4 not null,
  leaf_tip boolean not null, segments int4 not null,
  source ${TEXT}, source_head int8, origin_entry ${TEXT}, origin_conversation ${TEXT}, origin_segment int4, origin_depth int4,
  title ${TEXT}, cwd ${TEXT}, created_at ${TEXT} not null, updated_at ${TEXT} not null,
  lease_writer ${TEXT}, lease_until int8, summary ${TEXT}, summary_seq int8 not null, unlisted boolean not null,
  wake_seq int8, indexed_seq int8,
  primary key (space, id)
) with (fillfactor = 70);
create index conversations_recent on @.conversations (space, unlisted, updated_at, id) where listed;
create index conversations_source on @.conversations (space, source) where source is not null;
create index conversations_behind on @.conversations (space, id) where ${IS_BEHIND.replaceAll("c.", "")};
create table @.search_marks (${OWNER}, born ${TEXT} not null, seq int8 not null, primary key (space, conversation));
`;

/** What a conversation is made of may be spread over hash partitions, for good. */
export function tablesSql(partitions: number): string {
  const tables = LOG_TABLES.map((name) => {
    if (partitions === 0) return `create table @.${name} (${TABLES[name]});`;
    const parts = Array.from(
      { length: partitions },
      (_, index) =>
        `create table @.${name}_${index} partition of @.${name} for values with (modulus ${partitions}, remainder ${index});`,
    );
    return [
      `create table @.${name} (${TABLES[name]}) partition by hash (space, conversation);`,
      ...parts,
    ].join("\n");
  });
  return [CONVERSATIONS, ...tables, INDEXES].join("\n");
}
