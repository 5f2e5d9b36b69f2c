import type { Call } from "#stores/postgres/db";
import { setSpace } from "./row-security.ts";

/** Reading nodes. In all of these `$1` is the space and `$2` the conversation. */

/** The columns that every part of an answer has. */
const PART_COLUMNS = `part text, data text, v int4, id text, seq int8, parent text, "time" text, type text, payload text,
  conversation text, segment int4, depth int4`;

const ENTRY = "e.v, e.id, e.seq, e.parent, e.time, e.type, e.payload, e.conversation, e.segment, e.depth";
const PLACE = `null::int4, null::text, null::int8, null::text, null::text, null::text, null::text`;

const HOP = "s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth";
const LINE = "(conversation, segment, top, ancestor_conversation, ancestor_segment, ancestor_depth)";

export const CONVERSATION = `c as materialized (select * from @.conversations where space = $1 and id = $2 and listed)`;

/** The path a fork inherits, one row for each segment of it; `while` says how far up it is needed. */
export function inheritedPath(from: string, upWhile: string = "true"): string {
  return `path ${LINE} as (
  select s.conversation, s.segment, c.origin_depth, ${HOP} from ${from}
    join @.segments s on s.space = $1 and s.conversation = c.origin_conversation and s.segment = c.origin_segment
  union all select s.conversation, s.segment, p.ancestor_depth, ${HOP} from path p
    join @.segments s on s.space = $1 and s.conversation = p.ancestor_conversation and s.segment = p.ancestor_segment
  where ${upWhile})`;
}

/** The place of the latest node of a setting on the path to a place: in its segment, or as marked when the segment was opened. */
const LATEST = `(select 0 as above, e.conversation, e.segment, e.depth from @.entries e
    where e.space = $1 and e.conversation = at.conversation and e.segment = at.segment and e.kind = k.kind
      and e.depth <= at.depth order by e.depth desc limit 1)
  union all (select 1, s.marks -> k.kind::text ->> 0, (s.marks -> k.kind::text ->> 1)::int4, (s.marks -> k.kind::text ->> 2)::int4
    from @.segments s where s.space = $1 and s.conversation = at.conversation and s.segment = at.segment
      and s.marks ? k.kind::text)
  order by above limit 1`;

/**
 * Head, page and settings of one moment. What is limited, or has an offset, is asked for each segment by its index; else a server
 * that has counted its rows may find it cheaper to go through all of them.
 * `$3`–`$5` where it starts (null: at the leaf), `$6` its limit, `$7` settings.
 */
const WINDOW_TYPES: readonly string[] = ["text", "text", "text", "int4", "int4", "int8", "int4[]"];
const WINDOW: string = `with recursive ${CONVERSATION},
wanted as materialized (select coalesce($3, c.leaf_conversation, c.id) as conversation,
  coalesce($4, c.leaf_segment) as segment, coalesce($5, c.leaf_depth) as depth from c),
${inheritedPath("c join wanted w on w.conversation <> c.id", "p.ancestor_depth >= (select depth from wanted)")},
at as materialized (select w.conversation, w.segment, w.depth from wanted w, c
  where exists (select from @.entries e
      where e.space = $1 and e.conversation = w.conversation and e.segment = w.segment and e.depth = w.depth)
    and (w.conversation = c.id
      or exists (select from path p where p.conversation = w.conversation and p.segment = w.segment and p.top >= w.depth))),
line ${LINE} as (
  select s.conversation, s.segment, at.depth, ${HOP} from at
    join @.segments s on s.space = $1 and s.conversation = at.conversation and s.segment = at.segment
  union all select s.conversation, s.segment, l.ancestor_depth, ${HOP} from line l
    join @.segments s on s.space = $1 and s.conversation = l.ancestor_conversation and s.segment = l.ancestor_segment
  where l.ancestor_depth > (select depth from at) - $6),
nodes as materialized (select e.* from line l cross join lateral (select ${ENTRY} from @.entries e
  where e.space = $1 and e.conversation = l.conversation and e.segment = l.segment and e.depth <= l.top
    and e.depth > (select depth from at) - $6 order by e.depth desc limit $6) e),
levels (conversation, upto, source, source_head, level) as (
  select c.id, 9223372036854775807, c.source, c.source_head, 0 from c
  union all select p.id, l.source_head, p.source, p.source_head, l.level + 1 from levels l
    join @.conversations p on p.space = $1 and p.id = l.source)
select 'head', row_to_json(c)::text, ${PLACE}, at.conversation, at.segment, at.depth from c left join at on true
union all select 'line', l.ancestor_conversation || ' ' || l.ancestor_segment || ' ' || l.ancestor_depth, ${PLACE},
  l.conversation, l.segment, l.top from line l
union all select 'node', null, ${ENTRY} from nodes e
union all select 'hide', h.target, l.level, null, h.seq, null, null, null, h.hidden::text, h.holder, null, null
  from levels l cross join lateral (select * from @.hides h where h.space = $1 and h.conversation = l.conversation
    and h.seq <= l.upto and h.depth <= (select depth from at) and h.depth >= (select min(depth) from nodes) offset 0) h
union all select 'setting', null, ${ENTRY} from at cross join unnest($7) as k (kind) cross join lateral (${LATEST}) f
  join @.entries e on e.space = $1 and e.conversation = f.conversation and e.segment = f.segment and e.depth = f.depth`;

