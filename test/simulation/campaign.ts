import type { FaultKind } from "#testing/faults";
import { FAULT_KINDS } from "#testing/index";
import { type Story, type StoryOptions, play } from "./story.ts";
import type { StoreName } from "./stores.ts";

export interface Plan {
  readonly store: StoreName;
  readonly seed: number;
  readonly conversations: number;
  readonly people: number;
  readonly prompts: number;
  readonly probability: number;
  readonly faults?: readonly FaultKind[];
  readonly kills?: boolean;
  /** This share of the stories: the nth of so many. */
  readonly part?: { readonly nth: number; readonly of: number };
}

interface Failure {
  readonly store: StoreName;
  readonly seed: number;
  readonly violations: readonly string[];
}

/** What a campaign saw. Plain data, so that it can come from another process. */
export interface Tally {
  conversations: number;
  /** Conversations that were forked off others on the way. */
  forks: number;
  turns: number;
  ms: number;
  readonly struck: { [name: string]: number };
  readonly kills: { [name: string]: number };
  readonly outcomes: { [name: string]: number };
  readonly loops: { [name: string]: number };
  readonly failures: Failure[];
}

export function emptyTally(): Tally {
  const counts = { struck: {}, kills: {}, outcomes: {}, loops: {} };
  return { conversations: 0, forks: 0, turns: 0, ms: 0, ...counts, failures: [] };
}

export function addTally(sum: Tally, more: Tally): void {
  sum.conversations += more.conversations;
  sum.forks += more.forks;
  sum.turns += more.turns;
  sum.ms += more.ms;
  for (const name of ["struck", "kills", "outcomes", "loops"] as const)
    addCounts(sum[name], Object.entries(more[name]));
  sum.failures.push(...more.failures);
}

function addCounts(sum: { [name: string]: number }, counts: Iterable<readonly [string, number]>): void {
  for (const [name, count] of counts) sum[name] = (sum[name] ?? 0) + count;
}

/** Plays every story of a plan. */
export async function campaign(
  plan: Plan,
  onStory: (tally: Tally, of: number) => void = () => undefined,
): Promise<Tally> {
  const tally = emptyTally();
  const { nth, of } = plan.part ?? { nth: 0, of: 1 };
  const stories = Math.ceil(plan.conversations / plan.people);
  const startedMs = performance.now();
  for (let at = nth; at < stories; at += of) {
    const seed = plan.seed + at;
    addStory(tally, { plan, seed, story: await playOne({ ...plan, seed }) });
    tally.ms = performance.now() - startedMs;
    onStory(tally, Math.ceil((stories - nth) / of) * plan.people);
  }
  return tally;
}

/** A story that cannot be told to its end is a violation, not the end of the campaign. */
async function playOne(options: StoryOptions): Promise<Story> {
  try {
    return await play(options);
  } catch (error) {
    const violations = [`the story broke off: ${error instanceof Error ? error.stack : String(error)}`];
    const counts = { struck: new Map(), kills: new Map(), outcomes: new Map(), loops: new Map() };
    return { violations, ...counts, turns: 0, forks: 0 };
  }
}

function addStory(
  tally: Tally,
  told: { readonly plan: Plan; readonly seed: number; readonly story: Story },
): void {
  const { plan, seed, story } = told;
  tally.conversations += plan.people;
  tally.forks += story.forks;
  tally.turns += story.turns;
  addCounts(tally.struck, story.struck);
  addCounts(tally.kills, story.kills);
  addCounts(tally.outcomes, story.outcomes);
  addCounts(tally.loops, story.loops);
  if (story.violations.length > 0)
    tally.failures.push({ store: plan.store, seed, violations: story.violations });
}

/** A smaller plan that still fails: fewer people, prompts and faults, no kills. It is tried, not proven, to be least. */
export async function shrink(plan: Plan): Promise<Plan> {
  const least: { -readonly [K in keyof Plan]: Plan[K] } = { ...plan };
  const attempt = async (change: Partial<Plan>): Promise<void> => {
    const { violations } = await playOne({ ...least, ...change });
    if (violations.length > 0) Object.assign(least, change);
  };
  for (let people = 1; people < least.people; people++) await attempt({ people });
  for (let prompts = 1; prompts < least.prompts; prompts++) await attempt({ prompts });
  await attempt({ kills: false });
  for (const kind of plan.faults ?? FAULT_KINDS)
    await attempt({ faults: (least.faults ?? FAULT_KINDS).filter((other) => other !== kind) });
  return { ...least, conversations: least.people };
}
