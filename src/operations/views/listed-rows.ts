import type { Holdfast } from "#conversation/holdfast";
import type { ListFilter } from "#conversation/list-conversations";
import type { ConversationRow } from "#store/requests";
import { STATES } from "#operations/text";
import { type ConversationState, readState } from "#transfer/views/conversation-state";

/** A conversation of a list, with how it stands. */
export interface ListedRow extends ConversationRow {
  readonly state: ConversationState;
}

export const LISTED_STATES = Object.keys(STATES) as readonly ConversationState[];

/** The states that lists show, and filters that span several. */
export const LIST_STATUSES = [
  "working",
  "waiting",
  "interrupted",
  "failed",
  "paused",
  "damaged",
  "live",
  "unclean",
  "limited",
  "rolled",
] as const;
type ListStatus = (typeof LIST_STATUSES)[number];

interface StatusFilter {
  /** What the index of the list knows; of an open turn only its log and its lease say the rest. */
  readonly filter: ListFilter;
  /** Null: every state. */
  readonly states: readonly ConversationState[] | null;
}

/**
 * `live`: a process works on it, or it waits for a person. `unclean`: a turn failed or never ended, or the log is damaged. `limited`: an
 * agent reached its limit. `rolled`: it went on in another agent session.
 */
const STATUS_FILTERS: Readonly<Record<ListStatus, StatusFilter>> = {
  working: { filter: { turns: ["open"] }, states: ["working"] },
  waiting: { filter: { turns: ["open"] }, states: ["waiting"] },
  interrupted: { filter: { turns: ["open"] }, states: ["cut_off"] },
  failed: { filter: { turns: ["failed"] }, states: ["failed"] },
  paused: { filter: { turns: ["limited"] }, states: ["limited", "limit_over"] },
  damaged: { filter: { turns: ["damaged"] }, states: ["damaged", "newer_format"] },
  live: { filter: { turns: ["open"] }, states: ["working", "waiting"] },
  unclean: {
    filter: { turns: ["open", "failed", "damaged"] },
    states: ["cut_off", "failed", "damaged", "newer_format"],
  },
  limited: { filter: { turns: ["limited"] }, states: ["limited", "limit_over"] },
  rolled: { filter: { rolled: true }, states: null },
};

interface ListRequest {
  readonly limit: number;
  readonly cursor: string | null;
  readonly filter: ListFilter;
  readonly status: ListStatus | undefined;
  readonly nowMs: number;
}

/** A page of a list with the state of each conversation. */
export async function listRows(
  holdfast: Holdfast,
  { limit, cursor, filter, status, nowMs }: ListRequest,
): Promise<{ readonly conversations: readonly ListedRow[]; readonly next: string | null }> {
  const wanted = status === undefined ? null : STATUS_FILTERS[status];
  const indexed = { ...filter, ...wanted?.filter };
  const conversations: ListedRow[] = [];
  let next = cursor;
  do {
    const page = await holdfast.listPage({
      limit: limit - conversations.length,
      filter: indexed,
      ...(next === null ? {} : { cursor: next }),
    });
    for (const listed of page.conversations) {
      const state = await readState(holdfast, listed, nowMs);
      if (wanted?.states?.includes(state) ?? true) conversations.push({ ...listed, state });
    }
    next = page.cursor;
  } while (next !== null && conversations.length < limit);
  return { conversations, next };
}
