/**
 * Goal: rules nobody thought of. Method: seeded people, every fault in every phase, a host killed at any append, on
 * every store; story.ts tells them, person.ts and the judge (src/testing/judge) say what must hold. The long run is soak.e2e.test.ts.
 */
import { expect, test } from "vitest";
import { campaign, shrink } from "./campaign.ts";
import { commandFor } from "./report.ts";
import { play } from "./story.ts";

const PLAN = { seed: 2_011, people: 3, prompts: 12, probability: 0.02 };

test.each([
  ["memory", 21], // the long run has 300
  ["jsonl", 21],
  ["sqlite", 9],
  ["jsonl-disk", 3],
] as const)(
  "conversations in %s with everything going wrong break no rule (%i)",
  async (store, conversations) => {
    const tally = await campaign({ ...PLAN, store, conversations });
    expect(tally.failures).toEqual([]);
    expect(tally.conversations).toBe(conversations);
    expect(tally.turns).toBeGreaterThanOrEqual(conversations * 12);
    expect(tally.loops["ended completed/completed"]).toBeGreaterThan(0);
    // A handful of conversations may be spared by chance.
    if (conversations >= 20) expect(Object.keys(tally.kills)).not.toEqual([]);
  },
  60_000,
);

/** Sessions that another process took up, or forked, with a record that had lost what their answers rested on; one renamed in mid-turn; words that a fork of a session and then the session itself brought; a line break that a killed host had not heard. */
test.each([30_175, 70_018, 90_017, 90_761, 90_849, 140_482, 252_598, 600_580, 3_309_391])(
  "story %i, which broke a rule once, breaks none",
  async (seed) => {
    expect((await play({ ...PLAN, seed })).violations).toEqual([]);
  },
);

test.each(["memory", "sqlite", "jsonl"] as const)("a seed tells one story in %s", async (store) => {
  const told = async (): Promise<unknown> => {
    const { struck, kills, outcomes, turns } = await play({ ...PLAN, seed: 7, store });
    return { struck, kills, outcomes, turns };
  };
  expect(await told()).toEqual(await told());
});

test("a failing plan shrinks to one that fails still, and says how to play it again", async () => {
  // A store nobody can open fails in every story.
  const plan = { ...PLAN, store: "nowhere" as "memory", conversations: 3 };
  expect((await campaign(plan)).failures).toHaveLength(1);
  const least = await shrink(plan);
  expect(least).toMatchObject({ people: 1, prompts: 1, kills: false, faults: [] });
  expect(commandFor(least)).toContain("--seed 2011 --conversations 1 --store nowhere --people 1 --prompts 1");
});
