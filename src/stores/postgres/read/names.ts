import type { StoredEntry } from "#log/entry";
import type { EntryId, SpaceId } from "#log/ids";
import type { IdsRequest, LabelRequest } from "#store/requests";
import type { Db } from "#stores/postgres/db/db";
import { notFound } from "#stores/postgres/postgres-errors";
import { CONVERSATION, inheritedPath } from "#stores/postgres/tables/read-sql";
import { ENTRY_COLUMNS, type EntryRow, toStored } from "#stores/postgres/tables/rows";
import { escapeText, nameDigest } from "#stores/postgres/tables/escape-text";
import { rowsMax } from "./window.ts";

const COLUMNS = ENTRY_COLUMNS.split(", ")
  .map((name) => `e.${name}`)
  .join(", ");
const NAMED = `e.segment is not null and e.id >= $3 and e.id < $3 || chr(1114111)
  and ($4 = '' or right(e.id, length($4)) = $4)`;

/** The visible nodes whose id starts and ends so, its own first. */
const IDS = `with recursive ${CONVERSATION}, ${inheritedPath("c")},
named as (select 0 as inherited, e.id from c join @.entries e on e.space = $1 and e.conversation = c.id and ${NAMED}
  union all select 1, e.id from path p
    join @.entries e on e.space = $1 and e.conversation = p.conversation and ${NAMED}
      and e.segment = p.segment and e.depth <= p.top)
select n.id from c left join lateral (select id, min(inherited) as inherited from named group by id
  order by 2, 1 limit $5) n on true`;

export async function nodeIds(db: Db, space: SpaceId, request: IdsRequest): Promise<readonly EntryId[]> {
  const { conversation, prefix, suffix = "" } = request;
  const rows = await db.read<[EntryId | null]>(
    IDS,
    space,
    conversation,
    escapeText(prefix),
    escapeText(suffix),
    rowsMax(request.limit),
  );
  if (rows.length === 0) throw notFound(conversation);
  return rows.flatMap(([id]) => (id === null ? [] : [id]));
}

/** How much of each log above a conversation sees of what is said there about nodes, its own last. */
const LEVELS = `levels (conversation, upto, source, source_head, level, listed) as (
  select c.id, 9223372036854775807, c.source, c.source_head, 0, true from c
  union all select p.id, l.source_head, p.source, p.source_head, l.level + 1, p.listed from levels l
    join @.conversations p on p.space = $1 and p.id = l.source)`;

/** Every label fact about a node that was ever given the label in `$3`; first how many facts give it. */
const LABELLED = `with recursive ${CONVERSATION}, ${LEVELS},
given as materialized (select l.level, b.target from levels l
  join @.labels b on b.space = $1 and b.conversation = l.conversation and b.label = $3 and b.seq <= l.upto limit $4 + 1),
said as materialized (select l.level, b.seq, l.conversation from levels l
  join @.labels b on b.space = $1 and b.conversation = l.conversation and b.seq <= l.upto
    and b.target in (select target from given)),
gone as (select 1 from levels l where not l.listed and l.level <= (select max(level) from said) limit 1)
select (select count(*) from given), exists (select from gone), e.level, ${COLUMNS} from c left join lateral (
  select s.level, ${COLUMNS} from said s
  join @.entries e on e.space = $1 and e.conversation = s.conversation and e.seq = s.seq) e on true
order by e.level desc, e.seq`;

export async function labelFacts(
  db: Db,
  space: SpaceId,
  { conversation, label, limit }: LabelRequest,
): Promise<readonly StoredEntry[] | null> {
  const most = rowsMax(limit);
  const rows = await db.read<readonly unknown[]>(LABELLED, space, conversation, nameDigest(label), most);
  const [first] = rows;
  if (first === undefined) throw notFound(conversation);
  const [count, isGone] = first as [number, boolean];
  // Above an erased log nothing that is said about nodes is inherited.
  if (count > most || isGone) return null;
  return rows.flatMap((row) => (row[2] === null ? [] : [toStored(row.slice(3) as unknown as EntryRow)]));
}