/**
 * What a plan is made from. `$3` the key, `$4` ids the batch refers to, `$5` those that may open a segment, `$6` the ids of
 * the batch itself, looked for after a doubt, `$7` the settings, `$8` a test's clock.
 */
const LOOKUP_TYPES: readonly string[] = [
  "text",
  "text",
  "text",
  "text[]",
  "text[]",
  "text[]",
  "int4[]",
  "int8",
];
const LOOKUP: string = `with recursive ${CONVERSATION},
${inheritedPath("c", "cardinality($4) > 0")},
found as materialized (
  select true as own, e.id, e.conversation, e.segment, e.depth from @.entries e, c
  where e.space = $1 and e.conversation = c.id and e.id = any ($4)
  union all select false, e.id, e.conversation, e.segment, e.depth from path p
    join @.entries e on e.space = $1 and e.conversation = p.conversation and e.id = any ($4)
      and e.segment = p.segment and e.depth <= p.top),
opening as (select distinct on (id) id, conversation, segment, depth from (
    select 0 as n, f.id, f.conversation, f.segment, f.depth from found f where f.id = any ($5) and f.segment is not null
    union all select 1, c.leaf_id, coalesce(c.leaf_conversation, c.id), c.leaf_segment, c.leaf_depth from c
    where c.leaf_depth >= 0 and (cardinality($5) > 0 or not c.leaf_tip or c.leaf_conversation is not null)) o order by id, n)
select 'head', row_to_json(c)::text, null::int4, null::text,
  coalesce($8, (extract(epoch from clock_timestamp()) * 1000)::int8), null::text, null::text, null::text, null::text,
  null::text, null::int4, null::int4 from c
union all select 'key', k.digest, null, k.last_id, k.from_seq, k.to_seq::text, null, null, null, null, null, null
  from c join @.keys k on k.space = $1 and k.conversation = c.id and k.key = $3
union all select 'known', null, case when f.own and f.segment is not null and not exists (select from @.entries e
      where e.space = $1 and e.conversation = f.conversation and e.segment = f.segment and e.depth = f.depth + 1)
    then 1 else 0 end, f.id, null, null, null, null, f.own::text, f.conversation, f.segment, f.depth from found f
union all select 'setting', null, k.kind, at.id, null, null, null, null, null, f.conversation, f.segment, f.depth
  from opening at cross join unnest($7) as k (kind) cross join lateral (${LATEST}) f
union all select 'mine', null, null, e.id, e.seq, null, null, null, null, null, null, null
  from c join @.entries e on e.space = $1 and e.conversation = c.id and e.id = any ($6)`;

/** One visible entry, by its id in `$3`: its own, or a node it inherited. Null: the leaf, which is found by its place. */
const ENTRY_TYPES: readonly string[] = ["text", "text", "text"];
const ONE_ENTRY: string = `with recursive ${CONVERSATION},
own as materialized (select ${ENTRY} from @.entries e, c where e.space = $1 and e.conversation = c.id and e.id = $3),
${inheritedPath("c join (values (1)) one (n) on $3 is not null and not exists (select from own)")}
select 'head', row_to_json(c)::text, ${PLACE}, null::text, null::int4, null::int4 from c
union all select 'node', null, ${ENTRY} from own e
union all select 'node', null, ${ENTRY} from c join @.entries e on $3 is null and e.space = $1
  and e.conversation = coalesce(c.leaf_conversation, c.id) and e.segment = c.leaf_segment and e.depth = c.leaf_depth
union all select 'node', null, ${ENTRY} from path p join @.entries e on e.space = $1 and e.conversation = p.conversation
  and e.id = $3 and e.segment = p.segment and e.depth <= p.top`;

