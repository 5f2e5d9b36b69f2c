import { type Call, withSync } from "#stores/postgres/db";
import { answered, planArray, type PlanField, planField, planRows } from "./packed-plan.ts";
import { setSpace } from "./row-security.ts";

/** Writing a batch. `$1` space, `$2` conversation, `$3` key, `$4` the plan, `$5` payloads, `$6` what is rare, as JSON. */
const BATCH_TYPES: readonly string[] = ["text", "text", "text", "text", "text", "json"];

/** Where a field of the plan is: of a variable, or of a row that every statement names. */
type Field = (name: PlanField, type?: string) => string;
const fieldOf =
  (plan: string): Field =>
  (name, type) =>
    type === undefined ? planField(plan, name) : `${planField(plan, name)}::${type}`;

/** Where the rows of a batch learn their seqs and its link: from the row that the statement changed, or variables. */
interface Changed {
  readonly field: Field;
  readonly seq: string;
  readonly link: string;
  readonly from: string;
}
const BY_ROW: Changed = { field: fieldOf("p.f"), seq: "head.head_seq", link: "head.link", from: "head, p, " };
const BY_VARIABLE: Changed = { field: fieldOf("f"), seq: "new_seq", link: "new_link", from: "" };

const COLUMNS: readonly PlanField[] = [
  "eachId",
  "eachType",
  "eachTime",
  "eachParent",
  "eachSegment",
  "eachDepth",
  "eachKind",
];

const putEntries = ({ field, seq, link, from }: Changed): string => `insert into @.entries
    (space, conversation, seq, id, type, time, v, parent, segment, depth, kind, payload, link, by_owner)
  select $1, $2, ${seq} - ${field("count", "int8")} + u.n, u.id, u.type, u.time, ${field("version", "int4")}, u.parent,
    u.segment::int4, u.depth::int4, u.kind::int4, u.payload,
    case when u.n = ${field("count", "int8")} then ${link} end,
    case when u.n = ${field("count", "int8")} then ${field("byOwner")} is not null end
  from ${from}unnest(${COLUMNS.map((name) => planRows(field(name))).join(", ")}, ${planRows("$5")}) with ordinality
    as u (id, type, time, parent, segment, depth, kind, payload, n)`;

const putKey = ({ field, seq, from }: Changed): string => `insert into @.keys
    (space, conversation, key, digest, from_seq, to_seq, last_id)
  select $1, $2, $3, coalesce(${field("digest")}, ''), ${seq} - ${field("count", "int8")} + 1, ${seq},
    (${planRows(field("eachId"))})[${field("count", "int4")}] from ${from}(values (1)) one (n) where $3 is not null`;

/** What few batches have: segments they open, hides, labels, runs. */
const putRare = ({ field, seq, from }: Changed): readonly string[] => [
  `insert into @.segments
    (space, conversation, segment, ancestor_conversation, ancestor_segment, ancestor_depth, marks)
  select $1, $2, s.segment, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth, s.marks from ${from}
    json_to_recordset($6 -> 'segments') as s (segment int4, ancestor_conversation text, ancestor_segment int4,
      ancestor_depth int4, marks jsonb)`,
  `insert into @.hides (space, conversation, depth, seq, holder, target, hidden)
  select $1, $2, d.depth, ${seq} - ${field("count", "int8")} + 1 + d.at, d.holder, d.target, d.hidden from ${from}
    json_to_recordset($6 -> 'hides') as d (at int4, depth int4, holder text, target text, hidden boolean)`,
  `insert into @.labels (space, conversation, seq, target, label)
  select $1, $2, ${seq} - ${field("count", "int8")} + 1 + l.at, l.target, l.label from ${from}
    json_to_recordset($6 -> 'labels') as l (at int4, target text, label text)`,
  `insert into @.runs (space, conversation, seq, run, trigger, mailbox, started_at, end_seq, finished)
  select $1, $2, r.seq, r.run, r.trigger, r.mailbox, r.started_at, r.end_seq, r.finished from ${from}
    json_to_recordset($6 -> 'started') as r (seq int8, run text, trigger text, mailbox text, started_at text,
      end_seq int8, finished text)`,
  `update @.runs set end_seq = f.end_seq, finished = f.finished
  from ${from}json_to_recordset($6 -> 'finished') as f (seq int8, end_seq int8, finished text)
  where runs.space = $1 and runs.conversation = $2 and runs.seq = f.seq`,
];

