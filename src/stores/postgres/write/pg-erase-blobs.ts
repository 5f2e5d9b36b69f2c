import type { ConversationId } from "#log/ids";
import { digestsNamed } from "#log/plans/plan-erase";
import type { Erasing } from "./pg-erase.ts";

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
export async function dropBlobs(erasing: Erasing, id: ConversationId): Promise<void> {
  const { session, space } = erasing;
  const held = new Map(
    (await session.query(HELD, [space, id])).map(([digest, seq]) => [String(digest), Number(seq)]),
  );
  if (held.size === 0) return;
  const named = new Set<string>();
  await addNamed(erasing, id, { nodesOnly: true, among: held, named });
  for (const [fork, head] of await session.query(FORKS, [space, id])) {
    const seen = new Set(
      [...held].flatMap(([digest, seq]) => (seq <= Number(head) && !named.has(digest) ? [digest] : [])),
    );
    if (seen.size > 0) await addNamed(erasing, String(fork), { nodesOnly: false, among: seen, named });
  }
  const dropped = [...held.keys()].filter((digest) => !named.has(digest));
  await session.query(DROP, [space, id, dropped]);
}

async function addNamed(
  { session, space }: Erasing,
  conversation: ConversationId,
  given: {
    readonly nodesOnly: boolean;
    readonly among: { has(digest: string): boolean };
    readonly named: Set<string>;
  },
): Promise<void> {
  for (let after = 0; ;) {
    const rows = await session.query(NAMING, [space, conversation, after, given.nodesOnly]);
    for (const [seq, payload] of rows) {
      for (const digest of digestsNamed(String(payload), given.among)) given.named.add(digest);
      after = Number(seq);
    }
    if (rows.length === 0) return;
  }
}
