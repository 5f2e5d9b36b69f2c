import { decodeEntry } from "#log/codec";
import { reachesModel } from "#log/entry-types";
import type { Leaf, Place } from "#log/lineage/head";
import { type ConversationId, type EntryId, parseEntryId } from "#log/ids";
import type { BranchPage } from "#conversation/reading";
import type { Page } from "#store/requests";
import type { SpaceStore } from "#store/facets";

const PAGE_NODES = 64;
const NODES_MAX = 2_048; // behind so much that says nothing a session is told again

/** The last node of a branch that a model can have been told; a change of settings says nothing to a model. */
export async function readLastModelNode(
  space: SpaceStore,
  conversation: ConversationId,
  from: Leaf,
  near: BranchPage | null = null,
): Promise<EntryId> {
  const nearest = near?.entries.find(reachesModel);
  if (nearest !== undefined) return nearest.id;
  let next: Place | null = near === null ? from : near.next;
  let limit = 4; // a change or two at most, as a rule
  const oldest = from.depth - NODES_MAX;
  while (next !== null && next.depth > oldest) {
    const page: Page = await space.page({ conversation, from: next, limit });
    const lastModelNode = page.entries.find((stored) => reachesModel(decodeEntry(stored)));
    if (lastModelNode !== undefined) return lastModelNode.id;
    next = page.next;
    limit = PAGE_NODES;
  }
  return from.id;
}

/** The same for the branch that ends with this node; null for a fact, which lies on none. */
export async function readModelNodeAt(
  space: SpaceStore,
  conversation: ConversationId,
  node: EntryId,
): Promise<EntryId | null> {
  const { id, place } = await space.entry(conversation, node);
  return place === null ? null : readLastModelNode(space, conversation, { ...place, id, tip: false });
}

/** Where a turn begins with seeds, which say nothing by themselves: the node said before them. Null for any other prompt. */
export async function readModelNodeBeforeSeed(
  space: SpaceStore,
  conversation: ConversationId,
  prompt: string,
): Promise<EntryId | null> {
  const { id, type } = await space.entry(conversation, parseEntryId(prompt));
  return type === "seed" ? readModelNodeAt(space, conversation, id) : null;
}
