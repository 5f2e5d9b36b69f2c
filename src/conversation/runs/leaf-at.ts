import { decodeEntry } from "#log/codec";
import { isNode, NODE_TYPES } from "#log/entry-types";
import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import type { NodeAt } from "#conversation/reading";

const LEAF_TYPES = [...NODE_TYPES, "leaf"] as const;

/** Where the branch of a conversation ended when this entry was its last. */
export async function readLeafAt(
  space: SpaceStore,
  conversation: ConversationId,
  seq: number,
): Promise<NodeAt> {
  const { headSeq, leaf, origin } = await space.head(conversation);
  if (seq >= headSeq) return leaf;
  const [last] = await space.read({
    conversation,
    after: seq + 1,
    newestFirst: true,
    limit: 1,
    types: LEAF_TYPES,
  });
  const entry = last === undefined ? null : decodeEntry(last);
  if (entry !== null && (entry.type === "leaf" || isNode(entry))) {
    const { place, id } = await space.entry(conversation, entry.type === "leaf" ? entry.target : entry.id);
    if (place !== null) return { ...place, id };
  }
  // The first entry of a fork says where it began, and lies on no branch.
  if (origin !== null) return { ...origin, id: origin.entry };
  throw new LogError(
    "damaged",
    `Conversation ${conversation} is damaged: it has no node up to entry ${seq}`,
    {
      conversation,
      seq,
    },
  );
}