/** The place of depth `$6` on the branch that ends at `$3`–`$5`. */
export const ABOVE: string = `with recursive line ${LINE} as (
  select s.conversation, s.segment, $5::int4, ${HOP} from @.segments s
  where s.space = $1 and s.conversation = $3::text and s.segment = $4::int4 and $2::text is not null
  union all select s.conversation, s.segment, l.ancestor_depth, ${HOP} from line l
    join @.segments s on s.space = $1 and s.conversation = l.ancestor_conversation and s.segment = l.ancestor_segment
  where l.ancestor_depth >= $6::int8)
select conversation, segment, least(top, greatest($6::int8, 0)) from line order by top limit 1`;

/** The clock of the database, as leases run by it. */
export const NOW_MS = "(extract(epoch from clock_timestamp()) * 1000)::int8";

const LONG_WINDOW: Call = { name: "long_window_1", types: WINDOW_TYPES, text: WINDOW };
export const READ_WINDOW: Call = {
  ...LONG_WINDOW,
  name: "window_1",
  added: `case when part = 'head' then ${NOW_MS} end`,
};
export const LOOK_UP: Call = { name: "lookup_1", types: LOOKUP_TYPES, text: LOOKUP };
export const READ_ENTRY: Call = { name: "entry_1", types: ENTRY_TYPES, text: ONE_ENTRY };

/** Functions plan a statement once for a connection instead of once for a call. They name the space, which makes them volatile. */
export const READ_FUNCTIONS: readonly string[] = [LONG_WINDOW, LOOK_UP, READ_ENTRY].map(
  ({ name, types, text }) =>
    `create function @.${name}(${types.join(", ")}) returns table (${PART_COLUMNS})
language plpgsql volatile as $read$
#variable_conflict use_column
begin
  part := ${setSpace("$1")};
  return query ${text};
end $read$`,
);

/**
 * The usual window by short statements: to start the long one takes longer than to read twenty nodes. They answer where all nodes
 * are in one segment of the conversation itself, the long one elsewhere. It is stable, so that all of them see one moment, and
 * asks for generic plans: a limit that is a parameter has the server plan anew in each call.
 */
export const WINDOW_FUNCTION: string = `create function @.${READ_WINDOW.name}(${WINDOW_TYPES.join(", ")})
returns table (${PART_COLUMNS}) language plpgsql stable
set plan_cache_mode to force_generic_plan as $read$
#variable_conflict use_column
declare
  c @.conversations;
  s @.segments;
  tip int4;
  lowest int8;
begin
  part := ${setSpace("$1")};
  select * into c from @.conversations where space = $1 and id = $2 and listed;
  if not found then return; end if;
  tip := coalesce($5, c.leaf_depth);
  lowest := tip - $6 + 1;
  if coalesce($3, c.leaf_conversation, c.id) = c.id then
    select * into s from @.segments where space = $1 and conversation = c.id and segment = coalesce($4, c.leaf_segment);
  end if;
  if s.segment is null or s.ancestor_depth >= lowest or not exists (select from @.entries e
      where e.space = $1 and e.conversation = c.id and e.segment = s.segment and e.depth = tip) then
    return query select * from @.${LONG_WINDOW.name}($1, $2, $3, $4, $5, $6, $7);
    return;
  end if;
  part := 'head'; data := row_to_json(c)::text; conversation := c.id; segment := s.segment; depth := tip;
  return next;
  part := 'line'; data := s.ancestor_conversation || ' ' || s.ancestor_segment || ' ' || s.ancestor_depth;
  return next;
  return query select 'node', null, ${ENTRY} from @.entries e where e.space = $1 and e.conversation = c.id
    and e.segment = s.segment and e.depth <= tip and e.depth >= lowest order by e.depth desc limit $6;
  return query select 'hide', h.target, 0, null, h.seq, null, null, null, h.hidden::text, h.holder, null::int4, null::int4
    from @.hides h where h.space = $1 and h.conversation = c.id and h.depth <= tip and h.depth >= lowest;
  return query select 'setting', null, ${ENTRY}
    from (select c.id as conversation, s.segment as segment, tip as depth) at
    cross join unnest($7) as k (kind) cross join lateral (${LATEST}) f
    join @.entries e on e.space = $1 and e.conversation = f.conversation and e.segment = f.segment and e.depth = f.depth;
end $read$`;
