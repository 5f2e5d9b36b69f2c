import type { Appended } from "#log/batch";
import type { BatchEndAt } from "#log/batch-links";
import type { EntryType, StoredEntry } from "#log/entry";
import { typeNumber } from "#log/entry-types";
import { LogError } from "#log/errors";
import type { ConversationId, Digest, EntryId, SpaceId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import type { TailPage } from "#store/tail-feeds";
import type { BatchEndsRequest, HeadView, ReadRequest } from "#store/requests";
import { type Db, withSync } from "#stores/postgres/db";
import { conversationNotFound } from "#store/lookup-errors";
import { NOW_MS, READ_ENTRY } from "#stores/postgres/tables/read-sql";
import {
  ENTRY_COLUMNS,
  type EntryRow,
  headView,
  type Part,
  partsOf,
  placeIn,
  readState,
  stateIn,
  storedPart,
  toStored,
  escapeText,
} from "#stores/postgres/tables/rows";
import { rowsMax } from "#store/page-bounds";

const LISTED = "from @.conversations c where c.space = $1 and c.id = $2 and c.listed";
const STATE = `select row_to_json(c)::text, ${NOW_MS} ${LISTED}`;
/** One row that says the conversation is there, though nothing else was found. */
const THERE = `select c.id ${LISTED}`;
const KEY = `select k.from_seq, k.to_seq, k.last_id, k.digest from (${THERE}) c
  left join @.keys k on k.space = $1 and k.conversation = c.id and k.key = $3`;
const COLUMNS = ENTRY_COLUMNS.split(", ")
  .map((name) => `e.${name}`)
  .join(", ");

export async function readHead(
  db: Db,
  space: SpaceId,
  conversation: ConversationId,
  testMs: number | null = null,
): Promise<HeadView> {
  const [row] = await db.readPrepared<[string, number]>(STATE, space, conversation);
  if (row === undefined) throw conversationNotFound(conversation);
  const [text, nowMs] = row;
  return headView(readState(text), testMs ?? nowMs);
}

export async function findKey(
  db: Db,
  space: SpaceId,
  conversation: ConversationId,
  key: string,
): Promise<(Appended & { readonly digest: string }) | null> {
  const [row] = await db.read<[number | null, number, EntryId, string]>(
    KEY,
    space,
    conversation,
    escapeText(key),
  );
  if (row === undefined) throw conversationNotFound(conversation);
  const [fromSeq, toSeq, lastId, digest] = row;
  return fromSeq === null ? null : { fromSeq, toSeq, lastId, digest };
}

export async function readEntry(
  db: Db,
  space: SpaceId,
  conversation: ConversationId,
  entry: EntryId,
): Promise<StoredEntry & { readonly place: Place | null }> {
  const parts = await db.call<Part>(READ_ENTRY, space, conversation, entry);
  if (stateIn(parts) === null) throw conversationNotFound(conversation);
  const [part] = partsOf(parts, "node");
  if (part === undefined)
    throw new LogError("entry_not_found", `Entry ${entry} not found in conversation ${conversation}`, {
      conversation,
      entry,
    });
  return { ...storedPart(part), place: part[10] === null ? null : placeIn(part) };
}

/** Own entries in order of seq. One index range per type, so that the bulk of other types is never looked at. */
export async function readOwn(db: Db, space: SpaceId, request: ReadRequest): Promise<readonly StoredEntry[]> {
  const { newestFirst = false, types, conversation } = request;
  const { after = newestFirst ? Number.MAX_SAFE_INTEGER : 0 } = request;
  const { until = newestFirst ? 0 : Number.MAX_SAFE_INTEGER } = request;
  const range = newestFirst ? "e.seq < $3 and e.seq >= $4" : "e.seq > $3 and e.seq <= $4";
  const order = newestFirst ? "desc" : "asc";
  const one = (condition: string): string => `select ${COLUMNS} from @.entries e
    where e.space = $1 and e.conversation = c.id and ${range} ${condition} order by e.seq ${order} limit $5`;
  const parts = types === undefined ? [one("")] : [...new Set(types)].map((type) => one(typeIs(type)));
  const union = parts.map((text) => `(${text})`).join(" union all ");
  const matches = `select * from (${union === "()" || union === "" ? NONE : union}) u order by u.seq ${order} limit $5`;
  const { bytes } = request;
  const rows = await db.read<readonly (EntryRow[number] | null)[]>(
    `select ${COLUMNS} from (${THERE}) c left join lateral (${bytes === undefined ? matches : withinBytes(matches, order)}) e
      on true order by e.seq ${order}`,
    space,
    conversation,
    after,
    until,
    rowsMax(request.limit),
    ...(bytes === undefined ? [] : [bytes]),
  );
  if (rows.length === 0) throw conversationNotFound(conversation);
  return rows.flatMap((row) => (row[2] === null ? [] : [toStored(row as unknown as EntryRow)]));
}

/** The first of these rows, as many as so many bytes hold. How long a text is stands beside it: none is brought for that. */
function withinBytes(rows: string, order: string): string {
  return `select w.* from (select p.*, row_number() over up as nth, sum(octet_length(p.payload)) over up as bytes
    from (${rows}) p window up as (order by p.seq ${order})) w where w.nth = 1 or w.bytes <= $6`;
}

const NONE = `select ${COLUMNS} from @.entries e where false`;

const TAIL_PAGE = `select c.head_seq, (select b.id from @.entries b where b.space = $1 and b.conversation = c.id and b.seq = $3),
  ${COLUMNS} from (select c.id, c.head_seq ${LISTED}) c
  left join lateral (${withinBytes(
    `select ${COLUMNS} from @.entries e where e.space = $1 and e.conversation = c.id and e.seq > $3 and e.seq <= $4
      order by e.seq limit $5`,
    "asc",
  )}) e on true order by e.seq`;

/** The next entries and how far the log reaches, of one moment. */
export async function readTailPage(
  db: Db,
  space: SpaceId,
  {
    conversation,
    after,
    limit,
    bytes,
  }: Required<Pick<ReadRequest, "conversation" | "after" | "limit" | "bytes">>,
): Promise<TailPage> {
  const values = [space, conversation, after, Number.MAX_SAFE_INTEGER, limit, bytes];
  const rows = await db.read<readonly [number, EntryId | null, ...(EntryRow[number] | null)[]]>(
    TAIL_PAGE,
    ...values,
  );
  const [first] = rows;
  if (first === undefined) throw conversationNotFound(conversation);
  const entries = rows.flatMap(([, , ...row]) =>
    row[2] === null ? [] : [toStored(row as unknown as EntryRow)],
  );
  return { entries, headSeq: first[0], before: first[1] };
}

/** Types are words of our own table, so they may stand in the text. */
function typeIs(type: EntryType): string {
  const kind = typeNumber(type);
  return kind === null ? `and e.type = '${type.replaceAll("'", "")}'` : `and e.kind = ${kind}`;
}

const ENDS = `select e.seq, e.link, e.by_owner from (${THERE}) c left join lateral (
  select seq, link, by_owner from @.entries
  where space = $1 and conversation = c.id and seq > $3 and link is not null order by seq limit $4) e on true order by e.seq`;

export async function readBatchEnds(
  db: Db,
  space: SpaceId,
  { conversation, after, limit }: BatchEndsRequest,
): Promise<readonly BatchEndAt[]> {
  const rows = await db.read<[number | null, string, boolean]>(
    ENDS,
    space,
    conversation,
    after,
    rowsMax(limit),
  );
  if (rows.length === 0) throw conversationNotFound(conversation);
  return rows.flatMap(([seq, link, byOwner]) => (seq === null ? [] : [{ seq, link, byOwner }]));
}

/** On the disk before an entry can name it. */
const PUT_BLOB = `${withSync("false")},
c as (select c.id, c.head_seq ${LISTED} and exists (select from sync) for key share),
put as (insert into @.blobs (space, conversation, digest, seq, bytes) select $1, c.id, $3, c.head_seq, $4::bytea from c
  on conflict (space, conversation, digest) do nothing)
select c.id from c`;

export async function putBlobRow(
  db: Db,
  space: SpaceId,
  conversation: ConversationId,
  blob: { readonly digest: Digest; readonly bytes: Uint8Array },
): Promise<void> {
  const [row] = await db.write(PUT_BLOB, space, conversation, blob.digest, blob.bytes);
  if (row === undefined) throw conversationNotFound(conversation);
}

/** Own blobs, and those a source had when this conversation, or one above it, was forked. */
const BLOB = `with recursive levels (conversation, upto, source, source_head, level) as (
  select c.id, 9223372036854775807, c.source, c.source_head, 0 ${LISTED}
  union all select p.id, l.source_head, p.source, p.source_head, l.level + 1 from levels l
    join @.conversations p on p.space = $1 and p.id = l.source)
select b.bytes from (${THERE}) c left join lateral (select b.bytes from levels l
  join @.blobs b on b.space = $1 and b.conversation = l.conversation and b.digest = $3 and b.seq <= l.upto
  order by l.level limit 1) b on true`;

export async function readBlob(
  db: Db,
  space: SpaceId,
  conversation: ConversationId,
  digest: Digest,
): Promise<Uint8Array> {
  const [row] = await db.read<[Buffer | null]>(BLOB, space, conversation, digest);
  if (row === undefined) throw conversationNotFound(conversation);
  if (row[0] === null)
    throw new LogError("blob_not_found", `Blob ${digest} not found in conversation ${conversation}`, {
      conversation,
    });
  return new Uint8Array(row[0]);
}
