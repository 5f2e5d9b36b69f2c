import type { Conversation } from "#conversation/conversation";
import {
  ENTRIES_PAGE,
  type EntriesQuery,
  readEntriesPage,
  type ReadPage,
  typesOf,
} from "#operations/entry-pages";
import { entryDigest } from "#log/batch-links";
import { entryLine } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { isLogError } from "#log/errors";
import { sha256 } from "#store/sha256";
import type { LogDamage, RecordPage, RecordView } from "./figure-api.ts";
import { readJson } from "#log/json/read-json";

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
  { after, before, limit = ENTRIES_PAGE, types: given }: EntriesQuery,
  headSeq: number,
): Promise<ReadPage> {
  const types = typesOf(given);
  const end = before === undefined ? headSeq : Math.min(before - 1, headSeq);
  const from = before === undefined ? (after ?? 0) : Math.max(0, end - limit);
  const to = Math.min(end, from + limit);
  const read =
    to <= from
      ? []
      : await conversation.space.read({ conversation: conversation.id, after: from, limit: to - from });
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
  const ends = await conversation.space.batchEnds({
    conversation: conversation.id,
    after: first.seq - 1,
    limit: Math.min(limit, LINKS_AT_ONCE),
  });
  return new Map(ends.map(({ seq, link }) => [seq, link]));
}
