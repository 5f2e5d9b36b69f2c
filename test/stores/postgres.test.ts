import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storeContract } from "#store/contract/index";
import { type PostgresRig, postgresRig } from "../support/postgres-subject.ts";

const cases = storeContract.filter((promise) => promise.needsPowerCut !== true);
const ways = [
  { name: "by its functions", options: {} },
  { name: "by statements alone", options: { schema: "statements", functions: false } },
];

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig();
}, 120_000);

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

describe.each(ways)("the postgres store, $name", ({ options }) => {
  test.each(cases)("$group: $name", async (promise) => {
    await promise.run(await rig.subject(options));
  });
});

test("runs as many cases as there are", () => {
  expect(cases.length).toBeGreaterThan(80);
});
