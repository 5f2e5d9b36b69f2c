/**
 * Goal: what durable steps promise, on Absurd over a real PostgreSQL, with the log in SQLite and in the queue's own database.
 * Method: the cases that `npm test` runs on the log's own keys and on OpenWorkflow, and those that need an engine which is told
 * that a step is at work. Leases lapse by Absurd's own tables.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Absurd } from "absurd-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { absurdSteps } from "#agent/steps/engine-steps";
import { Holdfast } from "#conversation/holdfast";
import { postgresStore } from "#stores/postgres/index";
import { judgeConversation } from "#testing/index";
import { ScriptedModel } from "../agent/scripted-model.ts";
import type { TaskInput } from "../agent/steps/lane.ts";
import { checkKilled, KILLED_CASES } from "../agent/steps/killed-steps.ts";
import { inPostgres, inSqlite, type LogPlace } from "../agent/steps/log-place.ts";
import { checkCase, stepCases } from "../agent/steps/step-cases.ts";
import { counter, StepRig, TWO_ANSWERS } from "../agent/steps/step-rig.ts";
import { runProgram } from "../support/process-life.ts";
import { poolOf } from "../support/postgres-subject.ts";
import { tempDir } from "../support/temp-dir.ts";
import { absurdAddress, openAbsurdLane, type QueueAddress } from "./absurd-lane.ts";
import { type AbsurdServer, startAbsurd } from "./absurd-server.ts";

let server: AbsurdServer;

beforeAll(async () => {
  server = await startAbsurd();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

const LOGS: readonly (readonly [string, () => LogPlace])[] = [
  ["in SQLite", () => inSqlite],
  ["in the same database", () => inPostgres(server.url)],
];

describe.each(LOGS)("with the log %s", (_, log) => {
  test.each(KILLED_CASES)("a worker $name", (promise) =>
    checkKilled(promise, {
      kind: "absurd",
      open: openAbsurdLane,
      address: () => server.queue(),
      log: log(),
    }),
  );

  test.for(stepCases)("%s", ([, promise], context) =>
    checkCase(promise, { open: () => openAbsurdLane(server.queue()), log: log() }, context),
  );
});

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

test("a worker whose time is five minutes ahead takes a task away, and the log has one owner (scenario 14)", async () => {
  let address = "";
  await using rig = await StepRig.start(() => openAbsurdLane((address = server.queue())));
  const now = new Date(Date.now() + 300_000).toISOString();
  await using ahead = await openAbsurdLane(absurdAddress({ ...(JSON.parse(address) as QueueAddress), now }));
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = await rig.process([
    () => {
      asked.resolve();
      return { text: "too late", until: answer.promise };
    },
  ]);
  const quick = await rig.process(TWO_ANSWERS, { tools: [counter("mail")], on: await rig.store() });
  await rig.lane.spawn({ conversation: "c", prompt: "write to bob" });
  const zombie = rig.lane.attempt(slow.send);
  await asked.promise;
  await ahead.attempt(quick.send).catch(() => ahead.attempt(quick.send));
  const log = await rig.log();
  answer.resolve();
  await zombie;
  expect(quick.ends).toEqual(["completed"]);
  expect(await rig.log()).toEqual(log);
  expect(await rig.messages()).toHaveLength(4);
});

test("a task sleeps until a person has answered, and goes on in the turn that waits", async () => {
  let address = "";
  await using rig = await StepRig.start(() => openAbsurdLane((address = server.queue())));
  const { url, queue } = JSON.parse(address) as QueueAddress;
  const app = new Absurd({ db: url, queueName: queue });
  const mail = counter("mail");
  const { agent, model } = await rig.process(TWO_ANSWERS, { tools: [mail], permission: () => "ask" });
  app.registerTask<TaskInput>({ name: "turn", queue }, async ({ conversation, prompt }, context) => {
    const steps = absurdSteps(context);
    let result = await agent.send(conversation, prompt, { steps });
    while (result.outcome === "waiting") {
      await context.awaitEvent(`answer:${result.waiting[0]?.request}`);
      result = await agent.continue(conversation, { steps });
    }
    return result.text;
  });
  const task = await rig.lane.spawn({ conversation: "c", prompt: "write to bob" });
  await app.workBatch();
  expect((await app.fetchTaskResult(task))?.state).toBe("sleeping");
  const [question] = (await agent.restore("c")).waiting;
  const conversation = await rig.conversation();
  await conversation.answer(question?.request ?? "", "allowed");
  await app.emitEvent(`answer:${question?.request}`);
  await app.workBatch();
  await app.close();
  expect(await rig.lane.result(task)).toBe("It is sent.");
  expect([mail.runs.length, model.asked.length]).toEqual([1, 2]);
});

test.each(["durable-steps.ts", "same-database.ts"])(
  "the guide's example %s for Absurd is this file, and runs",
  async (name) => {
    using dir = tempDir();
    const file = join(import.meta.dirname, "..", "..", "examples", "absurd", name);
    const shown = readFileSync(file, "utf8")
      .replace(/^\/\*.*\*\/\n/, "")
      .replace("../../src/index.ts", "holdfast")
      .replace("../../src/agent/index.ts", "holdfast/agent")
      .replace("../../src/stores/postgres/index.ts", "holdfast/postgres");
    const guide = readFileSync(
      join(import.meta.dirname, "../../docs/how-to/integrate/durable-engines.md"),
      "utf8",
    );
    expect(guide).toContain(`\`\`\`typescript\n${shown}\`\`\``);
    const { stdout } = await promisify(execFile)(process.execPath, [file, await server.database()], {
      cwd: dir.path,
    });
    expect(stdout).toContain("Noted open=2");
  },
);

test("queue and log share one connection, and a slow turn is heard of while it asks its model", async () => {
  const pool = poolOf(server.url, 1);
  const queue = `one${Date.now()}`;
  const app = new Absurd({ db: pool, queueName: queue });
  await app.createQueue();
  await using store = await postgresStore({ pool, schema: "one_connection" });
  const holdfast = new Holdfast(store, "default");
  await holdfast.create({ id: "c" });
  const mail = counter("mail");
  let beats = 0;
  const model = new ScriptedModel([
    { text: "Writing.", calls: [{ id: "m1", name: "mail", input: { to: "bob" } }] },
    () => ({ text: "It is sent.", until: beaten.promise }),
  ]);
  const beaten = Promise.withResolvers<void>();
  await using agent = new Agent(holdfast, {
    model,
    permission: () => "allow",
    instructions: false,
    tools: [mail],
  });
  app.registerTask<TaskInput>({ name: "turn", queue }, async ({ conversation, prompt }, context) => {
    const heartbeat = context.heartbeat.bind(context);
    context.heartbeat = async (seconds) => {
      await heartbeat(seconds);
      if (++beats > 1) beaten.resolve();
    };
    const { text } = await agent.send(conversation, prompt, { steps: absurdSteps(context) });
    return text;
  });
  const { taskID } = await app.spawn("turn", { conversation: "c", prompt: "write to bob" }, { queue });
  const [task] = await app.claimTasks({ claimTimeout: 1, workerId: "one" });
  if (task !== undefined) await app.executeTask(task, 1);
  expect((await app.fetchTaskResult(taskID))?.state).toBe("completed");
  expect([mail.runs.length, model.asked.length, beats > 1]).toEqual([1, 2, true]);
  const { rows } = await pool.query<{ size: number }>(
    `select length(state::text) as size from absurd.c_${queue} where task_id = $1`,
    [taskID],
  );
  expect(rows.map(({ size }) => size < 400)).toEqual([true, true]);
  expect(await judgeConversation(await holdfast.conversation("c"))).toEqual([]);
  await agent.close();
  await pool.end();
});
