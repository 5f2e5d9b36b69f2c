import { listCursor, parseListCursor, type SpaceId } from "#log/ids";
import type { ConversationRow, ListRequest } from "#store/requests";
import type { Db } from "#stores/postgres/db/db";
import { EVERY_SPACE } from "#stores/postgres/tables/row-security";
import { readState } from "#stores/postgres/tables/rows";
import { escapeText } from "#stores/postgres/tables/escape-text";
import { rowsMax } from "./window.ts";

// The index holds order and prefix, so rows outside the page are not read, and bodies never.
const page = (
  forks: string,
): string => `select row_to_json(c)::text from @.conversations c where c.listed and c.space = $1 and c.unlisted = $2
  and starts_with(c.id, $3) and ($4::text is null or (c.updated_at, c.id) < ($4::text, $5::text)) ${forks}
  order by c.updated_at desc, c.id desc limit $6`;
const PAGE = page("");
// By an index of its own; as one text with the other it would be planned for both.
const FORKS_PAGE = page("and c.source = $7");
const SPACES = "select distinct space from @.conversations where listed order by space";

/** A page of a space's conversations, the most recently changed first. */
export async function listPage(
  db: Db,
  space: SpaceId,
  request: ListRequest,
): Promise<{ readonly conversations: readonly ConversationRow[]; readonly next: string | null }> {
  const { after, prefix = "", unlisted = false, forkOf } = request;
  const limit = rowsMax(request.limit);
  const cursor = after === undefined ? [null, null] : parseListCursor(after);
  const values = [space, unlisted, escapeText(prefix), ...cursor, limit + 1];
  const rows = await (forkOf === undefined
    ? db.read<[string]>(PAGE, ...values)
    : db.read<[string]>(FORKS_PAGE, ...values, forkOf));
  const conversations = rows.slice(0, limit).map(([row]) => toListed(row));
  const last = conversations.at(-1);
  const next = last !== undefined && rows.length > limit ? listCursor(last) : null;
  return { conversations, next };
}

function toListed(row: string): ConversationRow {
  const { head } = readState(row);
  const { conversation, title, cwd, createdAt, updatedAt, headSeq, origin, summary } = head;
  return {
    conversation,
    title,
    cwd,
    createdAt,
    updatedAt,
    headSeq,
    leaf: head.leaf.id,
    origin:
      origin === null
        ? null
        : {
            conversation: origin.source,
            entry: origin.entry,
          },
    summary,
    damage: null,
  };
}

export async function listSpaces(db: Db): Promise<readonly SpaceId[]> {
  return (await db.inSpace(EVERY_SPACE).read<[SpaceId]>(SPACES)).map(([space]) => space);
}
