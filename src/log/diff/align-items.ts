import type { DiffItem } from "./diff-item.ts";
import { matchKeys, type Pair } from "./match-keys.ts";

/** One row of two branches side by side. */
export interface DiffRow {
  readonly op: "same" | "changed" | "removed" | "added";
  /** Null in a row that was added. */
  readonly a: DiffItem | null;
  /** Null in a row that was removed. */
  readonly b: DiffItem | null;
  /** The same call stands elsewhere on the other side. */
  readonly isMoved: boolean;
  /** The same call gave something else. */
  readonly resultDiffers: boolean;
}

/** What an item is paired by; null: it is not of that kind. `turn` counts from the pair before. */
type PairedBy = (item: DiffItem, turn: number) => string | null;

/** One after the other, each between the pairs of those before. What is not the same is paired in turns that answer each other. */
const LEVELS: readonly PairedBy[] = [
  ({ kind, key }) => (kind === "prompt" ? key : null),
  ({ kind, key }) => (kind === "call" ? key : null),
  (item, turn) => (item.kind === "text" ? null : `${turn} ${item.kind} ${"name" in item ? item.name : ""}`),
  ({ kind, key }) => (kind === "text" ? key : null),
  ({ kind }, turn) => (kind === "text" ? String(turn) : null),
];

/** Every item of both, in the order of each: read from top to bottom, A's rows are A and B's rows are B. */
export function alignItems(a: readonly DiffItem[], b: readonly DiffItem[]): readonly DiffRow[] {
  // Which of two equally good ways is found must not depend on which side is named first.
  const isSwapped = isBehind(a, b);
  const pairs = isSwapped ? pairItems(b, a).map(([y, x]): Pair => [x, y]) : pairItems(a, b);
  const rows: DiffRow[] = [];
  let [x, y] = [0, 0];
  for (const [nextX, nextY] of [...pairs, [a.length, b.length] as const]) {
    for (; x < nextX; x++) rows.push(row(a[x] ?? null, null));
    for (; y < nextY; y++) rows.push(row(null, b[y] ?? null));
    if (x < a.length && y < b.length) rows.push(row(a[x++] ?? null, b[y++] ?? null));
  }
  return markMoved(rows);
}

function row(a: DiffItem | null, b: DiffItem | null): DiffRow {
  const isSame = a?.kind === b?.kind && a?.key === b?.key;
  const op = b === null ? "removed" : a === null ? "added" : isSame ? "same" : "changed";
  const resultDiffers =
    op === "same" && a?.kind === "call" && b?.kind === "call" && a.result?.key !== b.result?.key;
  return { op, a, b, isMoved: false, resultDiffers };
}

function isBehind(a: readonly DiffItem[], b: readonly DiffItem[]): boolean {
  if (a.length !== b.length) return a.length > b.length;
  const difference = a.findIndex(({ kind, key }, index) => kind !== b[index]?.kind || key !== b[index]?.key);
  const [one, other] = [a[difference], b[difference]];
  return one !== undefined && other !== undefined && `${one.kind} ${one.key}` > `${other.kind} ${other.key}`;
}

function pairItems(a: readonly DiffItem[], b: readonly DiffItem[]): readonly Pair[] {
  let pairs: readonly Pair[] = [];
  for (const level of LEVELS) {
    const next: Pair[] = [];
    let [x, y] = [0, 0];
    for (const pair of [...pairs, null]) {
      const [endX, endY] = pair ?? [a.length, b.length];
      for (const inner of pairBetween([a, x, endX], [b, y, endY], level)) next.push(inner);
      if (pair !== null) next.push(pair);
      [x, y] = [endX + 1, endY + 1];
    }
    pairs = next;
  }
  return pairs;
}

type Stretch = readonly [items: readonly DiffItem[], from: number, end: number];

function pairBetween(one: Stretch, other: Stretch, level: PairedBy): readonly Pair[] {
  if (one[1] >= one[2] || other[1] >= other[2]) return [];
  const [left, right] = [keysIn(one, level), keysIn(other, level)];
  const pairs = matchKeys(left.keys, right.keys);
  return pairs.map(([x, y]) => [left.places[x] ?? 0, right.places[y] ?? 0]);
}

function keysIn(
  [items, from, end]: Stretch,
  level: PairedBy,
): { readonly keys: readonly string[]; readonly places: readonly number[] } {
  const keys: string[] = [];
  const places: number[] = [];
  const turn = items[from - 1]?.turn ?? 1;
  for (let index = from; index < end; index++) {
    const item = items[index];
    const key = item === undefined ? null : level(item, item.turn - turn);
    if (key === null) continue;
    keys.push(key);
    places.push(index);
  }
  return { keys, places };
}

/** A call that one side has here and the other elsewhere was made in another order. */
function markMoved(rows: readonly DiffRow[]): readonly DiffRow[] {
  const open = new Map<string, { readonly removed: number[]; readonly added: number[] }>();
  for (const [index, { op, a, b }] of rows.entries()) {
    const item = a ?? b;
    if ((op !== "removed" && op !== "added") || item?.kind !== "call") continue;
    const places = open.get(item.key) ?? { removed: [], added: [] };
    places[op].push(index);
    open.set(item.key, places);
  }
  const moved = new Set<number>();
  for (const { removed, added } of open.values())
    for (let pair = 0; pair < Math.min(removed.length, added.length); pair++)
      for (const place of [removed[pair], added[pair]]) if (place !== undefined) moved.add(place);
  return moved.size === 0
    ? rows
    : rows.map((one, index) => (moved.has(index) ? { ...one, isMoved: true } : one));
}
