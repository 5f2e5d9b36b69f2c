import { decodeEntry, presentEntry } from "#log/codec";
import type { Entry, EntryType } from "#log/entry";
import { LogError } from "#log/errors";
import type { Place } from "#log/lineage/head";
import { type ConversationId, parseConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";

const LIMIT = 50;
const PAGE_NODES_MAX = 1_024;

export type BranchEntry = Entry & { readonly hidden: boolean };

export interface HistoryRequest {
  /** How many entries; 50 unless given. */
  readonly limit?: number;
  /** Where the page before ended, which was newer; the newest page when absent. */
  readonly cursor?: string;
  /** The node the branch ends at; the leaf when absent. */
  readonly at?: string;
  /** Only these types of entries count; all nodes of the branch when absent. */
  readonly types?: readonly EntryType[];
}

/** A stretch of a branch, oldest first. */
export interface HistoryPage {
  readonly entries: readonly BranchEntry[];
  /** Gives the entries before these; null at the beginning. */
  readonly cursor: string | null;
}

/** The newest entries of a branch (that of the leaf when no place is given), or those before a cursor: what a page costs does not grow with the log. */
export async function readHistory(
  space: SpaceStore,
  conversation: ConversationId,
  from: Place | null,
  { limit = LIMIT, types }: Pick<HistoryRequest, "limit" | "types">,
): Promise<HistoryPage> {
  checkLimit(limit);
  const wanted = types === undefined ? null : new Set<string>(types);
  const entries: BranchEntry[] = [];
  let next = from;
  do {
    // Never more than is missing: where a page ends is where the next one begins.
    const page = await space.page({
      conversation,
      ...(next === null ? {} : { from: next }),
      limit: Math.min(limit - entries.length, PAGE_NODES_MAX),
    });
    for (const stored of page.entries) {
      if (wanted !== null && !wanted.has(stored.type)) continue;
      const hidden = page.hidden.has(stored.id);
      entries.push(Object.assign(presentEntry(decodeEntry(stored)), { hidden }));
    }
    next = page.next;
  } while (next !== null && entries.length < limit);
  return { entries: entries.toReversed(), cursor: next === null ? null : writeCursor(next) };
}

export function checkLimit(limit: number): void {
  if (Number.isSafeInteger(limit) && limit > 0) return;
  throw new LogError("invalid_request", `limit must be a whole number of at least 1 (got ${String(limit)})`, {
    limit: String(limit),
  });
}

function writeCursor({ segment, depth, conversation }: Place): string {
  return `${segment}.${depth}@${conversation}`;
}

export function readCursor(cursor: string): Place {
  const [, segment = "", depth = "", conversation = ""] = /^(\d{1,15})\.(\d{1,15})@(.+)$/.exec(cursor) ?? [];
  if (depth === "")
    throw new LogError(
      "invalid_request",
      "Invalid cursor. Pass the cursor returned with the previous page.",
      { cursor },
    );
  return { segment: Number(segment), depth: Number(depth), conversation: parseConversationId(conversation) };
}
