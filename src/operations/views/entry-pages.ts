import type { Conversation } from "#conversation/conversation";
import type { EntryType, StoredEntry } from "#log/entry";
import { isEntryType } from "#log/entry-types";
import { LogError } from "#log/errors";

export const ENTRIES_PAGE = 100;

export interface EntriesQuery {
  readonly after?: number;
  readonly before?: number;
  readonly limit?: number;
  readonly types?: readonly string[];
}

/** A page of a log in its order, and where the pages beside it begin. */
export interface ReadPage {
  readonly entries: readonly StoredEntry[];
  readonly next: number | null;
  readonly previous: number | null;
  readonly headSeq: number;
}

/** Reads a page after a seq or before one. `fit`: how many of those that were read stand in the page. */
export async function readEntriesPage(
  conversation: Conversation,
  { after, before, limit = ENTRIES_PAGE, types: given }: EntriesQuery,
  fit: (entries: readonly StoredEntry[]) => number = ({ length }) => length,
): Promise<ReadPage> {
  if (after !== undefined && before !== undefined)
    throw new LogError("invalid_request", "Use `after` or `before`, not both");
  const types = typesOf(given);
  const { headSeq } = await conversation.head();
  const wanted = { limit, ...(types === undefined ? {} : { types }) };
  const isBack = before !== undefined;
  const read = await conversation.entries(
    isBack ? { ...wanted, after: before, newestFirst: true } : { ...wanted, after: after ?? 0 },
  );
  const kept = read.slice(0, fit(read));
  const isFull = kept.length < read.length || read.length === limit;
  const entries = isBack ? kept.toReversed() : kept;
  const [first, last] = [entries[0]?.seq ?? null, entries.at(-1)?.seq ?? null];
  if (isBack) {
    const next = last === null || last >= headSeq ? null : last;
    return { entries, next, previous: isFull ? first : null, headSeq };
  }
  return { entries, next: isFull ? last : null, previous: first === 1 ? null : first, headSeq };
}

export function typesOf(given: readonly string[] | undefined): readonly EntryType[] | undefined {
  const unknown = given?.find((type) => !isEntryType(type));
  if (unknown !== undefined)
    throw new LogError("invalid_request", `Unknown entry type "${unknown}"`, { type: unknown });
  return given as readonly EntryType[] | undefined;
}
