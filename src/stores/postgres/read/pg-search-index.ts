import { decodeEntry } from "#log/codec";
import { SEARCHED_TYPES, searchText } from "#log/entry-types";
import type { ConversationId, SpaceId } from "#log/ids";
import type { Db } from "#stores/postgres/db/db";
import { withSync } from "#stores/postgres/tables/pg-durability";
import { IS_BEHIND } from "#stores/postgres/tables/pg-schema";
import { ENTRY_COLUMNS, type EntryRow, toStored } from "#stores/postgres/tables/pg-rows";
import { indexable, trigrams } from "./pg-grams.ts";

const CONVERSATIONS_STEP = 200;
const ROWS_STEP = 500;
const MARKED_STEP = 20; // heads that are marked by one statement, which holds them that long

const BEHIND = `select c.id, c.born, c.head_seq, coalesce(m.seq, 0) from @.conversations c
  left join @.search_marks m on m.space = $1 and m.conversation = c.id and m.born = c.born
  where c.space = $1 and ${IS_BEHIND} and c.id > $2 order by c.id limit ${CONVERSATIONS_STEP}`;
/** A head that somebody is changing is left behind, so that neither waits for the other. */
const CAUGHT_UP = `${withSync("true")},
c as materialized (select c.id, u.seq from unnest($2::text[], $3::text[], $4::int8[]) as u (id, born, seq)
  join @.conversations c on c.space = $1 and c.id = u.id and c.born = u.born and ${IS_BEHIND} and exists (select from sync)
  for no key update of c skip locked)
update @.conversations t set indexed_seq = c.seq from c where t.space = $1 and t.id = c.id`;
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

/**
 * Takes what was written since into the index, a stretch at a time, and looks at nothing else. It is derived: no append knows
 * of it, and none waits while words are made.
 */
export async function indexWords(db: Db, space: SpaceId): Promise<void> {
  for (let after = ""; ;) {
    const behind = await db.read<[ConversationId, string, number, number]>(BEHIND, space, after);
    for (let from = 0; from < behind.length; from += MARKED_STEP) {
      const logs = behind.slice(from, from + MARKED_STEP);
      for (const [conversation, born, headSeq, seq] of logs)
        await indexLog(db, space, { conversation, born, headSeq, seq });
      const columns = [0, 1, 2].map((at) => logs.map((log) => log[at]));
      await db.write(CAUGHT_UP, space, ...columns);
    }
    const last = behind.at(-1);
    if (last === undefined || behind.length < CONVERSATIONS_STEP) return;
    [after] = last;
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
