import type { Hash } from "#log/batch-links";
import { relink } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import type { ConversationId, EntryId, SpaceId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import { planErase } from "#log/plans/plan-erase";
import { sha256 } from "#store/sha256";
import type { Session } from "#stores/postgres/db/db";
import { notFound } from "#stores/postgres/postgres-errors";
import { syncCommit } from "#stores/postgres/tables/pg-durability";
import { LOG_TABLES } from "#stores/postgres/tables/pg-schema";
import type { Writing } from "./pg-append.ts";
import { dropBlobs } from "./pg-erase-blobs.ts";
import { standingOn } from "./pg-standing.ts";

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
// Whoever was told that something is gone must not find it again after a crash.
const BEGIN = `begin; ${syncCommit("false")}`;
const OF_LOG = "where space = $1 and conversation = $2";

/** Removes a conversation, then what was kept only for it of erased conversations above; all of it or nothing. */
export async function eraseLog({ db, space, heads }: Writing, conversation: ConversationId): Promise<void> {
  heads.forget(space, conversation);
  heads.forgetEnd(space, conversation);
  await db.patient().transaction(async (session) => {
    const erasing = { session, space };
    const [doomed] = await session.query(LOCK, [space, conversation]);
    if (doomed === undefined) throw notFound(conversation);
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

export interface Erasing {
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
async function trim(erasing: Erasing, id: ConversationId): Promise<boolean> {
  const { session, space } = erasing;
  const plan = planErase(await standingOn(erasing, id));
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

/** What is left stands as new batches: a link of before would be a digest of what was erased. */
async function writeLinks({ session, space }: Erasing, id: ConversationId): Promise<void> {
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
