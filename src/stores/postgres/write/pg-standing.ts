import type { ConversationId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import { type EraseFacts, planErase } from "#log/plans/plan-erase";
import { LogError } from "#log/errors";
import type { Erasing } from "./pg-erase.ts";

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

/** What the rule of erasing has to know of a conversation: who stands on it and where, and what it hides. */
export async function standingOn(
  { session, space }: Erasing,
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
    const at = listed
      ? own
      : planErase(factsOf(id, { forks: on.get(id) ?? [], hides: [], ancestors }))?.above;
    if (at) on.set(source, [...(on.get(source) ?? []), { at, head }]);
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
