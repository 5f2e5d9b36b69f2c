/**
 * The long run of the simulation. With HOLDFAST_SOAK: ten thousand conversations in memory, every fault striking at
 * least a hundred times in every phase, and hundreds on each of the other stores.
 */
import { afterAll, expect, test } from "vitest";
import { campaign } from "./campaign.ts";
import { leastStruck } from "./report.ts";
import { closeServer } from "./stores.ts";

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const STRIKES_MIN = SOAK ? 100 : 1;

afterAll(closeServer);

test.each([
  ["memory", SOAK ? 12_000 : 300],
  // simulation.test.ts has as many of these as are told in a short time.
  ["jsonl", SOAK ? 3_000 : 4],
  ["sqlite", SOAK ? 600 : 2],
  ["jsonl-disk", SOAK ? 300 : 2],
  ["postgres", SOAK ? 300 : 3],
] as const)("a long run in %s breaks no rule (%i conversations)", async (store, conversations) => {
  const plan = { store, seed: 200_000, conversations, people: 3, prompts: 12, probability: 0.02 };
  const tally = await campaign(plan);
  expect(tally.failures).toEqual([]);
  if (store !== "memory") return;
  expect(leastStruck(tally)[1]).toBeGreaterThanOrEqual(STRIKES_MIN);
  // Hosts died before an append was written and after, at every kind of append a turn makes.
  const moments = ["accept", "link", "attempt", "update", "intent", "end"];
  const deaths = moments.flatMap((moment) => [`${moment}/lost`, `${moment}/landed`]);
  expect(Object.keys(tally.kills)).toEqual(expect.arrayContaining(deaths));
});
