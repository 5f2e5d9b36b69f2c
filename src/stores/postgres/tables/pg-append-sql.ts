/**
 * Writing a batch. `$1` space, `$2` conversation, `$3` key, `$4` its digest, `$5`–`$12` columns of the entries, `$13` their
 * version, `$14` whether an owner wrote them, `$15` what is rare, as JSON, `$16` whether they may be lost with the power.
 */
export const BATCH_TYPES: readonly string[] = [
  ...["text", "text", "text", "text"],
  ...["text[]", "text[]", "text[]", "text[]", "int4[]", "int4[]", "int4[]", "text[]"],
  ...["int4", "boolean", "json", "boolean"],
];

const COUNT = "cardinality($5)";

/** Relaxed commits do not wait for the disk; others do, whatever the server was told. Both end with the transaction. */
export const SYNC = `select set_config('synchronous_commit', case when $16 then 'off'
  when current_setting('synchronous_commit') = 'off' then 'on' else current_setting('synchronous_commit') end, true)`;

const PUT_ENTRIES = `put_entries as (insert into @.entries
    (space, conversation, seq, id, type, time, v, parent, segment, depth, kind, payload, link, by_owner)
  select $1, $2, head.head_seq - ${COUNT} + u.n, u.id, u.type, u.time, $13, u.parent, u.segment, u.depth, u.kind, u.payload,
    case when u.n = ${COUNT} then head.link end, case when u.n = ${COUNT} then $14 end
  from head, unnest($5, $6, $7, $8, $9, $10, $11, $12) with ordinality
    as u (id, type, time, parent, segment, depth, kind, payload, n))`;

const PUT_KEY = `put_key as (insert into @.keys (space, conversation, key, digest, from_seq, to_seq, last_id)
  select $1, $2, $3, $4, head.head_seq - ${COUNT} + 1, head.head_seq, $5[${COUNT}] from head where $3 is not null)`;

const PUT_RARE = `put_segments as (insert into @.segments
    (space, conversation, segment, ancestor_conversation, ancestor_segment, ancestor_depth, marks)
  select $1, $2, s.segment, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth, s.marks from head,
    json_to_recordset($15 -> 'segments') as s (segment int4, ancestor_conversation text, ancestor_segment int4,
      ancestor_depth int4, marks jsonb)),
put_hides as (insert into @.hides (space, conversation, depth, seq, holder, target, hidden)
  select $1, $2, h.depth, head.head_seq - ${COUNT} + 1 + h.at, h.holder, h.target, h.hidden from head,
    json_to_recordset($15 -> 'hides') as h (at int4, depth int4, holder text, target text, hidden boolean)),
put_labels as (insert into @.labels (space, conversation, seq, target, label)
  select $1, $2, head.head_seq - ${COUNT} + 1 + l.at, l.target, l.label from head,
    json_to_recordset($15 -> 'labels') as l (at int4, target text, label text)),
put_runs as (insert into @.runs (space, conversation, seq, run, trigger, mailbox, started_at, end_seq, finished)
  select $1, $2, r.seq, r.run, r.trigger, r.mailbox, r.started_at, r.end_seq, r.finished from head,
    json_to_recordset($15 -> 'started') as r (seq int8, run text, trigger text, mailbox text, started_at text,
      end_seq int8, finished text)),
end_runs as (update @.runs set end_seq = f.end_seq, finished = f.finished
  from head, json_to_recordset($15 -> 'finished') as f (seq int8, end_seq int8, finished text)
  where runs.space = $1 and runs.conversation = $2 and runs.seq = f.seq)`;

/** `$17`: what the plan rests on; `$23` on: what it changes of the head. */
export const APPEND_TYPES: readonly string[] = [
  ...BATCH_TYPES,
  ...["text", "int8", "int8", "text", "boolean", "int8", "int8"],
  ...[
    "int8",
    "text",
    "text",
    "int4",
    "int4",
    "boolean",
    "int4",
    "text",
    "text",
    "text",
    "text",
    "text",
    "text",
    "int8",
  ],
];

/** The clock of the database, unless a test brings one. */
const NOW = "coalesce($37, (extract(epoch from clock_timestamp()) * 1000)::int8)";

/** The link of the batch: its own parts come with the call, the link before and the seq are known here only. */
const LINK = `encode(sha256(convert_to($35 || octet_length(coalesce(c.link, '')) || ':' || coalesce(c.link, '')
  || length((c.head_seq + 1)::text) || ':' || (c.head_seq + 1)::text || $36, 'UTF8')), 'hex')`;

