import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { entryDigest } from "#log/batch-links";
import { entryLine } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { readJson } from "#log/json/read-json";
import type { HeadView } from "#store/requests";
import { sha256 } from "#store/sha256";
import { ENTRIES_PAGE, type EntriesQuery, readEntriesPage, type ReadPage, typesOf } from "./entry-pages.ts";

/** One entry as it lies in the log, without what it says. */
export interface RecordView {
  readonly seq: number;
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly time: string;
  /** Of its line in an export. */
  readonly bytes: number;
  /** SHA-256 over what it says, as links hold it. */
  readonly digest: string;
  /** Where a batch ends with it: the link, which holds everything before it. */
  readonly link: string | null;
  /** What it says is no JSON any more. */
  readonly unreadable: boolean;
}

/** Where a log can be read no further. */
export interface LogDamage {
  readonly message: string;
  /** The last entry in front of it. */
  readonly reachableSeq: number;
  /** In the file, where the store has one. */
  readonly position: number | null;
}

export interface RecordPage {
  readonly conversation: string;
  readonly records: readonly RecordView[];
  /** Null: no reading has met any. */
  readonly damage: LogDamage | null;
  readonly next: number | null;
  readonly previous: number | null;
  readonly headSeq: number;
}

/** One record, and what it says to the letter. */
export interface RecordLine {
  readonly conversation: string;
  readonly seq: number;
  /** Its line in an export. Of a record that is unreadable it is no JSON. */
  readonly line: string;
}

const LINKS_AT_ONCE = 500;

/** A page of a log as it lies there; of one that is damaged, what lies in front of the damage. */
export async function readRecords(conversation: Conversation, query: EntriesQuery): Promise<RecordPage> {
  const { damage, entries, ...places } = await readSound(conversation, query);
  const links = damage === null ? await linksOf(conversation, entries) : new Map<number, string>();
  const records = entries.map((entry) => recordOf(entry, links.get(entry.seq) ?? null));
  return { conversation: conversation.id, records, damage, ...places };
}

async function readSound(
  conversation: Conversation,
  query: EntriesQuery,
): Promise<ReadPage & { readonly damage: LogDamage | null }> {
  try {
    return { ...(await readEntriesPage(conversation, query)), damage: null };
  } catch (error) {
    const damage = damageIn(error);
    if (damage === null) throw error;
    return { ...(await readInFront(conversation, query, damage.reachableSeq)), damage };
  }
}

/** Only an error that says how far the log can be read is one to read up to. */
function damageIn(error: unknown): LogDamage | null {
  if (!isLogError(error, "damaged")) return null;
  const { reachableSeq, position } = error.details;
  if (typeof reachableSeq !== "number") return null;
  return { message: error.message, reachableSeq, position: typeof position === "number" ? position : null };
}

/** The same page of a log that ends at the damage: a read that goes beyond it would fail as a whole. */
async function readInFront(
  conversation: Conversation,
  { after, before, limit = ENTRIES_PAGE, types: names }: EntriesQuery,
  headSeq: number,
): Promise<ReadPage> {
  const types = typesOf(names);
  const end = before === undefined ? headSeq : Math.min(before - 1, headSeq);
  const from = before === undefined ? (after ?? 0) : Math.max(0, end - limit);
  const to = Math.min(end, from + limit);
  const read = to <= from ? [] : await conversation.entries({ after: from, limit: to - from });
  return {
    entries: read.filter(({ type }) => types === undefined || types.includes(type)),
    next: to < headSeq ? to : null,
    previous: from > 0 ? from + 1 : null,
    headSeq,
  };
}

function recordOf(entry: StoredEntry, link: string | null): RecordView {
  const { seq, id, parentId, type, time, payload } = entry;
  const bytes = Buffer.byteLength(entryLine(entry));
  const digest = entryDigest(sha256, entry);
  return { seq, id, parentId, type, time, bytes, digest, link, unreadable: !isJson(payload) };
}

function isJson(text: string): boolean {
  try {
    readJson(text);
    return true;
  } catch {
    return false;
  }
}

/** The links of the batches that end among these entries. */
async function linksOf(
  conversation: Conversation,
  entries: readonly StoredEntry[],
): Promise<ReadonlyMap<number, string>> {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return new Map();
  const limit = last.seq - first.seq + 1;
  const ends = await conversation.batchEnds({
    after: first.seq - 1,
    limit: Math.min(limit, LINKS_AT_ONCE),
  });
  return new Map(ends.map(({ seq, link }) => [seq, link]));
}

/** One record as it lies in its log. */
export async function readRecord(
  holdfast: Holdfast,
  conversation: Conversation,
  { seq, entry }: { readonly seq?: number; readonly entry?: string },
): Promise<RecordLine> {
  if ((seq === undefined) === (entry === undefined))
    throw new LogError("invalid_request", "Pass `seq` or `entry`");
  if (entry !== undefined) return findRecord(holdfast, conversation, entry);
  const found = seq === undefined ? null : await recordAt(conversation, seq);
  if (found === null)
    throw new LogError("entry_not_found", `Record ${seq} not found in ${conversation.id}`, {
      seq: seq ?? 0,
    });
  return lineOf(conversation.id, found);
}

/** What is inherited lies in the log of a source, or of a source of that. */
async function findRecord(
  holdfast: Holdfast,
  conversation: Conversation,
  entry: string,
): Promise<RecordLine> {
  const { seq } = await conversation.entry(entry);
  let log: Conversation | null = conversation;
  while (log !== null) {
    const record: StoredEntry | null = await recordAt(log, seq);
    if (record?.id === entry) return lineOf(log.id, record);
    const { origin }: HeadView = await log.head();
    log = origin === null ? null : holdfast.handle(origin.source);
  }
  throw new LogError("entry_not_found", `Entry ${entry} not found in ${conversation.id}`, { entry });
}

async function recordAt(conversation: Conversation, seq: number): Promise<StoredEntry | null> {
  const [record] = await conversation.entries({ after: seq - 1, limit: 1 });
  return record?.seq === seq ? record : null;
}

function lineOf(conversation: ConversationId, entry: StoredEntry): RecordLine {
  return { conversation, seq: entry.seq, line: entryLine(entry) };
}
