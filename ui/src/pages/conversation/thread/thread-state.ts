import type { ThreadPage, ThreadRow } from "#edges/http/client/views";
import { type LiveTurn, NO_TURN } from "#log/projections/live-turn";

/** A branch as a page shows it. The server says what each row is. */
export interface ThreadState {
  /** Its latest answer about the branch as a whole; null: there is none yet. */
  readonly page: ThreadPage | null;
  /** The rows that were read, by their places. */
  readonly rows: ReadonlyMap<number, ThreadRow>;
  /** The head at which each row was read. */
  readonly asOf: ReadonlyMap<number, number>;
  readonly live: LiveTurn;
  readonly error: unknown;
}

export const NO_THREAD: ThreadState = {
  page: null,
  rows: new Map(),
  asOf: new Map(),
  live: NO_TURN,
  error: null,
};

export function lengthOf({ page }: ThreadState): number {
  return page?.length ?? 0;
}

/** Whether every row of the branch was read. */
export function isWholeRead({ page, rows }: ThreadState): boolean {
  return page !== null && rows.size >= page.length;
}

export function lastRow({ page, rows }: ThreadState): ThreadRow | undefined {
  return page === null ? undefined : rows.get(page.length - 1);
}

/** The place of an entry, where it was read. */
export function placeOf({ rows }: ThreadState, entry: string): number | null {
  for (const [place, row] of rows) if (row.entry.id === entry) return place;
  return null;
}

/** With a branch in place of whatever was shown. */
export function opened(state: ThreadState, page: ThreadPage): ThreadState {
  return withRows({ ...state, page, rows: new Map(), asOf: new Map(), error: null }, page);
}

/** With more rows of the same branch; what was read later stays. */
export function withRows(state: ThreadState, { rows: more, headSeq }: ThreadPage): ThreadState {
  const [rows, asOf] = [new Map(state.rows), new Map(state.asOf)];
  for (const row of more) {
    if ((asOf.get(row.place) ?? 0) > headSeq || row.place >= lengthOf(state)) continue;
    rows.set(row.place, row);
    asOf.set(row.place, headSeq);
  }
  return { ...state, rows, asOf };
}

/** With what was read of the branch as it is now; null: it is another one, and what was read of it does not connect. */
export function continued(state: ThreadState, page: ThreadPage): ThreadState | null {
  const { rows, page: known } = state;
  const [first] = page.rows;
  if (known === null || first === undefined) return null;
  if (page.headSeq < known.headSeq) return state;
  const isSame = rows.get(first.place)?.entry.id === first.entry.id;
  const follows =
    first.entry.parentId !== null && rows.get(first.place - 1)?.entry.id === first.entry.parentId;
  if (!isSame && !follows) return null;
  const isLeft = (place: number): boolean => place < page.length && !(place >= first.place && !isSame);
  const kept = new Map([...rows].filter(([place]) => isLeft(place)));
  const next = withRows({ ...state, page, rows: kept }, page);
  return isWhole(next, first.place) ? next : null;
}

/** Whether each row that was read follows the one before it, from a place on. */
function isWhole({ rows, page }: ThreadState, from: number): boolean {
  for (let place = Math.max(1, from); place < (page?.length ?? 0); place++) {
    const [before, row] = [rows.get(place - 1), rows.get(place)];
    if (before !== undefined && row !== undefined && row.entry.parentId !== before.entry.id) return false;
  }
  return true;
}

/** Without rows far from a stretch; the last one stays, as what comes next follows it. */
export function withoutFar(state: ThreadState, first: number, last: number): ThreadState {
  const isKept = ([place]: readonly [number, unknown]): boolean =>
    (place >= first && place <= last) || place === lengthOf(state) - 1;
  return {
    ...state,
    rows: new Map([...state.rows].filter(isKept)),
    asOf: new Map([...state.asOf].filter(isKept)),
  };
}

/** The parts of a stretch that were not read, at the bounds of pages. */
export function missingPages(
  state: ThreadState,
  { first, last, size }: { readonly first: number; readonly last: number; readonly size: number },
): readonly number[] {
  const missing: number[] = [];
  const length = lengthOf(state);
  for (let from = Math.floor(Math.max(0, first) / size) * size; from <= last && from < length; from += size) {
    const until = Math.min(from + size, length);
    for (let at = from; at < until; at++)
      if (!state.rows.has(at)) {
        missing.push(from);
        break;
      }
  }
  return missing;
}
