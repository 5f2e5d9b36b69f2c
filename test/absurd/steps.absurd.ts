/**
 * Goal: what durable steps promise, on Absurd over a real PostgreSQL, with the log in SQLite.
 * Method: the cases that `npm test` runs on the log's own keys and on OpenWorkflow, and those that need an engine which is told
 * that a step is at work. Leases lapse by Absurd's own tables.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkKilled, KILLED_CASES } from "../agent/steps/killed-steps.ts";
import { checkCase, stepCases } from "../agent/steps/step-cases.ts";
import { StepRig } from "../agent/steps/step-rig.ts";
import { runProgram } from "../support/process-life.ts";
import { openAbsurdLane } from "./absurd-lane.ts";
import { type AbsurdServer, startAbsurd } from "./absurd-server.ts";

let server: AbsurdServer;

beforeAll(async () => {
  server = await startAbsurd();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

test.each(KILLED_CASES)("a worker $name", (promise) =>
  checkKilled(promise, { kind: "absurd", open: openAbsurdLane, address: () => server.queue() }),
);

test.each([
  ["turn", "ours", 0],
  ["turn", "default", 0],
  // What the options and the heartbeat are for: Absurd ends the process of a task that is not heard of.
  ["plain", "default", 1],
] as const)(
  "a process with a slow %s and %s options ends with %i (scenario 16)",
  async (work, options, code) => {
    let address = "";
    await using rig = await StepRig.start(() => openAbsurdLane((address = server.queue())));
    await rig.lane.spawn({ conversation: "c", prompt: "hi" });
    const program = join(import.meta.dirname, "slow-worker.ts");
    expect((await runProgram(program, address, rig.path("log.db"), work, options)).code).toBe(code);
  },
);

test.for(stepCases)("%s", ([, promise], context) =>
  checkCase(promise, () => openAbsurdLane(server.queue()), context),
);
