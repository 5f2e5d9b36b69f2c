import { LogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import { TAIL_PAGE, type TailPage } from "#store/tail-feeds";
import { withinBytes } from "#store/within-bytes";
import { notFound } from "#stores/sqlite/sqlite-errors";
import { ENTRY_COLUMNS, type EntryRow } from "#stores/sqlite/tables/rows";
import { type Reader, storedOf } from "./reader.ts";

const END = "SELECT row, head_seq FROM conversations WHERE space = ? AND id = ? AND listed = 1";
const NEXT = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?`;

/** The next entries, and how far the log reached before they were read. */
export function readTailPage(
  { sql, lookup }: Reader,
  space: SpaceId,
  conversation: ConversationId,
  after: number,
): TailPage {
  const found = sql.get<[number, number]>(END, space, conversation);
  if (found === undefined) throw notFound(conversation);
  const [row, headSeq] = found;
  if (headSeq <= after) return { entries: [], headSeq };
  const rows = sql.all<EntryRow>(NEXT, row, after, TAIL_PAGE.limit);
  if (rows.length > 0) return { entries: withinBytes(storedOf(rows, lookup), TAIL_PAGE.bytes), headSeq };
  throw new LogError(
    "damaged",
    `Conversation ${conversation} is damaged: its log ends at ${after} or before and should end at ${headSeq}`,
    { conversation, reachableSeq: after },
  );
}
