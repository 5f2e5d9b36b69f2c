export type Pair = readonly [a: number, b: number];

const EDITS_MAX = 256; // per round: its cost grows with the length of both, never with its square
const NONE = -1;

/**
 * Pairs the equal keys of two sequences in their order: as many as there can be, and where they differ by more than a round
 * looks at, as many as the way has that leads furthest.
 */
export function matchKeys(a: readonly unknown[], b: readonly unknown[]): readonly Pair[] {
  // A key that the other side lacks pairs with nothing: two that have nothing in common cost one look.
  const one = placesOf(a, new Set(b));
  const other = placesOf(b, new Set(a));
  const numbers = new Map<unknown, number>(); // compared often, and a key may be a long text
  const numberOf = (key: unknown): number => {
    const number = numbers.get(key) ?? numbers.size;
    if (number === numbers.size) numbers.set(key, number);
    return number;
  };
  const left = one.map((index) => numberOf(a[index]));
  const right = other.map((index) => numberOf(b[index]));
  const pairs: Pair[] = [];
  const end = sharedEnd(left, right);
  const ends: Ends = [left.length - end, right.length - end];
  for (let from: Pair = [0, 0]; from[0] < ends[0] && from[1] < ends[1];)
    from = matchRound(left, right, ends, from, pairs);
  for (let back = end; back > 0; back--) pairs.push([left.length - back, right.length - back]);
  return pairs.map(([x, y]) => [one[x] ?? 0, other[y] ?? 0]);
}

type Ends = readonly [left: number, right: number];

function placesOf(keys: readonly unknown[], shared: ReadonlySet<unknown>): readonly number[] {
  const places: number[] = [];
  for (const [index, key] of keys.entries()) if (shared.has(key)) places.push(index);
  return places;
}

function sharedEnd(left: readonly number[], right: readonly number[]): number {
  const most = Math.min(left.length, right.length);
  let count = 0;
  while (count < most && left[left.length - 1 - count] === right[right.length - 1 - count]) count++;
  return count;
}

/** How far each diagonal is reached with a number of edits; diagonal `k` stands at `k + edits`. */
type Reached = Int32Array;

/** One round of Myers' greedy search from a point; adds the pairs of the way it found and gives where that ends. */
function matchRound(
  left: readonly number[],
  right: readonly number[],
  ends: Ends,
  from: Pair,
  pairs: Pair[],
): Pair {
  const [fromX, fromY] = from;
  const size: Ends = [ends[0] - fromX, ends[1] - fromY];
  const trace: Reached[] = [];
  for (let edits = 0; edits <= EDITS_MAX; edits++) {
    const reached = new Int32Array(2 * edits + 1).fill(NONE);
    const before = trace.at(-1);
    for (let k = -edits; k <= edits; k += 2) {
      let x = before === undefined ? 0 : stepTo(before, k, size);
      if (x === NONE) continue;
      while (x < size[0] && x - k < size[1] && left[fromX + x] === right[fromY + x - k]) x++;
      reached[k + edits] = x;
      if (x === size[0] && x - k === size[1]) return walkBack([...trace, reached], k, from, size, pairs);
    }
    trace.push(reached);
  }
  return walkBack(trace, furthest(trace.at(-1) ?? new Int32Array(1)), from, size, pairs);
}

/** Where the next edit leads on a diagonal: one down from the diagonal above, or one to the right from the one below. */
function stepTo(before: Reached, k: number, [width, height]: Ends): number {
  const middle = (before.length - 1) / 2;
  const above = before[k + 1 + middle] ?? NONE;
  const below = before[k - 1 + middle] ?? NONE;
  const down = above !== NONE && above - k <= height ? above : NONE;
  const right = below !== NONE && below + 1 <= width ? below + 1 : NONE;
  return Math.max(down, right);
}

function furthest(reached: Reached): number {
  const middle = (reached.length - 1) / 2;
  let [best, most] = [0, NONE];
  for (const [index, x] of reached.entries()) {
    const sum = 2 * x - (index - middle);
    if (x !== NONE && sum > most) [best, most] = [index - middle, sum];
  }
  return best;
}

function walkBack(trace: readonly Reached[], end: number, from: Pair, size: Ends, pairs: Pair[]): Pair {
  const [fromX, fromY] = from;
  const matches: Pair[] = [];
  let k = end;
  let reachedX = 0;
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const x = trace[edits]?.[k + edits] ?? 0;
    if (edits === trace.length - 1) reachedX = x;
    const before = trace[edits - 1];
    const start = before === undefined ? 0 : stepTo(before, k, size);
    for (let index = x - 1; index >= start; index--) matches.push([fromX + index, fromY + index - k]);
    if (before === undefined) break;
    const above = before[k + 1 + edits - 1] ?? NONE;
    k = above === start && above - k <= size[1] ? k + 1 : k - 1;
  }
  for (let last = matches.length - 1; last >= 0; last--) pairs.push(matches[last] ?? from);
  return [fromX + reachedX, fromY + reachedX - end];
}
