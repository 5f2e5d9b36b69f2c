/**
 * Goal: whatever reads logs reads those in PostgreSQL as it reads those of other stores: runs, along, hydrate, forks of runs,
 * diffs, memory, trees, chains, usage.
 * Method: the tests that run on every store without a server, once more on a throwaway loopback server.
 */
import { afterAll, beforeAll } from "vitest";
import { type PostgresRig, postgresNamed, postgresRig } from "../../support/postgres-subject.ts";
import { subjects } from "../../support/subjects.ts";

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig();
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

// The files below ask for the list when they are loaded; other files of this process get theirs back.
const withoutServer = subjects.splice(
  0,
  subjects.length,
  postgresNamed(() => rig),
);

await import("../../conversation/runs/runs-along.test.ts");
await import("../../conversation/runs/hydrate.test.ts");
await import("../../conversation/runs/fork-run.test.ts");
await import("../../conversation/branch-diff.test.ts");
await import("../../conversation/keys.test.ts");
await import("../../conversation/conversations.test.ts");
await import("../../agent/memory/memory.test.ts");
await import("../runs.test.ts");

subjects.splice(0, subjects.length, ...withoutServer);
