/** What many runs of the same work took. */
export interface Timing {
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly samples: number;
}

/** One thing to time. `before` and `after` are not part of the time. */
export interface Side {
  readonly run: () => unknown;
  readonly before?: () => unknown;
  readonly after?: () => unknown;
}

export interface Plan {
  readonly rounds: number;
  /** Rounds that warm up caches and compilers and are thrown away. */
  readonly warmup: number;
  /** No new round starts after this. */
  readonly limitMs: number;
}

export const ROUNDS_MIN = 3; // a median needs a middle, however slow the work

/**
 * Times the sides in turn, one sample each per round and every round in another order, so that whatever else the
 * machine does, and whatever state one side leaves it in, falls on all of them alike.
 */
export async function alternate<Names extends string>(
  sides: { readonly [N in Names]: Side },
  plan: Plan,
): Promise<{ readonly [N in Names]: Timing }> {
  const names = Object.keys(sides) as Names[];
  const taken = new Map<Names, number[]>(names.map((name) => [name, []]));
  const until = performance.now() + plan.limitMs;
  const random = randomFrom(1);
  for (let round = -plan.warmup; round < plan.rounds; round++) {
    if (round >= ROUNDS_MIN && performance.now() > until) break;
    for (const name of shuffled(names, random)) {
      const elapsed = await timeOnce(sides[name]);
      if (round >= 0) taken.get(name)?.push(elapsed);
    }
  }
  const timings = names.map((name) => [name, timingOf(taken.get(name) ?? [])] as const);
  return Object.fromEntries(timings) as { readonly [N in Names]: Timing };
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
}

/** The same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
}

async function timeOnce(side: Side): Promise<number> {
  await side.before?.();
  const started = performance.now();
  await side.run();
  const elapsed = performance.now() - started;
  await side.after?.();
  return elapsed;
}

export function timingOf(samples: readonly number[]): Timing {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { medianMs: at(0.5), p99Ms: at(0.99), samples: sorted.length };
}

/** The timing of a side whose name was made at run time. */
export function timingNamed(timings: { readonly [name: string]: Timing }, name: string): Timing {
  const found = timings[name];
  if (found === undefined) throw new Error(`Nothing was timed as ${name}`);
  return found;
}
