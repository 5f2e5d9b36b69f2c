import { parseListCursor, type SpaceId, type EntryId, type ConversationId } from "#log/ids";
import type {
  ConversationRow,
  ListRequest,
  IdsRequest,
  LabelRequest,
  RunPage,
  RunsRequest,
} from "#store/requests";
import type { Db } from "#stores/postgres/db";
import { EVERY_SPACE } from "#stores/postgres/tables/row-security";
import {
  readState,
  ENTRY_COLUMNS,
  type EntryRow,
  toStored,
  escapeText,
  nameDigest,
} from "#stores/postgres/tables/rows";
import { pageOfConversations, rowsMax } from "#store/page-bounds";
import type { StoredEntry, Entry } from "#log/entry";
import { conversationNotFound } from "#store/lookup-errors";
import { CONVERSATION, inheritedPath } from "#stores/postgres/tables/read-sql";
import { decodeEntry } from "#log/codec";
import { pageOfRunRows, parseRunCursor, runOfRow } from "#store/run-pages";

// The index holds order and prefix, so rows outside the page are not read, and bodies never.
const page = (
  forks: string,
): string => `select row_to_json(c)::text from @.conversations c where c.listed and c.space = $1 and c.unlisted = $2
  and starts_with(c.id, $3) and ($4::text is null or (c.updated_at, c.id) < ($4::text, $5::text)) ${forks}
  order by c.updated_at desc, c.id desc limit $6`;
const PAGE = page("");
// By an index of its own; as one text with the other it would be planned for both.
const FORKS_PAGE = page("and c.source = $7");
const SPACES = "select distinct space from @.conversations where listed order by space";

/** A page of a space's conversations, the most recently changed first. */
export async function listPage(
  db: Db,
  space: SpaceId,
  request: ListRequest,
): Promise<{ readonly conversations: readonly ConversationRow[]; readonly next: string | null }> {
  const { after, prefix = "", unlisted = false, forkOf } = request;
  const limit = rowsMax(request.limit);
  const cursor = after === undefined ? [null, null] : parseListCursor(after);
  const values = [space, unlisted, escapeText(prefix), ...cursor, limit + 1];
  const rows = await (forkOf === undefined
    ? db.read<[string]>(PAGE, ...values)
    : db.read<[string]>(FORKS_PAGE, ...values, forkOf));
  return pageOfConversations(rows, limit, ([row]) => toListed(row));
}

function toListed(row: string): ConversationRow {
  const { head } = readState(row);
  const { conversation, title, cwd, createdAt, updatedAt, headSeq, origin, summary } = head;
  return {
    conversation,
    title,
    cwd,
    createdAt,
    updatedAt,
    headSeq,
    leaf: head.leaf.id,
    origin:
      origin === null
        ? null
        : {
            conversation: origin.source,
            entry: origin.entry,
          },
    summary,
    damage: null,
  };
}

export async function listSpaces(db: Db): Promise<readonly SpaceId[]> {
  return (await db.inSpace(EVERY_SPACE).read<[SpaceId]>(SPACES)).map(([space]) => space);
}

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
  if (rows.length === 0) throw conversationNotFound(conversation);
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
  if (first === undefined) throw conversationNotFound(conversation);
  const [count, isGone] = first as [number, boolean];
  // Above an erased log nothing that is said about nodes is inherited.
  if (count > most || isGone) return null;
  return rows.flatMap((row) => (row[2] === null ? [] : [toStored(row.slice(3) as unknown as EntryRow)]));
}

const columns = (of: string): string =>
  ENTRY_COLUMNS.split(", ")
    .map((name) => `${of}.${name}`)
    .join(", ");

type RunColumns = readonly [
  conversation: ConversationId,
  seq: number,
  startedAt: string,
  finished: string | null,
  state: string | null,
  ...EntryRow,
  ...EntryRow,
];

/** A page of a space's runs, each with the entries that it began and ended with: one statement, one moment. */
export async function runPage(db: Db, space: SpaceId, request: RunsRequest): Promise<RunPage> {
  const limit = rowsMax(request.limit);
  const { text, values } = query(space, request, limit + 1);
  const matches = await db.read<RunColumns>(text, ...values);
  const within = request.conversation;
  if (within !== undefined && matches.length === 0) throw conversationNotFound(within);
  const rows = matches.filter(([conversation]) => conversation !== null);
  return pageOfRunRows(
    rows,
    { ...request, limit },
    {
      cursor: ([conversation, seq, startedAt]) => [startedAt, conversation, seq],
      run: (row) => {
        const [, seq, , finished, state] = row;
        const head = state === null ? null : readState(state).head;
        return runOfRow({ seq, finished, start: entryIn(row.slice(5, 12)) }, head, () =>
          entryIn(row.slice(12, 19)),
        );
      },
    },
  );
}

function query(
  space: SpaceId,
  request: RunsRequest,
  limit: number,
): { readonly text: string; readonly values: readonly unknown[] } {
  const { newestFirst = false, conversation } = request;
  const values: unknown[] = [space];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  const names = { run: request.run, mailbox: request.mailbox, trigger: request.trigger };
  for (const [column, name] of Object.entries(names))
    if (name !== undefined) conditions.push(`r.${column} = ${bind(nameDigest(name))}`);
  if (request.since !== undefined) conditions.push(`r.started_at >= ${bind(request.since)}`);
  if (request.until !== undefined) conditions.push(`r.started_at < ${bind(request.until)}`);
  const order = conversation === undefined ? ["r.started_at", "r.conversation", "r.seq"] : ["r.seq"];
  if (request.after !== undefined) {
    const cursor = parseRunCursor(request.after).slice(-order.length);
    const [sign, marks] = [newestFirst ? "<" : ">", cursor.map((value) => bind(value)).join(", ")];
    conditions.push(`(${order.join(", ")}) ${sign} (${marks})`);
  }
  const way = newestFirst ? "desc" : "asc";
  const sorted = (of: string): string => order.map((name) => `${name.replace("r.", of)} ${way}`).join(", ");
  const only = conversation === undefined ? "true" : `r.conversation = ${bind(conversation)}`;
  const there =
    conversation === undefined
      ? "(select 1) c"
      : `(select 1 from @.conversations where space = $1 and id = ${bind(conversation)} and listed) c`;
  const text = `select r.conversation, r.seq, r.started_at, r.finished, row_to_json(h)::text, ${columns("s")}, ${columns("e")}
    from ${there} left join lateral (select * from @.runs r where r.space = $1 and ${[only, ...conditions].join(" and ")}
      order by ${sorted("r.")} limit ${bind(limit)}) r on true
    left join @.conversations h on h.space = $1 and h.id = r.conversation
    left join @.entries s on s.space = $1 and s.conversation = r.conversation and s.seq = r.seq
    left join @.entries e on e.space = $1 and e.conversation = r.conversation and e.seq = r.end_seq
    order by ${sorted("r.")}`;
  return { text, values };
}

function entryIn(columnsOf: readonly unknown[]): Entry | null {
  return columnsOf[0] === null ? null : decodeEntry(toStored(columnsOf as unknown as EntryRow));
}
