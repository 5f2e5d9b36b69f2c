import { decodeEntry } from "#log/codec";
import { SEARCHED_TYPES, searchText } from "#log/entry-types";
import type { ConversationId, SpaceId } from "#log/ids";
import type { Db } from "#stores/postgres/db/db";
import { withSync } from "#stores/postgres/tables/pg-durability";
import { ENTRY_COLUMNS, type EntryRow, toStored } from "#stores/postgres/tables/pg-rows";
import { indexable, trigrams } from "./pg-grams.ts";

const CONVERSATIONS_STEP = 200;
const ROWS_STEP = 500;

const BEHIND = `select c.id, c.born, c.head_seq, coalesce(m.seq, 0) from @.conversations c
  left join @.search_marks m on m.space = $1 and m.conversation = c.id and m.born = c.born
  where c.space = $1 and c.listed and c.head_seq > coalesce(m.seq, 0) and c.id > $2 order by c.id limit ${CONVERSATIONS_STEP}`;
const NEXT = `select ${ENTRY_COLUMNS} from @.entries where space = $1 and conversation = $2 and seq > $3 and seq <= $4
  and type in (${SEARCHED_TYPES.map((type) => `'${type}'`).join(", ")}) order by seq limit ${ROWS_STEP}`;

/** Only while the conversation is there: what is erased meanwhile must not come back as words. No append waits for it,
 * and it waits for no disk: what is lost of it is made again. */
const PUT = `${withSync("true")},
c as (select c.id from @.conversations c
    where c.space = $1 and c.id = $2 and c.born = $3 and c.listed and exists (select from sync) for key share),
put as (insert into @.search (space, conversation, seq, time, words, grams)
  select $1, c.id, u.seq, u.time, u.words, array(select jsonb_array_elements_text(u.grams)) from c,
    jsonb_to_recordset($5::jsonb) as u (seq int8, time text, words text, grams jsonb)
  on conflict (space, conversation, seq) do nothing),
mark as (insert into @.search_marks (space, conversation, born, seq) select $1, c.id, $3, $4::int8 from c
  on conflict (space, conversation) do update set seq = greatest(excluded.seq,
    case when search_marks.born = excluded.born then search_marks.seq else 0 end), born = excluded.born)
select 1 from c`;

/** Takes what was written since into the index, a stretch at a time. It is derived: no append knows of it. */
export async function indexWords(db: Db, space: SpaceId): Promise<void> {
  for (let after = ""; ;) {
    const behind = await db.read<[ConversationId, string, number, number]>(BEHIND, space, after);
    for (const [conversation, born, headSeq, seq] of behind) {
      await indexLog(db, space, { conversation, born, headSeq, seq });
      after = conversation;
    }
    if (behind.length < CONVERSATIONS_STEP) return;
  }
}

async function indexLog(
  db: Db,
  space: SpaceId,
  log: {
    readonly conversation: ConversationId;
    readonly born: string;
    readonly headSeq: number;
    readonly seq: number;
  },
): Promise<void> {
  const { conversation, born, headSeq } = log;
  for (let { seq } = log; seq < headSeq;) {
    const rows = await db.read<EntryRow>(NEXT, space, conversation, seq, headSeq);
    seq = rows.length < ROWS_STEP ? headSeq : (rows.at(-1)?.[2] ?? headSeq);
    const given = rows.flatMap((row) => {
      const words = wordsOf(row);
      return words === "" ? [] : [{ seq: row[2], time: row[4], words, grams: [...trigrams(words)] }];
    });
    const [there] = await db.write(PUT, space, conversation, born, seq, JSON.stringify(given));
    if (there === undefined) return;
  }
}

function wordsOf(row: EntryRow): string {
  try {
    return indexable(searchText(decodeEntry(toStored(row))));
  } catch {
    return ""; // a damaged entry is reported by check, and must not stop the index for all others
  }
}
