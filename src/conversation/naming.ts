import { isLogError } from "#log/errors";
import { type ConversationId, type EntryId, parseIdPart } from "#log/ids";
import { labelsOf } from "#log/projections/labels";
import type { SpaceStore } from "#store/store";
import { readEntries, readInherited } from "./reading.ts";

const MATCHES_MAX = 100; // more than anyone looks through

/**
 * The nodes a person may mean by a text: those that carry it as their label, else those whose id starts so. Labels cost
 * what there are of them, ids what matches; the log itself is not read.
 */
export async function nodesNamed(
  space: SpaceStore,
  conversation: ConversationId,
  text: string,
): Promise<readonly EntryId[]> {
  const labelled = await nodesLabelled(space, conversation, text);
  if (labelled.length > 0) return labelled;
  try {
    return await space.ids({ conversation, prefix: parseIdPart(text), limit: MATCHES_MAX });
  } catch (error) {
    if (isLogError(error, "invalid_id")) return []; // no id begins like that
    throw error;
  }
}

async function nodesLabelled(
  space: SpaceStore,
  conversation: ConversationId,
  text: string,
): Promise<readonly EntryId[]> {
  const own = await readEntries(space, conversation, ["label"]);
  const labels = labelsOf([...(await readInherited(space, conversation, ["label"])), ...own]);
  const wearing = [...labels].flatMap(([id, label]) => (label === text ? [id] : []));
  // A source labels nodes that its fork does not see.
  const seen = await Promise.all(wearing.map((id) => isVisible(space, conversation, id)));
  return wearing.filter((_, index) => seen[index]);
}

async function isVisible(space: SpaceStore, conversation: ConversationId, id: EntryId): Promise<boolean> {
  try {
    return (await space.entry(conversation, id)).place !== null;
  } catch (error) {
    if (isLogError(error, "entry_not_found")) return false;
    throw error;
  }
}
