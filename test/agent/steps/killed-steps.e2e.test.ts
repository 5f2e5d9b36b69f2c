/**
 * Goal: a worker may die anywhere in a durable step, and nothing is paid for, done or written twice.
 * Method: real processes, killed by themselves at one point; another goes on once the lease has lapsed, which is told to the
 * engine's table in place of waiting. On the log's own keys and on OpenWorkflow; on Absurd by `npm run test:absurd`. The log is in
 * SQLite, and for what only a crash behind the append can show in PostgreSQL, too.
 */
import { afterAll, beforeAll, describe, test } from "vitest";
import { type LoopbackPostgres, startPostgres } from "../../support/loopback-postgres.ts";
import { openDirectLane } from "./direct-lane.ts";
import { checkKilled, KILLED_CASES, type KilledLane } from "./killed-steps.ts";
import { inPostgres } from "./log-place.ts";
import { openOpenWorkflowLane } from "./open-workflow-lane.ts";

const LANES: readonly KilledLane[] = [
  { kind: "direct", open: openDirectLane, address: (dir) => dir },
  { kind: "openworkflow", open: openOpenWorkflowLane, address: (dir) => dir },
];

describe.each(LANES)("$kind", (lane) => {
  test.each(KILLED_CASES)("$name", (promise) => checkKilled(promise, lane));
});

describe("with the log in PostgreSQL", () => {
  let server: LoopbackPostgres;

  beforeAll(async () => {
    server = await startPostgres();
  });

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  test.each(KILLED_CASES.filter(({ site }) => site === "append 1" || site === "act"))("$name", (promise) =>
    checkKilled(promise, {
      kind: "openworkflow",
      open: openOpenWorkflowLane,
      address: (dir) => dir,
      log: inPostgres(server.url),
    }),
  );
});
