/**
 * Goal: a worker may die anywhere in a durable step, and nothing is paid for, done or written twice.
 * Method: real processes, killed by themselves at one point; another goes on once the lease has lapsed, which is told to the
 * engine's table in place of waiting. On the log's own keys and on OpenWorkflow; on Absurd by `npm run test:absurd`.
 */
import { describe, test } from "vitest";
import { openDirectLane } from "./direct-lane.ts";
import { checkKilled, KILLED_CASES, type KilledLane } from "./killed-steps.ts";
import { openOpenWorkflowLane } from "./open-workflow-lane.ts";

const LANES: readonly KilledLane[] = [
  { kind: "direct", open: openDirectLane, address: (dir) => dir },
  { kind: "openworkflow", open: openOpenWorkflowLane, address: (dir) => dir },
];

describe.each(LANES)("$kind", (lane) => {
  test.each(KILLED_CASES)("$name", (promise) => checkKilled(promise, lane));
});
