import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { isLogError } from "#log/errors";
import { type ConversationId, type EntryId, parseIdPart } from "#log/ids";
import { labelsOf } from "#log/projections/labels";
import type { SpaceStore } from "#store/facets";
import { readEntries, readInherited } from "./read-log.ts";

const END_CHARS_MIN = 4; // a shorter end is more likely a mistake
const MATCHES_MAX = 100; // more than anyone looks through
const GIVEN_MAX = 256; // facts that give one label; where there are more, all labels are read

/**
 * The nodes a person may mean by a text: those that carry it as their label, else those whose id starts so, else those
 * whose id ends so. The first two cost what matches; an end, what there are of ids. The log itself is not read.
 */
export async function nodesNamed(
  space: SpaceStore,
  conversation: ConversationId,
  text: string,
): Promise<readonly EntryId[]> {
  const labelled = await nodesLabelled(space, conversation, text);
  if (labelled.length > 0) return labelled;
  try {
    const part = parseIdPart(text);
    const starting = await space.ids({ conversation, prefix: part, limit: MATCHES_MAX });
    if (starting.length > 0 || part.length < END_CHARS_MIN) return starting;
    return await space.ids({ conversation, prefix: "", suffix: part, limit: MATCHES_MAX });
  } catch (error) {
    if (isLogError(error, "invalid_id")) return []; // no id is like that
    throw error;
  }
}

/** The nodes that carry this label now. */
export async function nodesLabelled(
  space: SpaceStore,
  conversation: ConversationId,
  text: string,
): Promise<readonly EntryId[]> {
  const facts = await space.labelled({ conversation, label: text, limit: GIVEN_MAX });
  const labels = labelsOf(
    facts?.map((stored) => decodeEntry(stored)) ?? (await readLabels(space, conversation)),
  );
  const wearing = [...labels].flatMap(([id, label]) => (label === text ? [id] : []));
  // A source labels nodes that its fork does not see.
  const seen = await Promise.all(wearing.map((id) => isVisible(space, conversation, id)));
  return wearing.filter((_, index) => seen[index]);
}

async function readLabels(space: SpaceStore, conversation: ConversationId): Promise<readonly Entry[]> {
  const inherited = await readInherited(space, conversation, ["label"]);
  return [...inherited, ...(await readEntries(space, conversation, ["label"]))];
}

async function isVisible(space: SpaceStore, conversation: ConversationId, id: EntryId): Promise<boolean> {
  try {
    return (await space.entry(conversation, id)).place !== null;
  } catch (error) {
    if (isLogError(error, "entry_not_found")) return false;
    throw error;
  }
}
