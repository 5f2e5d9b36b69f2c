import type { Conversation } from "#conversation/conversation";
import { entryLine } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import { type ConversationId, type EntryId, parseEntryId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import type { FigureApi, RecordLine } from "./figure-api.ts";

/** One record as it lies in its log. */
export async function readRecord(
  { space, id }: Conversation,
  { seq, entry }: FigureApi["getRecord"]["query"],
): Promise<RecordLine> {
  if ((seq === undefined) === (entry === undefined))
    throw new LogError("invalid_request", "A record is asked for by its seq, or by its entry");
  if (entry !== undefined) return findRecord(space, id, parseEntryId(entry));
  const found = seq === undefined ? null : await recordAt(space, id, seq);
  if (found === null)
    throw new LogError("entry_not_found", `There is no record ${seq} in ${id}`, { seq: seq ?? 0 });
  return lineOf(id, found);
}

/** What is inherited lies in the log of a source, or of a source of that. */
async function findRecord(space: SpaceStore, id: ConversationId, entry: EntryId): Promise<RecordLine> {
  const { seq } = await space.entry(id, entry);
  let log: ConversationId | null = id;
  while (log !== null) {
    const found: StoredEntry | null = await recordAt(space, log, seq);
    if (found?.id === entry) return lineOf(log, found);
    log = (await space.head(log)).origin?.source ?? null;
  }
  throw new LogError("entry_not_found", `There is no record of ${entry} in ${id}`, { entry });
}

async function recordAt(
  space: SpaceStore,
  conversation: ConversationId,
  seq: number,
): Promise<StoredEntry | null> {
  const [found] = await space.read({ conversation, after: seq - 1, limit: 1 });
  return found?.seq === seq ? found : null;
}

function lineOf(conversation: ConversationId, entry: StoredEntry): RecordLine {
  return { conversation, seq: entry.seq, line: entryLine(entry) };
}
