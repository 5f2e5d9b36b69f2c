/** What is made of any engine: names, heartbeats, and what a turn does when they fail. */
import { expect, test } from "vitest";
import {
  absurdSteps,
  absurdWorkerOptions,
  directSteps,
  engineSteps,
  type StepEngine,
  openWorkflowSteps,
} from "#agent/steps/engine-steps";
import type { Clock } from "#conversation/clock";
import { isLogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { agentRig, counter, said } from "../rig.ts";

const isCode = (code: "invalid_request" | "fenced") => (error: unknown) => isLogError(error, code);

/** Time that passes when it is told to; its date goes back by as much, which no duration may notice. */
class ToldClock implements Clock {
  #steadyMs = 0;
  #sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  nowMs(): number {
    return -this.#steadyMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((wake) => {
      this.#sleepers.push({ atMs: this.#steadyMs + ms, wake });
      signal.addEventListener("abort", () => wake(), { once: true });
    });
  }

  async pass(ms: number): Promise<void> {
    this.#steadyMs += ms;
    const due = this.#sleepers.filter(({ atMs }) => atMs <= this.#steadyMs);
    this.#sleepers = this.#sleepers.filter(({ atMs }) => atMs > this.#steadyMs);
    for (const { wake } of due) wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** An engine in memory that keeps what steps give. */
function keeping(more: Partial<StepEngine> = {}): StepEngine & { readonly kept: Map<string, Json> } {
  const kept = new Map<string, Json>();
  const run: StepEngine["run"] = async (name, body) => {
    const value = kept.get(name) ?? (await body());
    kept.set(name, value);
    return value;
  };
  return { engine: "memory", taskId: "t", run, kept, ...more };
}

test("a name that was used in the attempt is one clear error, and its step is not run", async () => {
  const steps = engineSteps(keeping());
  expect(await steps.step("a", async () => 1)).toBe(1);
  let ran = false;
  const again = steps.step("a", async () => (ran = true));
  await expect(again).rejects.toSatisfy(isCode("invalid_request"));
  expect(ran).toBe(false);
  expect(await engineSteps(keeping()).step("a", async () => 2)).toBe(2);
});

test("steps that are made twice for one attempt of an engine share their names", () => {
  const context = {
    taskID: "t",
    beginStep: async () => ({ name: "", checkpointName: "", done: false as const }),
    completeStep: async <T>(_: unknown, value: T) => value,
    heartbeat: async () => undefined,
  };
  expect(absurdSteps(context)).toBe(absurdSteps(context));
  const step = { run: async <T>(_: unknown, body: () => Promise<T>) => body() };
  expect(openWorkflowSteps({ step, run: { id: "t" } })).toBe(openWorkflowSteps({ step, run: { id: "t" } }));
});

test("a name that Absurd would number is refused", async () => {
  const steps = absurdSteps({
    taskID: "t",
    beginStep: async (name: string) => ({ name, checkpointName: `${name}#2`, done: false as const }),
    completeStep: async <T>(_: unknown, value: T) => value,
    heartbeat: async () => undefined,
  });
  await expect(steps.step("a", async () => 1)).rejects.toSatisfy(isCode("invalid_request"));
});

test("a worker for turns is not ended with everything in it because one takes long", () => {
  expect(absurdWorkerOptions({ claimTimeout: 10, concurrency: 4 })).toEqual({
    claimTimeout: 10,
    concurrency: 4,
    fatalOnLeaseTimeout: false,
  });
});

test("a task without a name, and steps that are none, are refused before anything is written", async () => {
  expect(() => directSteps(" ")).toThrow();
  const { agent, conversation } = await agentRig([]);
  const before = (await conversation.head()).headSeq;
  await expect(agent.send("c", "hi", { steps: {} as never })).rejects.toSatisfy(isCode("invalid_request"));
  expect((await conversation.head()).headSeq).toBe(before);
});

test("the engine is told that a step is at work every third of its lease, and not more often", async () => {
  const clock = new ToldClock();
  let beats = 0;
  const heartbeat = async (): Promise<void> => void beats++;
  const steps = engineSteps(keeping({ clock, leaseMs: 30_000, heartbeat }));
  const done = Promise.withResolvers<null>();
  const step = steps.step("a", async (at) => {
    for (let tries = 0; tries < 5; tries++) await at.heartbeat();
    expect(beats).toBe(0);
    await done.promise;
    return null;
  });
  for (let third = 1; third <= 3; third++) {
    await clock.pass(9_999);
    expect(beats).toBe(third - 1);
    await clock.pass(1);
    expect(beats).toBe(third);
  }
  done.resolve(null);
  await step;
  await clock.pass(60_000);
  expect(beats).toBe(3);
});

test("a heartbeat that fails stops the model call, nothing more is written, and the next attempt goes on (scenario 15)", async () => {
  const asked = Promise.withResolvers<void>();
  const never = new Promise<void>(() => undefined);
  const { agent, conversation, model } = await agentRig([
    () => {
      asked.resolve();
      return { text: "Hm.", until: never };
    },
    { text: "Yes." },
  ]);
  const clock = new ToldClock();
  const gone = new Error("the pool is exhausted");
  const engine = keeping({ clock, leaseMs: 3, heartbeat: () => Promise.reject(gone) });
  // The engine is told its own error.
  const carried = expect(agent.send("c", "hi", { steps: engineSteps(engine) })).rejects.toBe(gone);
  await asked.promise;
  await clock.pass(1);
  await carried;
  expect(engine.kept.size).toBe(0);
  const { headSeq } = await conversation.head();
  const types = (await Array.fromAsync(conversation.log())).map(({ type }) => type);
  expect(types).not.toContain("turn_end");
  const result = await agent.send("c", "hi", {
    steps: engineSteps({ ...engine, heartbeat: async () => undefined }),
  });
  expect([result.outcome, result.text]).toEqual(["completed", "Yes."]);
  expect(model.asked).toHaveLength(2);
  expect(await said(conversation)).toEqual(["user: hi", "assistant: Yes."]);
  expect((await conversation.head()).headSeq).toBeGreaterThan(headSeq);
});

test("a second turn of the same attempt is told that one is running, and disturbs nobody", async () => {
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { agent } = await agentRig([
    () => {
      asked.resolve();
      return { text: "Yes.", until: answer.promise };
    },
  ]);
  const steps = engineSteps(keeping());
  const first = agent.send("c", "hi", { steps });
  await asked.promise;
  const second = agent.send("c", "and this", { steps });
  await expect(second).rejects.toSatisfy((error) => isLogError(error, "busy"));
  answer.resolve();
  expect((await first).text).toBe("Yes.");
});

test("a turn that waits for a person says so in every replay, and goes on when it is continued", async () => {
  const mail = counter("mail");
  const { agent, conversation, model } = await agentRig(
    [{ calls: [{ id: "m1", name: "mail", input: {} }] }, { text: "Sent." }],
    { tools: [mail], permission: () => "ask" },
  );
  const engine = keeping();
  const first = await agent.send("c", "mail bob", { steps: engineSteps(engine) });
  expect(first.outcome).toBe("waiting");
  await conversation.answer(first.waiting[0]?.request ?? "", "allowed");
  const steps = engineSteps(engine);
  const again = await agent.send("c", "mail bob", { steps });
  expect(again).toEqual(first);
  expect((await agent.continue("c", { steps })).text).toBe("Sent.");
  expect([...engine.kept.keys()]).toEqual(["turn:v1/c/1", "turn:v1/c/2", "turn:v1/c/3"]);
  expect(mail.runs).toHaveLength(1);
  expect(model.asked).toHaveLength(2);
});

test("words that waited for the end of a turn are the next turn of the same task, in every replay", async () => {
  const words = [{ type: "text", text: "and then?" }] as const;
  const rig = await agentRig([
    () => ({ text: "One.", until: rig.conversation.steer("s", words, { when: "turn" }) }),
    { text: "Two." },
  ]);
  const { agent, model } = rig;
  const engine = keeping();
  const run = () => agent.send("c", "first", { steps: engineSteps(engine) });
  const result = await run();
  expect(result.text).toBe("Two.");
  expect(await run()).toEqual(result);
  engine.kept.clear();
  expect(await run()).toEqual(result);
  expect(model.asked).toHaveLength(2);
});

test("a tool that ends the turn is a step of its own", async () => {
  const mail = counter("mail", { final: true });
  const { agent } = await agentRig([{ calls: [{ id: "m1", name: "mail", input: {} }] }], { tools: [mail] });
  const engine = keeping();
  const result = await agent.send("c", "mail", { steps: engineSteps(engine) });
  expect([result.outcome, result.steps, engine.kept.size]).toEqual(["completed", 1, 2]);
  expect(await agent.send("c", "mail", { steps: engineSteps(engine) })).toEqual(result);
  expect(mail.runs).toHaveLength(1);
});

test("the steps of an attempt before count towards the limit of the turn", async () => {
  const look = { calls: [{ id: "l", name: "look", input: {} }] };
  const { agent, model } = await agentRig([look, look, look, look], {
    tools: [counter("look", { effect: "none" })],
  });
  const engine = keeping();
  let dies = true;
  const run: StepEngine["run"] = async (name, body) => {
    if (dies && name.endsWith("/2")) throw new Error("the worker is gone");
    return engine.run(name, body);
  };
  const attempt = () => agent.send("c", "look", { steps: engineSteps({ ...engine, run }), maxSteps: 2 });
  await expect(attempt()).rejects.toThrow("gone");
  dies = false;
  const result = await attempt();
  expect([result.outcome, result.class, result.steps]).toEqual(["interrupted", "turn_limit", 2]);
  expect(model.asked).toHaveLength(2);
  expect(await attempt()).toEqual({ ...result, message: "" });
});
