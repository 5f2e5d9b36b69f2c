/**
 * Goal: what durable steps promise, on the log's own keys and on OpenWorkflow as it comes from npm.
 * Method: the same cases for each, over a log in SQLite; processes are agents with stores of their own, leases lapse by the
 * engine's tables. Kills are in `killed-steps.e2e.test.ts`, the same cases on Absurd in `test/absurd`.
 */
import { describe, test } from "vitest";
import { openDirectLane } from "./direct-lane.ts";
import type { OpenLane } from "./lane.ts";
import { openOpenWorkflowLane } from "./open-workflow-lane.ts";
import { checkCase, stepCases } from "./step-cases.ts";

const LANES: readonly [string, OpenLane][] = [
  ["direct", openDirectLane],
  ["OpenWorkflow", openOpenWorkflowLane],
];

describe.each(LANES)("%s", (_, open) => {
  test.for(stepCases)("%s", ([, promise], context) => checkCase(promise, { open }, context));
});
