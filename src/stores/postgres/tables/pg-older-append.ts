import { setSpace } from "./pg-row-security.ts";

/**
 * The append of versions 1 and 2, which their nodes go on calling: it is never changed. `$1` space, `$2` conversation, `$3` key, `$4` its digest, `$5`–`$12` columns of the entries, `$13` their
 * version, `$14` whether an owner wrote them, `$15` what is rare, as JSON, `$16` whether they may be lost with the power.
 */
const BATCH_TYPES: readonly string[] =
  "text text text text text[] text[] text[] text[] int4[] int4[] int4[] text int4 boolean json boolean".split(
    " ",
  );

const COUNT = "cardinality($5)";

const PUT_ENTRIES = `insert into @.entries
    (space, conversation, seq, id, type, time, v, parent, segment, depth, kind, payload, link, by_owner)
  select $1, $2, h.head_seq - ${COUNT} + u.n, u.id, u.type, u.time, $13, u.parent, u.segment, u.depth, u.kind, u.payload,
    case when u.n = ${COUNT} then h.link end, case when u.n = ${COUNT} then $14 end
  from unnest($5, $6, $7, $8, $9, $10, $11, string_to_array($12, E'\\x1e')) with ordinality
    as u (id, type, time, parent, segment, depth, kind, payload, n)`;

const PUT_KEY = `insert into @.keys
    (space, conversation, key, digest, from_seq, to_seq, last_id)
  select $1, $2, $3, $4, h.head_seq - ${COUNT} + 1, h.head_seq, $5[${COUNT}] from (values (1)) one (n) where $3 is not null`;

/** What few batches have: segments they open, hides, labels, runs. */
const PUT_RARE: readonly string[] = [
  `insert into @.segments
    (space, conversation, segment, ancestor_conversation, ancestor_segment, ancestor_depth, marks)
  select $1, $2, s.segment, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth, s.marks from 
    json_to_recordset($15 -> 'segments') as s (segment int4, ancestor_conversation text, ancestor_segment int4,
      ancestor_depth int4, marks jsonb)`,
  `insert into @.hides (space, conversation, depth, seq, holder, target, hidden)
  select $1, $2, d.depth, h.head_seq - ${COUNT} + 1 + d.at, d.holder, d.target, d.hidden from 
    json_to_recordset($15 -> 'hides') as d (at int4, depth int4, holder text, target text, hidden boolean)`,
  `insert into @.labels (space, conversation, seq, target, label)
  select $1, $2, h.head_seq - ${COUNT} + 1 + l.at, l.target, l.label from 
    json_to_recordset($15 -> 'labels') as l (at int4, target text, label text)`,
  `insert into @.runs (space, conversation, seq, run, trigger, mailbox, started_at, end_seq, finished)
  select $1, $2, r.seq, r.run, r.trigger, r.mailbox, r.started_at, r.end_seq, r.finished from 
    json_to_recordset($15 -> 'started') as r (seq int8, run text, trigger text, mailbox text, started_at text,
      end_seq int8, finished text)`,
  `update @.runs set end_seq = f.end_seq, finished = f.finished
  from json_to_recordset($15 -> 'finished') as f (seq int8, end_seq int8, finished text)
  where runs.space = $1 and runs.conversation = $2 and runs.seq = f.seq`,
];

/** `$17`–`$23`: what the plan rests on; `$24`–`$36`: what it changes of the head; `$37` a test's clock, `$38` the head as known. */
const APPEND_TYPES: readonly string[] = [
  ...BATCH_TYPES,
  ..."text int8 int8 text boolean int8 int8".split(" "),
  ..."int8 text text int4 int4 boolean int4 text text text text text text int8 int8".split(" "),
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

const CHANGE_IF_HELD = `${CHANGE_HEAD} and c.listed and ${holds("c")}`;

/**
 * One call, exact verdicts. The usual batch is written by two statements, planned once for a connection; who wrote the key, or
 * what has moved, is asked only when it was not, and with eyes that see what was committed before.
 */
const appendFunction = (name: string, more: { readonly first: string; readonly written: string }): string =>
  `create function @.${name}(${APPEND_TYPES.join(", ")},
  out verdict text, out state text, out from_seq int8, out to_seq int8, out last_id text, out digest text)
language plpgsql volatile as $append$
#variable_conflict use_column
declare
  h @.conversations;
begin${more.first}
  if $16 then perform set_config('synchronous_commit', 'off', true);
  elsif current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true);
  end if;
  if $3 is not null then
    select k.from_seq, k.to_seq, k.last_id, k.digest into from_seq, to_seq, last_id, digest
      from @.keys k where k.space = $1 and k.conversation = $2 and k.key = $3;
    if found then
      select 'deduped', row_to_json(c)::text into verdict, state
        from @.conversations c where c.space = $1 and c.id = $2 and c.listed;
      if not found then verdict := 'missing'; end if;
      return;
    end if;
  end if;
  ${CHANGE_IF_HELD} returning c.* into h;
  if found then
    ${PUT_ENTRIES};
    if $3 is not null then ${PUT_KEY}; end if;
    if $15 is not null then
      ${PUT_RARE.join(";\n      ")};
    end if;
    verdict := 'written';
    from_seq := h.head_seq;
    last_id := h.link;
    digest := h.owner_link;${more.written}
    if h.head_seq - ${COUNT} is distinct from $38 then state := row_to_json(h)::text; end if;
    return;
  end if;
  select c.* into h from @.conversations c where c.space = $1 and c.id = $2 and c.listed;
  if not found then
    verdict := 'missing';
    return;
  end if;
  verdict := 'stale';
  state := row_to_json(h)::text;
  if $3 is not null then
    select 'deduped', k.from_seq, k.to_seq, k.last_id, k.digest into verdict, from_seq, to_seq, last_id, digest
      from @.keys k where k.space = $1 and k.conversation = $2 and k.key = $3;
    if not found then verdict := 'stale'; end if;
  end if;
  if verdict = 'stale' then from_seq := ${NOW}; end if;
end $append$`;

export const APPEND_FUNCTION_1: string = appendFunction("append_1", { first: "", written: "" });

/** Names the space for the tables, and says whether somebody waits for what comes after the head that it changed. */
export const APPEND_FUNCTION_2: string = appendFunction("append_2", {
  first: `\n  verdict := ${setSpace("$1")};`,
  written: `\n    if h.wake_seq = h.head_seq - ${COUNT} then to_seq := h.wake_seq; end if;`,
});
