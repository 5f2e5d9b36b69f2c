-- Version 1 of the tables and functions in PostgreSQL, as it was made. Nodes of that version may still write: never changed.

create table @.holdfast (version int4 not null, oldest int4 not null, functions boolean not null);
insert into @.holdfast values (1, 1, true);


create table @.conversations (
  space text collate "C" not null, id text collate "C" not null, born text collate "C" not null, listed boolean not null,
  head_seq int8 not null, owner_seq int8 not null, epoch int8 not null, link text collate "C", owner_link text collate "C",
  leaf_id text collate "C" not null, leaf_conversation text collate "C", leaf_segment int4 not null, leaf_depth int4 not null,
  leaf_tip boolean not null, segments int4 not null,
  source text collate "C", source_head int8, origin_entry text collate "C", origin_conversation text collate "C", origin_segment int4, origin_depth int4,
  title text collate "C", cwd text collate "C", created_at text collate "C" not null, updated_at text collate "C" not null,
  lease_writer text collate "C", lease_until int8, summary text collate "C", summary_seq int8 not null, unlisted boolean not null,
  primary key (space, id)
) with (fillfactor = 70);
create index conversations_recent on @.conversations (space, unlisted, updated_at, id) where listed;
create index conversations_source on @.conversations (space, source) where source is not null;
create table @.search_marks (space text collate "C" not null, conversation text collate "C" not null, born text collate "C" not null, seq int8 not null, primary key (space, conversation));

create table @.entries (space text collate "C" not null, conversation text collate "C" not null, seq int8 not null, id text collate "C" not null, type text collate "C" not null, time text collate "C" not null, v int4 not null,
    parent text collate "C", segment int4, depth int4, kind int4, payload text collate "C" not null, link text collate "C", by_owner boolean,
    primary key (space, conversation, seq));
create table @.segments (space text collate "C" not null, conversation text collate "C" not null, segment int4 not null, ancestor_conversation text collate "C", ancestor_segment int4, ancestor_depth int4,
    marks jsonb not null, primary key (space, conversation, segment));
create table @.hides (space text collate "C" not null, conversation text collate "C" not null, depth int4 not null, seq int8 not null, holder text collate "C" not null, target text collate "C" not null,
    hidden boolean not null, primary key (space, conversation, depth, seq));
create table @.labels (space text collate "C" not null, conversation text collate "C" not null, seq int8 not null, target text collate "C" not null, label text collate "C" not null,
    primary key (space, conversation, seq));
create table @.keys (space text collate "C" not null, conversation text collate "C" not null, key text collate "C" not null, digest text collate "C" not null, from_seq int8 not null, to_seq int8 not null,
    last_id text collate "C" not null, primary key (space, conversation, key));
create table @.blobs (space text collate "C" not null, conversation text collate "C" not null, digest text collate "C" not null, seq int8 not null, bytes bytea not null,
    primary key (space, conversation, digest));
create table @.runs (space text collate "C" not null, conversation text collate "C" not null, seq int8 not null, run text collate "C" not null, trigger text collate "C" not null, mailbox text collate "C",
    started_at text collate "C" not null, end_seq int8, finished text collate "C", primary key (space, conversation, seq));
create table @.search (space text collate "C" not null, conversation text collate "C" not null, seq int8 not null, time text collate "C" not null, words text collate "C" not null, grams text[] collate "C" not null,
    primary key (space, conversation, seq));

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

create function @.append_1(text, text, text, text, text[], text[], text[], text[], int4[], int4[], int4[], text, int4, boolean, json, boolean, text, int8, int8, text, boolean, int8, int8, int8, text, text, int4, int4, boolean, int4, text, text, text, text, text, text, int8, int8,
  out verdict text, out state text, out from_seq int8, out to_seq int8, out last_id text, out digest text)
language plpgsql volatile as $append$
#variable_conflict use_column
declare
  h @.conversations;