const PUTS: string = [putEntries(BY_ROW), putKey(BY_ROW), ...putRare(BY_ROW)]
  .map((put, index) => `put_${index} as (${put})`)
  .join(",\n");

/** The clock of the database, unless a test brings one. */
const now = (field: Field): string =>
  `coalesce(${field("nowMs", "int8")}, (extract(epoch from clock_timestamp()) * 1000)::int8)`;

/**
 * The link of the batch: as the caller made it where the log ends as the caller knew it, else here, where alone the link before
 * and the seq are known.
 */
const linkOf = (field: Field): string => `case
  when c.head_seq = ${field("knownSeq", "int8")} and c.link = ${field("knownLink")} then ${field("nextLink")}
  else encode(sha256(convert_to(${field("linkStart")} || octet_length(coalesce(c.link, '')) || ':' || coalesce(c.link, '')
    || length((c.head_seq + 1)::text) || ':' || (c.head_seq + 1)::text || ${field("linkEnd")}, 'UTF8')), 'hex') end`;

/** Changes the head if it is the one the plan rests on. Outside appends since then do not matter. */
function changeIfHeld(field: Field, from: string): string {
  const seq = `c.head_seq + ${field("count", "int8")}`;
  const isOwner = `${field("byOwner")} is not null`;
  const set = (column: string, name: PlanField, type?: string): string =>
    `${column} = coalesce(${field(name, type)}, c.${column})`;
  const kept = (column: string): string =>
    `${column} = case when ${field("releases")} is null then c.${column} end`;
  return `update @.conversations c set head_seq = ${seq}, link = ${linkOf(field)},
    owner_seq = case when ${isOwner} then ${seq} else c.owner_seq end,
    owner_link = case when ${isOwner} then ${linkOf(field)} else c.owner_link end,
    ${set("epoch", "newEpoch", "int8")}, ${set("leaf_id", "leafId")},
    leaf_conversation = case when ${field("leafId")} is null then c.leaf_conversation else ${field("leafConversation")} end,
    ${set("leaf_segment", "leafSegment", "int4")}, ${set("leaf_depth", "leafDepth", "int4")},
    ${set("leaf_tip", "leafTip", "boolean")}, segments = c.segments + ${field("segments", "int4")},
    title = coalesce($6 ->> 'title', c.title), cwd = coalesce($6 ->> 'cwd', c.cwd), updated_at = ${field("updatedAt")},
    ${set("summary", "summary")},
    summary_seq = case when ${field("summary")} is null then c.summary_seq else ${seq} end,
    ${kept("lease_writer")}, ${kept("lease_until")}
  ${from}where c.space = $1 and c.id = $2 and c.listed and c.born = ${field("born")}
    and (${field("byOwner")} is null or (c.epoch = ${field("epoch", "int8")} and c.owner_seq = ${field("ownerSeq", "int8")}
      and c.owner_link is not distinct from ${field("ownerLink")}))
    and (${field("unleased")} is null or c.lease_writer is null or c.lease_until <= ${now(field)})
    and (${field("summarySeq")} is null or c.summary_seq = ${field("summarySeq", "int8")})
    and (${field("headSeq")} is null or c.head_seq = ${field("headSeq", "int8")})`;
}