const CHANGE_HEAD = `update @.conversations c set head_seq = c.head_seq + ${COUNT}, link = ${LINK},
    owner_seq = case when $14 then c.head_seq + ${COUNT} else c.owner_seq end,
    owner_link = case when $14 then ${LINK} else c.owner_link end,
    epoch = coalesce($24, c.epoch), leaf_id = coalesce($25, c.leaf_id),
    leaf_conversation = case when $25 is null then c.leaf_conversation else $26 end,
    leaf_segment = coalesce($27, c.leaf_segment), leaf_depth = coalesce($28, c.leaf_depth),
    leaf_tip = coalesce($29, c.leaf_tip), segments = c.segments + $30,
    title = coalesce($31, c.title), cwd = coalesce($32, c.cwd), updated_at = $33,
    summary = coalesce($34, c.summary),
    summary_seq = case when $34 is null then c.summary_seq else c.head_seq + ${COUNT} end
  where c.space = $1 and c.id = $2`;

/** Whether a head is the one that the plan rests on. What came from outside since does not matter. */
const holds = (head: string): string => `${head}.born = $17
  and (not $14 or (${head}.epoch = $18 and ${head}.owner_seq = $19 and ${head}.owner_link is not distinct from $20))
  and (not $21 or ${head}.lease_writer is null or ${head}.lease_until <= ${NOW})
  and ($22 is null or ${head}.summary_seq = $22) and ($23 is null or ${head}.head_seq = $23)`;

/** For servers where functions are unwelcome. A miss is explained by the next lookup. */
export const APPEND_STATEMENT: string = `with sync as materialized (${SYNC}),
head as (${CHANGE_HEAD} and c.listed and ${holds("c")} and exists (select from sync)
    and ($3 is null or not exists (select from @.keys k where k.space = $1 and k.conversation = $2 and k.key = $3))
  returning c.*),
${PUT_ENTRIES}, ${PUT_KEY}, ${PUT_RARE}
select 'written', row_to_json(head)::text, null::int8, null::int8, null::text, null::text from head`;

/** One call, exact verdicts: the row is locked first, and each question after it sees what was committed before. */
export const APPEND_FUNCTION: string = `create function @.append_1(${APPEND_TYPES.join(", ")})
returns table (verdict text, state text, from_seq int8, to_seq int8, last_id text, digest text)
language plpgsql volatile as $append$
#variable_conflict use_column
declare
  h @.conversations;
begin
  perform (${SYNC});
  select c.* into h from @.conversations c where c.space = $1 and c.id = $2 for no key update;
  if not found or not h.listed then
    return query select 'missing', null::text, null::int8, null::int8, null::text, null::text;
    return;
  end if;
  if $3 is not null then
    return query select 'deduped', row_to_json(h)::text, k.from_seq, k.to_seq, k.last_id, k.digest
      from @.keys k where k.space = $1 and k.conversation = $2 and k.key = $3;
    if found then return; end if;
  end if;
  if not (${holds("h")}) then
    return query select 'stale', row_to_json(h)::text, ${NOW}, null::int8, null::text, null::text;
    return;
  end if;
  if $15 is null then
    return query with head as (${CHANGE_HEAD} returning c.*), ${PUT_ENTRIES}, ${PUT_KEY}
      select 'written', row_to_json(head)::text, null::int8, null::int8, null::text, null::text from head;
  else
    return query with head as (${CHANGE_HEAD} returning c.*), ${PUT_ENTRIES}, ${PUT_KEY}, ${PUT_RARE}
      select 'written', row_to_json(head)::text, null::int8, null::int8, null::text, null::text from head;
  end if;
end $append$`;

/** How a log begins: `$17` its row as JSON, `$18` and `$19` the source of a fork, which must still be there. */
export const START: string = `with sync as materialized (${SYNC}),
source as materialized (select 1 from @.conversations
  where space = $1 and id = $18::text and born = $19::text and listed for key share),
head as (insert into @.conversations select r.* from json_populate_record(null::@.conversations, $17::json) r
  where exists (select from sync) and ($18::text is null or exists (select from source))
  on conflict (space, id) do nothing returning *),
${PUT_ENTRIES}, ${PUT_KEY}, ${PUT_RARE}
select row_to_json(head)::text from head`;