begin
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
  update @.conversations c set head_seq = c.head_seq + cardinality($5), link = encode(sha256(convert_to($35 || octet_length(coalesce(c.link, '')) || ':' || coalesce(c.link, '')
  || length((c.head_seq + 1)::text) || ':' || (c.head_seq + 1)::text || $36, 'UTF8')), 'hex'),
    owner_seq = case when $14 then c.head_seq + cardinality($5) else c.owner_seq end,
    owner_link = case when $14 then encode(sha256(convert_to($35 || octet_length(coalesce(c.link, '')) || ':' || coalesce(c.link, '')
  || length((c.head_seq + 1)::text) || ':' || (c.head_seq + 1)::text || $36, 'UTF8')), 'hex') else c.owner_link end,
    epoch = coalesce($24, c.epoch), leaf_id = coalesce($25, c.leaf_id),
    leaf_conversation = case when $25 is null then c.leaf_conversation else $26 end,
    leaf_segment = coalesce($27, c.leaf_segment), leaf_depth = coalesce($28, c.leaf_depth),
    leaf_tip = coalesce($29, c.leaf_tip), segments = c.segments + $30,
    title = coalesce($31, c.title), cwd = coalesce($32, c.cwd), updated_at = $33,
    summary = coalesce($34, c.summary),
    summary_seq = case when $34 is null then c.summary_seq else c.head_seq + cardinality($5) end
  where c.space = $1 and c.id = $2 and c.listed and c.born = $17
  and (not $14 or (c.epoch = $18 and c.owner_seq = $19 and c.owner_link is not distinct from $20))
  and (not $21 or c.lease_writer is null or c.lease_until <= coalesce($37, (extract(epoch from clock_timestamp()) * 1000)::int8))
  and ($22 is null or c.summary_seq = $22) and ($23 is null or c.head_seq = $23) returning c.* into h;
  if found then
    insert into @.entries
    (space, conversation, seq, id, type, time, v, parent, segment, depth, kind, payload, link, by_owner)
  select $1, $2, h.head_seq - cardinality($5) + u.n, u.id, u.type, u.time, $13, u.parent, u.segment, u.depth, u.kind, u.payload,
    case when u.n = cardinality($5) then h.link end, case when u.n = cardinality($5) then $14 end
  from unnest($5, $6, $7, $8, $9, $10, $11, string_to_array($12, E'\x1e')) with ordinality
    as u (id, type, time, parent, segment, depth, kind, payload, n);
    if $3 is not null then insert into @.keys
    (space, conversation, key, digest, from_seq, to_seq, last_id)
  select $1, $2, $3, $4, h.head_seq - cardinality($5) + 1, h.head_seq, $5[cardinality($5)] from (values (1)) one (n) where $3 is not null; end if;
    if $15 is not null then
      insert into @.segments
    (space, conversation, segment, ancestor_conversation, ancestor_segment, ancestor_depth, marks)
  select $1, $2, s.segment, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth, s.marks from
    json_to_recordset($15 -> 'segments') as s (segment int4, ancestor_conversation text, ancestor_segment int4,
      ancestor_depth int4, marks jsonb);
      insert into @.hides (space, conversation, depth, seq, holder, target, hidden)
  select $1, $2, d.depth, h.head_seq - cardinality($5) + 1 + d.at, d.holder, d.target, d.hidden from
    json_to_recordset($15 -> 'hides') as d (at int4, depth int4, holder text, target text, hidden boolean);
      insert into @.labels (space, conversation, seq, target, label)
  select $1, $2, h.head_seq - cardinality($5) + 1 + l.at, l.target, l.label from
    json_to_recordset($15 -> 'labels') as l (at int4, target text, label text);
      insert into @.runs (space, conversation, seq, run, trigger, mailbox, started_at, end_seq, finished)
  select $1, $2, r.seq, r.run, r.trigger, r.mailbox, r.started_at, r.end_seq, r.finished from
    json_to_recordset($15 -> 'started') as r (seq int8, run text, trigger text, mailbox text, started_at text,
      end_seq int8, finished text);
      update @.runs set end_seq = f.end_seq, finished = f.finished
  from json_to_recordset($15 -> 'finished') as f (seq int8, end_seq int8, finished text)
  where runs.space = $1 and runs.conversation = $2 and runs.seq = f.seq;
    end if;
    verdict := 'written';
    from_seq := h.head_seq;
    last_id := h.link;
    digest := h.owner_link;
    if h.head_seq - cardinality($5) is distinct from $38 then state := row_to_json(h)::text; end if;
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
  if verdict = 'stale' then from_seq := coalesce($37, (extract(epoch from clock_timestamp()) * 1000)::int8); end if;
