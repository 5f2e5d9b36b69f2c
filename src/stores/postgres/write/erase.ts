import { type Hash, relink } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import type { ConversationId, EntryId, SpaceId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import { digestsNamed, type EraseFacts, planErase } from "#log/plans/plan-erase";
import { sha256 } from "#store/sha256";
import { type Session, syncCommit } from "#stores/postgres/db";
import { conversationNotFound } from "#store/lookup-errors";
import { LOG_TABLES } from "#stores/postgres/tables/schema";
import type { WriteContext } from "./append.ts";
import { LogError } from "#log/errors";

const LOCK = "select id from @.conversations where space = $1 and id = $2 and listed for update";
const ABOVE = `with recursive above (id, level) as (
    select source, 1 from @.conversations where space = $1 and id = $2 and source is not null
    union all select c.source, a.level + 1 from above a join @.conversations c on c.space = $1 and c.id = a.id
    where c.source is not null)
  select id from above order by level`;
// Those above are held as they are, so that of two erases the later one sees what the other left. Their appends go on.
const HOLD = `select c.id, c.listed from unnest($2::text[]) with ordinality as a (id, level)
  join @.conversations c on c.space = $1 and c.id = a.id order by a.level for key share of c`;
const HOLD_ERASED = `select c.id from unnest($2::text[]) with ordinality as a (id, level)
  join @.conversations c on c.space = $1 and c.id = a.id where not c.listed order by a.level for update of c`;
const UNLIST = `update @.conversations set listed = false, title = null, cwd = null, summary = null, lease_writer = null,
  lease_until = null where space = $1 and id = $2`;
// An erase that was acknowledged must not be undone by a crash.
const BEGIN = `begin; ${syncCommit("false")}`;
const OF_LOG = "where space = $1 and conversation = $2";

/** Removes a conversation, then the parts of erased conversations above that only it needed; all of it or nothing. */
export async function eraseLog(
  { db, space, heads }: WriteContext,
  conversation: ConversationId,
): Promise<void> {
  heads.forget(space, conversation);
  heads.forgetEnd(space, conversation);
  await db.patient().transaction(async (session) => {
    const erasing = { session, space };
    const [doomed] = await session.query(LOCK, [space, conversation]);
    if (doomed === undefined) throw conversationNotFound(conversation);
    const above = (await session.query(ABOVE, [space, conversation])).map(([id]) => id as ConversationId);
    await session.query(HOLD, [space, above]);
    const erased = new Set(
      (await session.query(HOLD_ERASED, [space, above])).map(([id]) => id as ConversationId),
    );
    await session.query(UNLIST, [space, conversation]);
    for (const table of ["runs", "search", "search_marks", "labels", "keys"])
      await session.query(`delete from @.${table} ${OF_LOG}`, [space, conversation]);
    const stoodOn = await trim(erasing, conversation);
    // All the way up: past a living source there may be an erased one that kept a blob for this fork alone.
    for (const id of above) {
      if (!erased.has(id)) continue;
      if (stoodOn) await dropBlobs(erasing, id);
      else await trim(erasing, id);
    }
  }, BEGIN);
}

interface EraseContext {
  readonly session: Session;
  readonly space: SpaceId;
}

const ORIGIN = `select origin_conversation, origin_segment, origin_depth from @.conversations where space = $1 and id = $2`;
const CUT_NODES = `delete from @.entries e ${OF_LOG} and segment is not null and depth > coalesce(
  (select k.depth from unnest($3::int4[], $4::int4[]) as k (segment, depth) where k.segment = e.segment), -1)`;
const CUT_SEGMENTS = `delete from @.segments ${OF_LOG} and segment <> all ($3::int4[])`;
const CUT_FACTS = `delete from @.entries ${OF_LOG} and segment is null and (type <> 'hide' or seq <> all ($3::int8[]))`;
const CUT_HIDES = `delete from @.hides ${OF_LOG} and seq <> all ($3::int8[])`;
// The entries these named may be gone, and an id can be telling. Forks find their way by segment and depth.
const FORGET_NAMES = `update @.conversations set leaf_id = '', origin_entry = case when origin_entry is null then null else '' end
  where space = $1 and id = $2`;

/**
 * Leaves of an erased conversation what living forks inherit: nodes on their paths, and what hides them. Says whether one
 * of those paths goes through the point it was forked at itself: then all that is above is still needed as it was.
 */
async function trim(erasing: EraseContext, id: ConversationId): Promise<boolean> {
  const { session, space } = erasing;
  const plan = planErase(await eraseFacts(erasing, id));
  if (plan === null) {
    for (const table of LOG_TABLES) await session.query(`delete from @.${table} ${OF_LOG}`, [space, id]);
    await session.query("delete from @.conversations where space = $1 and id = $2", [space, id]);
    return false;
  }
  const [segments, depths] = [[...plan.depths.keys()], [...plan.depths.values()]];
  await session.query(CUT_NODES, [space, id, segments, depths]);
  await session.query(CUT_SEGMENTS, [space, id, segments]);
  await session.query(CUT_FACTS, [space, id, [...plan.hides]]);
  await session.query(CUT_HIDES, [space, id, [...plan.hides]]);
  await session.query(FORGET_NAMES, [space, id]);
  await writeLinks(erasing, id);
  await dropBlobs(erasing, id);
  const [origin] = await session.query(ORIGIN, [space, id]);
  return plan.above !== null && origin !== undefined && isSamePlace(plan.above, origin);
}

function isSamePlace(place: Place, [conversation, segment, depth]: readonly unknown[]): boolean {
  return place.conversation === conversation && place.segment === segment && place.depth === depth;
}

const part = (name: string): string => `octet_length(${name}) || ':' || ${name}`;
// The digest of each entry, made where its payload is.
const DIGESTS = `select v, id, seq, parent, encode(sha256(convert_to(${["id", "time", "type", "payload"].map(part).join(" || ")}, 'UTF8')), 'hex')
  from @.entries ${OF_LOG} order by seq`;
const CLEAR_LINKS = `update @.entries set link = null, by_owner = null ${OF_LOG} and link is not null`;
const SET_LINKS = `update @.entries e set link = l.link, by_owner = true from unnest($3::int8[], $4::text[]) as l (seq, link)
  where e.space = $1 and e.conversation = $2 and e.seq = l.seq`;
const LAST_LINK = "update @.conversations set link = $3, owner_link = $3 where space = $1 and id = $2";

/** An entry comes with its digest in the place of its payload. */
const hashOfDigests: Hash = (parts) => (parts.length === 4 ? (parts[3] ?? "") : sha256(parts));

/** The rest is written as new batches: an earlier link would be a digest of erased text. */
async function writeLinks({ session, space }: EraseContext, id: ConversationId): Promise<void> {
  await session.query(CLEAR_LINKS, [space, id]);
  const rows = (await session.query(DIGESTS, [space, id])) as readonly (readonly [
    v: number,
    id: EntryId,
    seq: number,
    parentId: EntryId | null,
    digest: string,
  ])[];
  const entries = rows.map(([v, entry, seq, parentId, payload]): StoredEntry => {
    return { v, id: entry, seq, parentId, payload, time: "", type: "message" };
  });
  const runs = [...relink(hashOfDigests, entries)].filter(({ link }) => link !== null);
  const seqs = runs.map((run) => run.entries.at(-1)?.seq ?? 0);
  await session.query(SET_LINKS, [space, id, seqs, runs.map(({ link }) => link)]);
  await session.query(LAST_LINK, [space, id, runs.at(-1)?.link ?? null]);
}

// The forks right below a conversation, and those below erased ones among them, the lowest first.
const STANDING = `with recursive below (id, listed, level) as (
    select id, listed, 1 from @.conversations where space = $1 and source = $2
    union all select c.id, c.listed, b.level + 1 from below b join @.conversations c on c.space = $1 and c.source = b.id
    where not b.listed)
  select c.id, c.source, c.source_head, c.listed, c.origin_conversation, c.origin_segment, c.origin_depth
  from below b join @.conversations c on c.space = $1 and c.id = b.id order by b.level desc`;
const SEGMENTS_ABOVE = `with recursive up (conversation, segment, ancestor_conversation, ancestor_segment, ancestor_depth) as (
    select s.conversation, s.segment, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth
    from unnest($2::text[], $3::int4[]) as p (conversation, segment)
    join @.segments s on s.space = $1 and s.conversation = p.conversation and s.segment = p.segment
    union select s.conversation, s.segment, s.ancestor_conversation, s.ancestor_segment, s.ancestor_depth from up u
    join @.segments s on s.space = $1 and s.conversation = u.ancestor_conversation and s.segment = u.ancestor_segment)
  select * from up`;
const HIDES = `select h.seq, e.conversation, e.segment, e.depth from @.hides h
  left join @.entries e on e.space = $1 and e.conversation = h.holder and e.id = h.target
  where h.space = $1 and h.conversation = $2`;

type ForkRow = readonly [
  id: ConversationId,
  source: ConversationId,
  head: number,
  listed: boolean,
  holder: ConversationId,
  segment: number,
  depth: number,
];
type Ancestors = ReadonlyMap<string, Place | null>;

/** The facts for the rule of erasing: the forks of a conversation and where they grow from, and its hide facts. */
async function eraseFacts(
  { session, space }: EraseContext,
  conversation: ConversationId,
): Promise<EraseFacts<Place>> {
  const forks = (await session.query(STANDING, [space, conversation])) as unknown as readonly ForkRow[];
  const rows = await session.query(SEGMENTS_ABOVE, [
    space,
    forks.map(([, , , , holder]) => holder),
    forks.map(([, , , , , segment]) => segment),
  ]);
  const ancestors: Ancestors = new Map(
    rows.map(([holder, segment, ...above]) => [`${String(holder)} ${String(segment)}`, placeOf(above)]),
  );
  const hides = (await session.query(HIDES, [space, conversation])).map(([seq, ...target]) => ({
    seq: Number(seq),
    target: placeOf(target),
  }));
  const on = new Map<ConversationId, EraseFacts<Place>["forks"][number][]>();
  for (const [id, source, head, listed, holder, segment, depth] of forks) {
    const own = { conversation: holder, segment, depth };
    const point = listed
      ? own
      : planErase(factsOf(id, { forks: on.get(id) ?? [], hides: [], ancestors }))?.above;
    if (point) on.set(source, [...(on.get(source) ?? []), { point: point, head }]);
  }
  return factsOf(conversation, { forks: on.get(conversation) ?? [], hides, ancestors });
}

function placeOf([conversation, segment, depth]: readonly unknown[]): Place | null {
  if (typeof conversation !== "string" || segment === null || depth === null) return null;
  return { conversation, segment: Number(segment), depth: Number(depth) };
}

function factsOf(
  conversation: ConversationId,
  { forks, hides, ancestors }: Pick<EraseFacts<Place>, "forks" | "hides"> & { readonly ancestors: Ancestors },
): EraseFacts<Place> {
  return {
    forks,
    hides,
    isOwn: (place) => place.conversation === conversation,
    segmentName: (place) => `${place.conversation} ${place.segment}`,
    ancestorOf: (place) => {
      const above = ancestors.get(`${place.conversation} ${place.segment}`);
      if (above !== undefined) return above;
      throw new LogError("damaged", `Segment ${place.segment} of ${place.conversation} is missing`, {
        segment: place.segment,
      });
    },
  };
}

const HELD = "select digest, seq from @.blobs where space = $1 and conversation = $2";
// Payloads that may name a digest, a stretch at a time.
const NAMING = `select seq, payload from @.entries where space = $1 and conversation = $2 and seq > $3
  and payload ~ '[0-9a-f]{64}' and (segment is not null or not $4) order by seq limit 200`;
// Every fork, near and far, with how much of the conversation's log it may see.
const FORKS = `with recursive below (id, head) as (
    select id, source_head from @.conversations where space = $1 and source = $2
    union select c.id, b.head from below b join @.conversations c on c.space = $1 and c.source = b.id)
  select id, head from below`;
const DROP = "delete from @.blobs where space = $1 and conversation = $2 and digest = any ($3::text[])";

/** Removes the blobs that neither a remaining node names nor an entry of a fork that could see them. */
async function dropBlobs(erasing: EraseContext, id: ConversationId): Promise<void> {
  const { session, space } = erasing;
  const sizes = new Map(
    (await session.query(HELD, [space, id])).map(([digest, seq]) => [String(digest), Number(seq)]),
  );
  if (sizes.size === 0) return;
  const named = new Set<string>();
  await addNamed(erasing, id, { nodesOnly: true, among: sizes, named });
  for (const [fork, head] of await session.query(FORKS, [space, id])) {
    const seen = new Set(
      [...sizes].flatMap(([digest, seq]) => (seq <= Number(head) && !named.has(digest) ? [digest] : [])),
    );
    if (seen.size > 0) await addNamed(erasing, String(fork), { nodesOnly: false, among: seen, named });
  }
  const dropped = [...sizes.keys()].filter((digest) => !named.has(digest));
  await session.query(DROP, [space, id, dropped]);
}

async function addNamed(
  { session, space }: EraseContext,
  conversation: ConversationId,
  input: {
    readonly nodesOnly: boolean;
    readonly among: { has(digest: string): boolean };
    readonly named: Set<string>;
  },
): Promise<void> {
  for (let after = 0; ;) {
    const rows = await session.query(NAMING, [space, conversation, after, input.nodesOnly]);
    for (const [seq, payload] of rows) {
      for (const digest of digestsNamed(String(payload), input.among)) input.named.add(digest);
      after = Number(seq);
    }
    if (rows.length === 0) return;
  }
}
