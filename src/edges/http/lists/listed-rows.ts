import type { Holdfast } from "#conversation/holdfast";
import type { LastTurnKind, ListFilter } from "#conversation/list-conversations";
import type { ListedRow, ListStatus } from "#edges/http/routes/conversation-api";
import { type ListedState, listedState } from "#transfer/listed/listed-state";

interface Meant {
  /** What the list itself can be asked; of an open turn only its log and its lease say the rest. */
  readonly turns: readonly LastTurnKind[];
  readonly states: readonly ListedState[];
}

const MEANT: Readonly<Record<ListStatus, Meant>> = {
  working: { turns: ["open"], states: ["working"] },
  waiting: { turns: ["open"], states: ["waiting"] },
  unclean: {
    turns: ["open", "failed", "damaged"],
    states: ["cut_off", "failed", "damaged", "newer_format"],
  },
  limited: { turns: ["limited"], states: ["limited", "limit_over"] },
};

interface Wanted {
  readonly limit: number;
  readonly cursor: string | null;
  readonly filter: ListFilter;
  readonly status: ListStatus | undefined;
  readonly nowMs: number;
}

/** A page of a list with how each of its conversations stands. */
export async function listedRows(
  holdfast: Holdfast,
  { limit, cursor, filter, status, nowMs }: Wanted,
): Promise<{ readonly conversations: readonly ListedRow[]; readonly next: string | null }> {
  const meant = status === undefined ? null : MEANT[status];
  const asked = meant === null ? filter : { ...filter, turns: meant.turns };
  const conversations: ListedRow[] = [];
  let next = cursor;
  do {
    const page = await holdfast.listPage({
      limit: limit - conversations.length,
      filter: asked,
      ...(next === null ? {} : { cursor: next }),
    });
    for (const listed of page.conversations) {
      const state = await listedState(holdfast, listed, nowMs);
      if (meant === null || meant.states.includes(state)) conversations.push({ ...listed, state });
    }
    next = page.cursor;
  } while (next !== null && conversations.length < limit);
  return { conversations, next };
}
