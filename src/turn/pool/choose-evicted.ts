import type { PoolLimits } from "./pool-options.ts";

/** What a held thing costs. */
export interface HeldWeight {
  readonly messages: number;
  readonly processes: number;
}

/** What the rule knows of a held thing. */
export interface HeldFacts {
  readonly weight: HeldWeight;
  /** When it was last used. */
  readonly usedAtMs: number;
  /** It is in use, and stays. */
  readonly inUse: boolean;
}

type Totals = HeldWeight & { readonly conversations: number };

/**
 * What goes, of things that come least recently used first: whatever nobody used for too long, then, as long as a limit is
 * passed, the least recently used of those that count towards it. What is in use counts and stays.
 */
export function chooseEvicted<T extends HeldFacts>(
  items: readonly T[],
  limits: PoolLimits,
  atMs: number,
): readonly T[] {
  const gone = new Set(items.filter((one) => isIdle(one, limits, atMs)));
  for (const [limit, countsFor] of COUNTED) {
    let total = 0;
    for (const one of items) if (!gone.has(one)) total += countsFor(one.weight);
    for (const one of items) {
      if (total <= limits[limit]) break;
      if (one.inUse || gone.has(one) || countsFor(one.weight) === 0) continue;
      gone.add(one);
      total -= countsFor(one.weight);
    }
  }
  return items.filter((one) => gone.has(one));
}

const COUNTED: readonly (readonly [keyof Totals, (weight: HeldWeight) => number])[] = [
  ["conversations", () => 1],
  ["messages", ({ messages }) => messages],
  ["processes", ({ processes }) => processes],
];

function isIdle({ inUse, usedAtMs }: HeldFacts, { idleMs }: PoolLimits, atMs: number): boolean {
  return !inUse && atMs - usedAtMs >= idleMs;
}

export function isWithin(totals: Totals, limits: PoolLimits): boolean {
  return COUNTED.every(([limit]) => totals[limit] <= limits[limit]);
}
