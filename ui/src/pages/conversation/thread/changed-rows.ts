import type { Entry } from "#log/entry";
import { lengthOf, placeOf, type ThreadState } from "./thread-state.ts";

/** Rows to read again: some, those at the end, or those of the whole last turn. */
export interface ChangedRows {
  readonly from: number;
  readonly limit: number;
  readonly reach: "some" | "end" | "turn";
}

/** The heads at which the end of the branch and its last turn were read. */
export interface ReadSeqs {
  readonly end: number;
  readonly turn: number;
}

/** What changes no row, no header and nothing that waits. */
const QUIET: ReadonlySet<Entry["type"]> = new Set([
  "update",
  "tool_intent",
  "tool_progress",
  "attempt_end",
  "plan",
  "cwd",
  "memory",
  "run_start",
  "run_end",
]);
/** What may change the sessions of a whole turn. */
const WHOLE: ReadonlySet<Entry["type"]> = new Set(["upstream_link", "turn_end"]);
const [NEW_ROWS, TURN_ROWS, CALL_ROWS, ROWS_MAX] = [4, 60, 200, 200];

/** What an entry changed of what is shown; null: nothing that was not read since. */
export function changedRows(
  state: ThreadState,
  entry: Entry,
  { isPinned, readSeqs }: { readonly isPinned: boolean; readonly readSeqs: ReadSeqs },
): ChangedRows | null {
  const { page } = state;
  if (page === null || QUIET.has(entry.type)) return null;
  if (entry.type === "label" || entry.type === "hide") return rowOf(state, entry.target, entry.seq);
  const reach = WHOLE.has(entry.type) ? "turn" : "end";
  const parted = partedRows(state, entry);
  if (parted !== null) return parted;
  if (entry.seq <= readSeqs[reach] || (isPinned && entry.parentId !== null)) return null;
  // Of another branch nothing changes but what is shown around it.
  if (isPinned) return { from: page.length - 1, limit: 1, reach: "turn" };
  const from = Math.max(
    0,
    Math.min(firstOpen(state), page.length - (reach === "turn" ? TURN_ROWS : NEW_ROWS)),
  );
  return { from: knownFrom(state, from), limit: ROWS_MAX, reach };
}

function rowOf(state: ThreadState, target: string, seq: number): ChangedRows | null {
  const place = placeOf(state, target);
  if (place === null || (state.asOf.get(place) ?? 0) >= seq) return null;
  return { from: place, limit: 1, reach: "some" };
}

/** The row from which another branch parts now, or which rows are of the branch the conversation continues on. */
function partedRows(state: ThreadState, entry: Entry): ChangedRows | null {
  const isOld = (place: number): boolean => (state.asOf.get(place) ?? entry.seq) < entry.seq;
  if (entry.type === "leaf") {
    const places = [...state.rows].flatMap(([place, { siblings }]) =>
      siblings.length > 0 && isOld(place) ? [place] : [],
    );
    if (places.length === 0) return null;
    const from = Math.min(...places);
    return { from, limit: Math.min(ROWS_MAX, Math.max(...places) - from + 1), reach: "some" };
  }
  const parent = entry.parentId === null ? null : placeOf(state, entry.parentId);
  if (parent === null || parent === lengthOf(state) - 1 || !isOld(parent + 1)) return null;
  return { from: parent + 1, limit: 1, reach: "some" };
}

/** The first row near the end with a call that has no result yet. */
function firstOpen(state: ThreadState): number {
  const length = lengthOf(state);
  for (let place = Math.max(0, length - CALL_ROWS); place < length; place++)
    if (state.rows.get(place)?.calls.some(({ hasResult }) => !hasResult) === true) return place;
  return length;
}

/** What is read connects with a row that is known. */
function knownFrom({ rows, page }: ThreadState, from: number): number {
  const last = (page?.length ?? 1) - 1;
  for (let place = from; place < last; place++) if (rows.has(place)) return place;
  return last;
}