end $append$;

create function @.window_1(text, text, text, int4, int4, int8, int4[]) returns table (part text, data text, v int4, id text, seq int8, parent text, "time" text, type text, payload text,
  conversation text, segment int4, depth int4)
language plpgsql stable as $read$
#variable_conflict use_column
begin
  return query with recursive c as materialized (select * from @.conversations where space = $1 and id = $2 and listed),
wanted as materialized (select coalesce($3, c.leaf_conversation, c.id) as conversation,
  coalesce($4, c.leaf_segment) as segment, coalesce($5, c.leaf_depth) as depth from c),
path (conversation, segment, top, ancestor_conversation, ancestor_segment, ancestor_depth) as (
  select s.conversation, s.segment, c.origin_depth, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from c join wanted w on w.conversation <> c.id
    join @.segments s on s.space = $1 and s.conversation = c.origin_conversation and s.segment = c.origin_segment
  union all select s.conversation, s.segment, p.ancestor_depth, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from path p
    join @.segments s on s.space = $1 and s.conversation = p.ancestor_conversation and s.segment = p.ancestor_segment
  where p.ancestor_depth >= (select depth from wanted)),
at as materialized (select w.conversation, w.segment, w.depth from wanted w, c
  where exists (select from @.entries e
      where e.space = $1 and e.conversation = w.conversation and e.segment = w.segment and e.depth = w.depth)
    and (w.conversation = c.id
      or exists (select from path p where p.conversation = w.conversation and p.segment = w.segment and p.top >= w.depth))),
line (conversation, segment, top, ancestor_conversation, ancestor_segment, ancestor_depth) as (
  select s.conversation, s.segment, at.depth, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from at
    join @.segments s on s.space = $1 and s.conversation = at.conversation and s.segment = at.segment
  union all select s.conversation, s.segment, l.ancestor_depth, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from line l
    join @.segments s on s.space = $1 and s.conversation = l.ancestor_conversation and s.segment = l.ancestor_segment
  where l.ancestor_depth > (select depth from at) - $6),
nodes as materialized (select e.* from line l cross join lateral (select e.v, e.id, e.seq, e.parent, e.time, e.type, e.payload, e.conversation, e.segment, e.depth from @.entries e
  where e.space = $1 and e.conversation = l.conversation and e.segment = l.segment and e.depth <= l.top
    and e.depth > (select depth from at) - $6) e),
levels (conversation, upto, source, source_head, level) as (
  select c.id, 9223372036854775807, c.source, c.source_head, 0 from c
  union all select p.id, l.source_head, p.source, p.source_head, l.level + 1 from levels l
    join @.conversations p on p.space = $1 and p.id = l.source)
select 'head', row_to_json(c)::text, null::int4, null::text, null::int8, null::text, null::text, null::text, null::text, at.conversation, at.segment, at.depth from c left join at on true
union all select 'line', l.ancestor_conversation || ' ' || l.ancestor_segment || ' ' || l.ancestor_depth, null::int4, null::text, null::int8, null::text, null::text, null::text, null::text,
  l.conversation, l.segment, l.top from line l
union all select 'node', null, e.v, e.id, e.seq, e.parent, e.time, e.type, e.payload, e.conversation, e.segment, e.depth from nodes e
union all select 'hide', h.target, l.level, null, h.seq, null, null, null, h.hidden::text, h.holder, null, null
  from levels l join @.hides h on h.space = $1 and h.conversation = l.conversation and h.seq <= l.upto
    and h.depth <= (select depth from at) and h.depth >= (select min(depth) from nodes)
union all select 'setting', null, e.v, e.id, e.seq, e.parent, e.time, e.type, e.payload, e.conversation, e.segment, e.depth from at cross join unnest($7) as k (kind) cross join lateral ((select 0 as above, e.conversation, e.segment, e.depth from @.entries e
    where e.space = $1 and e.conversation = at.conversation and e.segment = at.segment and e.kind = k.kind
      and e.depth <= at.depth order by e.depth desc limit 1)
  union all (select 1, s.marks -> k.kind::text ->> 0, (s.marks -> k.kind::text ->> 1)::int4, (s.marks -> k.kind::text ->> 2)::int4
    from @.segments s where s.space = $1 and s.conversation = at.conversation and s.segment = at.segment
      and s.marks ? k.kind::text)
  order by above limit 1) f
  join @.entries e on e.space = $1 and e.conversation = f.conversation and e.segment = f.segment and e.depth = f.depth;
