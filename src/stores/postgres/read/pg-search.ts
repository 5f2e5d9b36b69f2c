import { decodeEntry } from "#log/codec";
import { SEARCHED_TYPES, searchText } from "#log/entry-types";
import type { ConversationId, SpaceId } from "#log/ids";
import { matchesQuery, queryWords } from "#log/search";
import type { SearchHit, SearchRequest } from "#store/requests";
import type { Db } from "#stores/postgres/db/db";
import { IS_BEHIND } from "#stores/postgres/tables/pg-schema";
import { ENTRY_COLUMNS, type EntryRow, toStored } from "#stores/postgres/tables/pg-rows";
import { indexable, wordGrams } from "./pg-grams.ts";
import { readHead } from "./pg-reads.ts";
import { indexWords } from "./pg-search-index.ts";

const ROWS_FIRST = 64;
const ROWS_MAX = 2_000;

const TYPES = SEARCHED_TYPES.map((type) => `'${type}'`).join(", ");
const COLUMNS = ENTRY_COLUMNS.split(", ")
  .map((name) => `e.${name}`)
  .join(", ");

/** What its own conversation hides is not found. */
const SHOWN = `not coalesce((select h.hidden from @.hides h where h.space = $1 and h.conversation = e.conversation
  and h.depth = e.depth and h.holder = e.conversation and h.target = e.id order by h.seq desc limit 1), false)`;

/** The index proposes; what it has not come to yet is proposed as it is. `$2` a conversation or null, `$4` a part of a word. */
const search = (order: string): string => `with proposed as (
  select s.conversation, s.seq from @.search s
  where s.space = $1 and ($2::text is null or s.conversation = $2::text) and s.grams @> $3::text[]
    and ($4::text = '' or position($4::text in s.words) > 0)
  union all select e.conversation, e.seq from @.conversations c
    left join @.search_marks m on m.space = $1 and m.conversation = c.id and m.born = c.born
    join @.entries e on e.space = $1 and e.conversation = c.id and e.seq > coalesce(m.seq, 0) and e.type in (${TYPES})
  where c.space = $1 and ($2::text is null or c.id = $2::text) and ${IS_BEHIND} and c.head_seq > coalesce(m.seq, 0))
select e.conversation, ${COLUMNS} from (select distinct conversation, seq from proposed) p
  join @.conversations c on c.space = $1 and c.id = p.conversation and c.listed
  join @.entries e on e.space = $1 and e.conversation = p.conversation and e.seq = p.seq
where ${SHOWN} order by ${order} limit $5 offset $6`;

const BY_TIME = search("e.time desc, e.seq desc, e.conversation desc");
const BY_SEQ = search("e.seq desc");

/** The entries that hold every word, newest first: by time, within one conversation by seq. */
export async function searchEntries(
  db: Db,
  space: SpaceId,
  request: SearchRequest,
): Promise<readonly SearchHit[]> {
  const words = queryWords(request.query);
  const { conversation, limit } = request;
  if (conversation !== undefined) await readHead(db, space, conversation);
  if (words.length === 0 || limit <= 0) return [];
  await indexWords(db, space).catch(() => undefined); // what is not indexed is looked through as it is
  const grams = wordGrams(words);
  const part = grams.length > 0 ? "" : indexable(words[0] ?? "");
  const found: SearchHit[] = [];
  for (let offset = 0, most = ROWS_FIRST; ; most = Math.min(most * 4, ROWS_MAX)) {
    const rows = await db.read<readonly [ConversationId, ...EntryRow]>(
      conversation === undefined ? BY_TIME : BY_SEQ,
      space,
      conversation ?? null,
      grams,
      part,
      most,
      offset,
    );
    for (const [holder, ...row] of rows) {
      const text = searchText(decodeEntry(toStored(row)));
      if (!matchesQuery(text, words)) continue;
      found.push({ conversation: holder, entry: row[1], seq: row[2], text });
      if (found.length >= limit) return found;
    }
    if (rows.length < most) return found;
    offset += rows.length;
  }
}
