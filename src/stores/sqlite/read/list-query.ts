import { type ConversationId, type EntryId, listCursor, parseListCursor, type SpaceId } from "#log/ids";
import type { ConversationRow, ListRequest } from "#store/requests";
import type { Lookup } from "#stores/sqlite/tables/lookup";
import { summaryIn } from "#stores/sqlite/tables/rows";
import { rowsMax } from "#stores/sqlite/tables/sql";

const COLUMNS = "id, title, cwd, created_at, updated_at, head_seq, leaf_id, source, origin_entry, summary";
const ORDER = "ORDER BY updated_at DESC, id DESC LIMIT ?";
// The index holds order and prefix, so rows outside the page are not read, and bodies never. Forks of one conversation are few.
const ALL = "INDEXED BY conversations_recent WHERE";
const FORKS = `INDEXED BY conversations_source
  WHERE source = (SELECT row FROM conversations WHERE space = ? AND id = ?) AND`;
const BEHIND = "AND (updated_at, id) < (?, ?)";

/** By whether it lists forks and whether it follows a cursor; each is created once. */
const texts = new Map<string, string>();

function textOf(isForks: boolean, isBehind: boolean): string {
  const key = `${isForks} ${isBehind}`;
  const made =
    texts.get(key) ??
    `SELECT ${COLUMNS} FROM conversations ${isForks ? FORKS : ALL}
  listed = 1 AND space = ? AND unlisted = ? ${isBehind ? BEHIND : ""} AND substr(id, 1, ?) = ? ${ORDER}`;
  texts.set(key, made);
  return made;
}

type Row = readonly [
  id: ConversationId,
  title: string | null,
  cwd: string | null,
  createdAt: string,
  updatedAt: string,
  headSeq: number,
  leaf: EntryId,
  source: number | null,
  originEntry: EntryId | null,
  summary: string | null,
];

export interface ListPage {
  readonly conversations: readonly ConversationRow[];
  readonly next: string | null;
}

/** A page of a space's conversations, the most recently changed first. */
export function listPage(lookup: Lookup, space: SpaceId, request: ListRequest): ListPage {
  const { sql } = lookup;
  const { after, prefix = "", forkOf } = request;
  const limit = rowsMax(request.limit);
  const unlisted = request.unlisted === true ? 1 : 0;
  const rows = sql.all<Row>(
    textOf(forkOf !== undefined, after !== undefined),
    ...(forkOf === undefined ? [] : [space, forkOf]),
    space,
    unlisted,
    ...(after === undefined ? [] : parseListCursor(after)),
    prefix.length,
    prefix,
    limit + 1,
  );
  const conversations = rows.slice(0, limit).map((row) => toListed(lookup, row));
  const last = conversations.at(-1);
  return {
    conversations,
    next: last !== undefined && rows.length > limit ? listCursor(last) : null,
  };
}

function toListed(lookup: Lookup, row: Row): ConversationRow {
  const [conversation, title, cwd, createdAt, updatedAt, headSeq, leaf, source, entry, summary] = row;
  const origin =
    source === null || entry === null ? null : { conversation: lookup.conversations.nameOf(source), entry };
  const columns = { conversation, title, cwd, createdAt, updatedAt, headSeq, leaf, origin };
  return { ...columns, summary: summaryIn(summary), damage: null };
}