/** For servers where functions are unwelcome. A miss is explained by the next lookup. */
const byStatement = (): string => {
  const { field } = BY_ROW;
  const before = `head.head_seq - ${field("count", "int8")}`;
  return `${withSync(`${planField(`(${planArray("$4")})`, "relaxed")} is not null`)},
p as materialized (select ${planArray("$4")} as f),
head as (${changeIfHeld(field, "from p ")} and exists (select from sync)
    and ($3 is null or not exists (select from @.keys k where k.space = $1 and k.conversation = $2 and k.key = $3))
  returning c.*),
${PUTS}
select ${answered(
    "'written'",
    "head.head_seq::text",
    "head.link",
    "head.owner_link",
    `case when head.wake_seq = ${before} then head.wake_seq end::text`,
    `case when ${before} is distinct from ${field("knownSeq", "int8")} then row_to_json(head)::text end`,
  )} from head, p`;
};

/**
 * One call, exact verdicts. The usual batch is written by two statements, planned once for a connection; who wrote the key, or
 * what has moved, is asked only when it was not, and with eyes that see what was committed before.
 */
const { field } = BY_VARIABLE;
const HEAD = "from @.conversations c where c.space = $1 and c.id = $2 and c.listed";
const KEY = "from @.keys k where k.space = $1 and k.conversation = $2 and k.key = $3";
const KEY_SEEN = answered("k.from_seq::text", "k.to_seq::text", "k.last_id", "k.digest");

export const APPEND_FUNCTION: string = `create function @.append_1(${BATCH_TYPES.join(", ")}) returns text
language plpgsql volatile as $append$
#variable_conflict use_column
declare
  f text[] := ${planArray("$4")};
  new_seq int8;
  new_link text;
  new_owner_link text;
  woken text := ${setSpace("$1")};
  state text;
  seen text;
begin
  if ${field("relaxed")} is not null then perform set_config('synchronous_commit', 'off', true);
  elsif current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true);
  end if;
  if $3 is not null then
    select ${KEY_SEEN} into seen ${KEY};
    if found then
      select row_to_json(c)::text into state ${HEAD};
      if not found then return 'missing'; end if;
      return 'deduped' || E'\\x1f' || seen || E'\\x1f' || state;
    end if;
  end if;
  ${changeIfHeld(field, "")}
  returning c.head_seq, c.link, c.owner_link, case when c.wake_seq = c.head_seq - ${field("count", "int8")} then c.wake_seq end::text
    into new_seq, new_link, new_owner_link, woken;
  if found then
    ${putEntries(BY_VARIABLE)};
    if $3 is not null then ${putKey(BY_VARIABLE)}; end if;
    if $6 is not null then
      ${putRare(BY_VARIABLE).join(";\n      ")};
    end if;
    if new_seq - ${field("count", "int8")} is distinct from ${field("knownSeq", "int8")} then
      select row_to_json(c)::text into state ${HEAD};
    end if;
    return ${answered("'written'", "new_seq::text", "new_link", "new_owner_link", "woken", "state")};
  end if;
  select row_to_json(c)::text into state ${HEAD};
  if not found then return 'missing'; end if;
  if $3 is not null then
    select ${KEY_SEEN} into seen ${KEY};
    if found then return 'deduped' || E'\\x1f' || seen || E'\\x1f' || state; end if;
  end if;
  return ${answered("'stale'", `(${now(field)})::text`, "state")};
end $append$`;

export const APPEND: Call = {
  name: "append_1",
  types: BATCH_TYPES,
  text: byStatement(),
  scalar: true,
};

/** How a log begins: `$7` its row as JSON, `$8` and `$9` the source of a fork, which must still be there. */
export const START_TYPES: readonly string[] = [...BATCH_TYPES, "json", "text", "text"];
export const START: string = `${withSync("false")},
p as materialized (select ${planArray("$4")} as f),
source as materialized (select 1 from @.conversations
  where space = $1 and id = $8 and born = $9 and listed for key share),
head as (insert into @.conversations select r.* from json_populate_record(null::@.conversations, $7) r
  where exists (select from sync) and ($8 is null or exists (select from source))
  on conflict (space, id) do nothing returning *),
${PUTS}
select row_to_json(head)::text from head`;
