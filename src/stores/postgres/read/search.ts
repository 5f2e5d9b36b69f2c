import { decodeEntry } from "#log/codec";
import { SEARCHED_TYPES, searchText } from "#log/entry-types";
import type { ConversationId, SpaceId } from "#log/ids";
import { foldText, matchesQuery, queryWords } from "#log/search";
import type { SearchHit, SearchRequest } from "#store/requests";
import { type Db, withSync } from "#stores/postgres/db";
import { IS_BEHIND } from "#stores/postgres/tables/schema";
import { ENTRY_COLUMNS, type EntryRow, toStored } from "#stores/postgres/tables/rows";
import { readHead } from "./reads.ts";

const ROWS_FIRST = 64;
const ROWS_MAX = 2_000;

const TYPES = SEARCHED_TYPES.map((type) => `'${type}'`).join(", ");
const COLUMNS = ENTRY_COLUMNS.split(", ")
  .map((name) => `e.${name}`)
  .join(", ");

/** What its own conversation hides is not found. */
const SHOWN = `not coalesce((select h.hidden from @.hides h where h.space = $1 and h.conversation = e.conversation
  and h.depth = e.depth and h.holder = e.conversation and h.target = e.id order by h.seq desc limit 1), false)`;

/** The index proposes entries; those not indexed yet are proposed unfiltered. `$2` a conversation or null, `$4` a part of a word. */
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
  index: WordIndex,
): Promise<readonly SearchHit[]> {
  const words = queryWords(request.query);
  const { conversation, limit } = request;
  if (conversation !== undefined) await readHead(db, space, conversation);
  if (words.length === 0 || limit <= 0) return [];
  await index.catchUp(db, space, conversation ?? null).catch(() => undefined); // entries not indexed yet are searched directly
  const grams = wordGrams(words);
  const part = grams.length > 0 ? "" : indexable(words[0] ?? "");
  const hits: SearchHit[] = [];
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
      hits.push({ conversation: holder, entry: row[1], seq: row[2], text });
      if (hits.length >= limit) return hits;
    }
    if (rows.length < most) return hits;
    offset += rows.length;
  }
}

const CONVERSATIONS_STEP = 200;
const ROWS_STEP = 500;
const MARKED_STEP = 20; // heads that are marked by one statement, which holds them that long

const BEHIND = `select c.id, c.born, c.head_seq, coalesce(m.seq, 0) from @.conversations c
  left join @.search_marks m on m.space = $1 and m.conversation = c.id and m.born = c.born
  where c.space = $1 and ${IS_BEHIND} and c.id > $2 and ($3::text is null or c.id = $3::text)
  order by c.id limit ${CONVERSATIONS_STEP}`;
/** A head that another process is changing is skipped, so that neither waits for the other. */
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

/** Searches at once take words into the index once: each waits for the one that has begun. */
export class WordIndex {
  readonly #running = new Map<string, Promise<void>>();

  /** Of one conversation, or of all in the space. */
  catchUp(db: Db, space: SpaceId, conversation: ConversationId | null): Promise<void> {
    const name = `${space} ${conversation ?? ""}`; // neither has blanks
    let running = this.#running.get(name);
    if (running === undefined) {
      running = indexWords(db, space, conversation).finally(() => this.#running.delete(name));
      this.#running.set(name, running);
    }
    return running;
  }
}

/**
 * Takes what was written since into the index, a stretch at a time, and looks at nothing else. It is derived: no append knows
 * of it, and none waits while words are made.
 */
async function indexWords(db: Db, space: SpaceId, only: ConversationId | null): Promise<void> {
  for (let after = ""; ;) {
    const behind = await db.read<[ConversationId, string, number, number]>(BEHIND, space, after, only);
    for (let from = 0; from < behind.length; from += MARKED_STEP) {
      const logs = behind.slice(from, from + MARKED_STEP);
      for (const [conversation, born, headSeq, seq] of logs)
        await indexLog(db, space, { conversation, born, headSeq, seq });
      const columns = [0, 1, 2].map((column) => logs.map((log) => log[column]));
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
    const additions = rows.flatMap((row) => {
      const text = indexedText(row);
      return text === "" ? [] : [{ seq: row[2], time: row[4], words: text, grams: [...trigrams(text)] }];
    });
    const [there] = await db.write(PUT, space, conversation, born, seq, JSON.stringify(additions));
    if (there === undefined) return;
  }
}

function indexedText(row: EntryRow): string {
  try {
    return indexable(searchText(decodeEntry(toStored(row))));
  } catch {
    return ""; // a damaged entry is reported by check, and must not stop the index for all others
  }
}

const GRAMS_MAX = 24; // a long word is found by its beginning; what remains is checked on the text itself

/** Text as the index holds it. */
function indexable(text: string): string {
  return foldText(text).replaceAll("\0", " ").toWellFormed();
}

/** The parts of three letters that every hit has. */
function wordGrams(words: readonly string[]): readonly string[] {
  const grams = new Set<string>();
  for (const word of words) {
    if (!word.isWellFormed()) continue;
    for (const gram of trigrams(indexable(word).slice(0, GRAMS_MAX * 2), GRAMS_MAX)) grams.add(gram);
  }
  return [...grams];
}

function trigrams(text: string, most: number = Number.POSITIVE_INFINITY): ReadonlySet<string> {
  const letters = Array.from(text);
  const grams = new Set<string>();
  for (let index = 0; index + 3 <= letters.length && index < most; index++)
    grams.add(letters.slice(index, index + 3).join(""));
  return grams;
}
