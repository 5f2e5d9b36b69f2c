import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { isNode, NODE_TYPES } from "#log/entry-types";
import { LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import type { NodeAt } from "./reading.ts";

const LEAF_TYPES = [...NODE_TYPES, "leaf"] as const;
const LAST_ENTRIES = 4; // mostly the last answer, and the ends of its turn and its run

/** Where the branch of a conversation ended when this entry was its last. */
export async function readLeafAt(
  space: SpaceStore,
  conversation: ConversationId,
  seq: number,
): Promise<NodeAt> {
  const { headSeq, leaf, origin } = await space.head(conversation);
  if (seq >= headSeq) return leaf;
  const before = { conversation, after: seq + 1, newestFirst: true };
  const last = await space.read({ ...before, limit: LAST_ENTRIES });
  const change = last.find(({ type }) => LEAF_TYPES.some((one) => one === type));
  const [entry] =
    change === undefined ? await space.read({ ...before, limit: 1, types: LEAF_TYPES }) : [change];
  const node = entry === undefined ? null : nodeIn(decodeEntry(entry));
  if (node !== null) {
    const { place, id } = await space.entry(conversation, node);
    if (place !== null) return { ...place, id };
  }
  // The first entry of a fork says where it began, and lies on no branch.
  if (origin !== null) return { ...origin, id: origin.entry };
  throw new LogError(
    "damaged",
    `Conversation ${conversation} is damaged: it has no branch up to entry ${seq}`,
    {
      conversation,
      seq,
    },
  );
}

function nodeIn(entry: Entry): EntryId | null {
  if (entry.type === "leaf") return entry.target;
  return isNode(entry) ? entry.id : null;
}