end $read$;

create function @.lookup_1(text, text, text, text[], text[], text[], int4[], int8) returns table (part text, data text, v int4, id text, seq int8, parent text, "time" text, type text, payload text,
  conversation text, segment int4, depth int4)
language plpgsql stable as $read$
#variable_conflict use_column
begin
  return query with recursive c as materialized (select * from @.conversations where space = $1 and id = $2 and listed),
path (conversation, segment, top, ancestor_conversation, ancestor_segment, ancestor_depth) as (
  select s.conversation, s.segment, c.origin_depth, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from c
    join @.segments s on s.space = $1 and s.conversation = c.origin_conversation and s.segment = c.origin_segment
  union all select s.conversation, s.segment, p.ancestor_depth, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from path p
    join @.segments s on s.space = $1 and s.conversation = p.ancestor_conversation and s.segment = p.ancestor_segment
  where cardinality($4) > 0),
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
  from opening at cross join unnest($7) as k (kind) cross join lateral ((select 0 as above, e.conversation, e.segment, e.depth from @.entries e
    where e.space = $1 and e.conversation = at.conversation and e.segment = at.segment and e.kind = k.kind
      and e.depth <= at.depth order by e.depth desc limit 1)
  union all (select 1, s.marks -> k.kind::text ->> 0, (s.marks -> k.kind::text ->> 1)::int4, (s.marks -> k.kind::text ->> 2)::int4
    from @.segments s where s.space = $1 and s.conversation = at.conversation and s.segment = at.segment
      and s.marks ? k.kind::text)
  order by above limit 1) f
union all select 'mine', null, null, e.id, e.seq, null, null, null, null, null, null, null
  from c join @.entries e on e.space = $1 and e.conversation = c.id and e.id = any ($6);
end $read$;

create function @.entry_1(text, text, text) returns table (part text, data text, v int4, id text, seq int8, parent text, "time" text, type text, payload text,
  conversation text, segment int4, depth int4)
language plpgsql stable as $read$
#variable_conflict use_column
begin
  return query with recursive c as materialized (select * from @.conversations where space = $1 and id = $2 and listed),
own as materialized (select e.v, e.id, e.seq, e.parent, e.time, e.type, e.payload, e.conversation, e.segment, e.depth from @.entries e, c where e.space = $1 and e.conversation = c.id and e.id = $3),
path (conversation, segment, top, ancestor_conversation, ancestor_segment, ancestor_depth) as (
  select s.conversation, s.segment, c.origin_depth, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from c join (values (1)) one (n) on $3 is not null and not exists (select from own)
    join @.segments s on s.space = $1 and s.conversation = c.origin_conversation and s.segment = c.origin_segment
  union all select s.conversation, s.segment, p.ancestor_depth, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from path p
    join @.segments s on s.space = $1 and s.conversation = p.ancestor_conversation and s.segment = p.ancestor_segment
  where true)
select 'head', row_to_json(c)::text, null::int4, null::text, null::int8, null::text, null::text, null::text, null::text, null::text, null::int4, null::int4 from c
union all select 'node', null, e.v, e.id, e.seq, e.parent, e.time, e.type, e.payload, e.conversation, e.segment, e.depth from own e
union all select 'node', null, e.v, e.id, e.seq, e.parent, e.time, e.type, e.payload, e.conversation, e.segment, e.depth from c join @.entries e on $3 is null and e.space = $1
  and e.conversation = coalesce(c.leaf_conversation, c.id) and e.segment = c.leaf_segment and e.depth = c.leaf_depth
union all select 'node', null, e.v, e.id, e.seq, e.parent, e.time, e.type, e.payload, e.conversation, e.segment, e.depth from path p join @.entries e on e.space = $1 and e.conversation = p.conversation
  and e.id = $3 and e.segment = p.segment and e.depth <= p.top;
end $read$;
