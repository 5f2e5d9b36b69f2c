/**
 * Goal: whatever reads logs reads those in PostgreSQL as it reads those of other stores: runs, along, hydrate, forks of runs,
 * diffs, memory, trees, chains, usage.
 * Method: the cases that run on every store without a server, once more on a throwaway loopback server.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { type PostgresRig, postgresNamed, postgresRig } from "../../support/postgres-subject.ts";
import { readerCases } from "../reader-cases.ts";

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig();
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

const subject = postgresNamed(() => rig);

describe.each(readerCases)("%s", (_, cases) => cases(subject));
