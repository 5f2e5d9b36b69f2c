/** The store port as Postgres would carry it out: one statement per verb. */

export const SCHEMA: string = `create table conversations (space text, conversation text, head_seq int8 default 0,
  owner_seq int8 default 0, epoch int8 default 0, writer text, lease_until timestamptz, leaf_conversation text,
  leaf_segment text, leaf_depth int8, leaf_id text, origin_conversation text, origin_id text, origin_segment text,
  origin_depth int8, origin_head int8, primary key (space, conversation));
create table entries (space text, conversation text, seq int8, id text, type text, time timestamptz, segment text,
  depth int8, parent text, target text, payload text,
  primary key (space, conversation, seq), unique (space, conversation, id));
create unique index entries_place on entries (space, conversation, segment, depth) where segment is not null;
create index entries_target on entries (space, conversation, target) where target is not null;
create table segments (space text, conversation text, segment text, ancestor_conversation text,
  ancestor_segment text, ancestor_depth int8, primary key (space, conversation, segment));
create table keys (space text, conversation text, key text, digest text, from_seq int8, to_seq int8,
  primary key (space, conversation, key))`;

// $1 space, $2 conversation, $3 key, $4 digest, $5 epoch, $6 expected, $7 ids, $8 target, $9 payloads,
// $10 segment, $11 first depth, $12-$14 the ancestor of a new segment, $15 the parent of the first node.
const COUNT = "cardinality($7::text[])";
export const APPEND: string = `with known as (select from keys where space = $1 and conversation = $2 and key = $3),
head as (update conversations set head_seq = head_seq + ${COUNT},
    owner_seq = case when $5::int8 is null then owner_seq else head_seq + ${COUNT} end,
    leaf_conversation = case when $10::text is null then leaf_conversation else $2 end,
    leaf_segment = coalesce($10, leaf_segment), leaf_depth = coalesce($11::int8 + ${COUNT} - 1, leaf_depth),
    leaf_id = case when $10::text is null then leaf_id else ($7::text[])[${COUNT}] end
  where space = $1 and conversation = $2 and not exists (select from known)
    and ($5::int8 is null or (epoch = $5 and owner_seq <= $6::int8 and $6::int8 <= head_seq))
  returning head_seq - ${COUNT} as base),
put_key as (insert into keys select $1, $2, $3, $4, base + 1, base + ${COUNT} from head),
put_segment as (insert into segments select $1, $2, $10, $12, $13, $14 from head where $14::int8 is not null),
put_entries as (insert into entries
  select $1, $2, base + place, id, case when $10::text is null then 'label' else 'message' end, now(), $10,
    $11::int8 + place - 1, lag(id, 1, $15) over (order by place), $8, payload
  from head, unnest($7::text[], $9::text[]) with ordinality as given (id, payload, place))
select base + 1 as from, base + ${COUNT} as to from head`;

export const DIAGNOSE: string = `select c.epoch, k.digest, k.from_seq as from, k.to_seq as to from conversations c
  left join keys k on k.space = $1 and k.conversation = $2 and k.key = $3 where c.space = $1 and c.conversation = $2`;

export const ACQUIRE: string = `update conversations set epoch = epoch + 1, writer = $3, lease_until = now() + $4 * interval '1 ms'
where space = $1 and conversation = $2 and (writer is null or writer = $3 or lease_until <= now()) returning epoch`;

export const FORK: string = `insert into conversations (space, conversation, leaf_conversation, leaf_segment, leaf_depth, leaf_id,
  origin_conversation, origin_id, origin_segment, origin_depth, origin_head)
select $1, $2, e.conversation, e.segment, e.depth, e.id, s.conversation, e.id, e.segment, e.depth, s.head_seq
from conversations s join entries e on e.space = s.space and e.conversation = $4 and e.id = $5
where s.space = $1 and s.conversation = $3 and e.segment is not null on conflict do nothing returning 1`;

// Depth has no gaps, so a page of n nodes is a range of depths and the hops stop once it is covered.
export const PAGE: string = `with recursive line as (
  select s.*, $4::int8 as top from segments s where s.space = $1 and s.conversation = $2 and s.segment = $3
  union all select s.*, line.ancestor_depth from line join segments s on s.space = line.space
    and s.conversation = line.ancestor_conversation and s.segment = line.ancestor_segment
  where line.ancestor_depth > $4::int8 - $5::int8)
select page.id from line cross join lateral (
  select e.id, e.depth from entries e where e.space = $1 and e.conversation = line.conversation
    and e.segment = line.segment and e.depth <= line.top and e.depth > $4::int8 - $5::int8
  order by e.depth desc limit $5) page order by page.depth desc`;

// A fork sees its source's facts only up to the head the source had when the fork was made.
export const FACTS: string = `with recursive line as (
  select c.*, 9223372036854775807 as upto from conversations c where c.space = $1 and c.conversation = $2
  union all select c.*, line.origin_head from line join conversations c on c.space = line.space
    and c.conversation = line.origin_conversation)
select e.id from line join entries e on e.space = $1 and e.conversation = line.conversation
  and e.target = any ($3) and e.seq <= line.upto order by e.id`;

export const LEAF: string = `select leaf_conversation as conversation, leaf_segment as segment, leaf_depth as depth,
  leaf_id as id from conversations where conversation = $1`;
export const SEQS: string = "select seq from entries where conversation = $1 order by seq";
export const PAYLOADS: string = "select payload from entries where conversation = $1 order by seq";
