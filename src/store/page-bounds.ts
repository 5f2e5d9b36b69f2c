import type { StoredEntry } from "#log/entry";
import { listCursor } from "#log/ids";
import type { ConversationRow } from "./requests.ts";

/** The first members of a sequence, as many as a number of bytes holds: at least one, however large it is. */
export function firstWithin<T>(
  members: Iterable<T>,
  bytes: number = Number.POSITIVE_INFINITY,
  sizeOf: (member: T) => number,
): readonly T[] {
  const items: T[] = [];
  let sum = 0;
  for (const member of members) {
    sum += sizeOf(member);
    if (items.length > 0 && sum > bytes) break;
    items.push(member);
  }
  return items;
}

/** The same of entries, by their payloads. */
export function withinBytes(entries: Iterable<StoredEntry>, bytes?: number): readonly StoredEntry[] {
  return firstWithin(entries, bytes, ({ payload }) => payload.length);
}

const ROWS_MAX = 1_000_000_000; // more than a conversation will ever have

/** A limit that SQL accepts: to SQLite a negative number means all rows. */
export function rowsMax(limit: number): number {
  return Math.min(Math.max(Math.trunc(limit), 0), ROWS_MAX);
}

/** A page of a list from its rows, which are one more than the page where another follows. */
export function pageOfConversations<Row>(
  rows: readonly Row[],
  limit: number,
  toConversation: (row: Row) => ConversationRow,
): { readonly conversations: readonly ConversationRow[]; readonly next: string | null } {
  const conversations = rows.slice(0, limit).map((row) => toConversation(row));
  const last = conversations.at(-1);
  return { conversations, next: last !== undefined && rows.length > limit ? listCursor(last) : null };
}
