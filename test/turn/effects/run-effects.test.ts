/** Tools that throw, hang, are many at once, change nothing, or change the state of their conversation. */
import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Clock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Json } from "#log/json/json-text";
import { type EffectOutcome, type EffectsRequest, runEffects } from "#turn/effects/run-effects";
import type { Tool, ToolRun } from "#turn/effects/tool";
import { aConversation, assistant } from "../../support/a-log.ts";
import { dyingClock } from "../../support/dying-clock.ts";

/** Every time is over as soon as everything else has had its turn. */
const instant: Clock = {
  nowMs: () => 0,
  steadyMs: () => 0,
  sleep: () => nextRound(),
};

type Given = Partial<EffectsRequest> & { readonly input?: Json };

async function run(
  chat: Conversation,
  tools: readonly Tool[],
  given: Given = {},
): Promise<readonly EffectOutcome[]> {
  await using owner = await chat.own({ writer: "host", leaseMs: 60_000 });
  const calls = tools.map((tool, at) => ({ id: `c${at}`, tool, input: given.input ?? {} }));
  return runEffects(owner, "t1", { calls, signal: new AbortController().signal, clock: instant, ...given });
}

const types = async (chat: Conversation): Promise<readonly string[]> =>
  (await Array.fromAsync(chat.log())).map((entry) => entry.type);

function stopped({ signal }: ToolRun): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve());
  return promise;
}

test("what a tool throws is its result, whatever it is", async () => {
  for (const thrown of [new Error("no route"), "no route", Object.create(null), undefined, new Error("")]) {
    const chat = await aConversation(assistant("", "m1", "c0"));
    const broken: Tool = { name: "x", run: () => Promise.reject(thrown as Error) };
    const [outcome] = await run(chat, [broken]);
    expect(outcome).toMatchObject({ state: "failed", ran: true, output: expect.stringMatching(/\S/) });
    expect((await run(chat, [broken]))[0]).toEqual({ ...outcome, ran: false });
  }
});

test("a tool that throws at once, not by its promise, has failed like any other", async () => {
  const chat = await aConversation(assistant("", "m1", "c0"));
  const broken: Tool = {
    name: "x",
    run: () => {
      throw new Error("at once");
    },
  };
  expect(await run(chat, [broken])).toMatchObject([{ state: "failed", output: "at once" }]);
});

test("a tool that stops at its time limit has failed and says why; one that hangs on is unknown and is not run again", async () => {
  const chat = await aConversation(assistant("", "m1", "c0", "c1"));
  let runs = 0;
  const heeding: Tool = {
    name: "heeding",
    timeoutMs: 2_000,
    run: async (_, call) => {
      await stopped(call);
      throw new Error("stopped half way");
    },
  };
  const deaf: Tool = {
    name: "deaf",
    timeoutMs: 2_000,
    run: () => {
      runs++;
      return new Promise(() => undefined);
    },
  };
  const [first, second] = await run(chat, [heeding, deaf]);
  expect(first).toMatchObject({ state: "failed" });
  expect(first !== undefined && "output" in first && first.output).toMatch(/2 s.*stopped half way/s);
  expect(second).toEqual({ state: "unknown" });
  expect(await run(chat, [heeding, deaf])).toMatchObject([
    { state: "failed", ran: false },
    { state: "unknown" },
  ]);
  expect(runs).toBe(1);
  expect((await chat.effects()).map(({ state }) => state)).toEqual(["failed", "unknown"]);
});

test("what a tool still gives when its time is over is its result", async () => {
  const chat = await aConversation(assistant("", "m1", "c0"));
  const partial: Tool = {
    name: "partial",
    run: async (_, call) => {
      await stopped(call);
      return { content: "half of it", isError: true };
    },
  };
  expect(await run(chat, [partial], { timeoutMs: 5 })).toMatchObject([
    { state: "failed", output: "half of it" },
  ]);
});

test("a tool without an effect that hangs has failed: there is nothing to be unknown of", async () => {
  const chat = await aConversation(assistant("", "m1", "c0"));
  const deaf: Tool = { name: "look", effect: "none", timeoutMs: 1, run: () => new Promise(() => undefined) };
  expect(await run(chat, [deaf])).toMatchObject([{ state: "failed", ran: true }]);
});

test("when the turn is stopped, what hangs is let go of and what waits is not started", async () => {
  const chat = await aConversation(assistant("", "m1", "c0", "c1"));
  const turn = new AbortController();
  const started: string[] = [];
  const deaf = (name: string): Tool => ({
    name,
    run: () => {
      started.push(name);
      turn.abort();
      return new Promise(() => undefined);
    },
  });
  const outcomes = await run(chat, [deaf("one"), deaf("two")], { signal: turn.signal, limit: 1 });
  expect(outcomes).toEqual([{ state: "unknown" }, { state: "not_started" }]);
  expect(started).toEqual(["one"]);
  // Whoever goes on with the turn runs what was not started, and only that.
  const later = deaf("two");
  expect(await run(chat, [deaf("one"), { ...later, run: async () => "ran" }])).toMatchObject([
    { state: "unknown" },
    { state: "done", output: "ran" },
  ]);
});

test("so many run side by side as are allowed, and each result is in the log as soon as it is known", async () => {
  for (const [limit, most] of [
    [2, 2],
    [undefined, 8],
    [0, 1],
  ] as const) {
    const names = Array.from({ length: 10 }, (_, at) => `c${at}`);
    const chat = await aConversation(assistant("", "m1", ...names));
    let [now, peak] = [0, 0];
    const tool: Tool = {
      name: "x",
      run: async () => {
        peak = Math.max(peak, ++now);
        await nextRound();
        now--;
        return "done";
      },
    };
    const known: number[] = [];
    const onOutcome = (): void => void known.push(known.length);
    await run(
      chat,
      names.map(() => tool),
      { onOutcome, ...(limit === undefined ? {} : { limit }) },
    );
    expect([peak, known.length]).toEqual([most, 10]);
  }
  const chat = await aConversation(assistant("", "m1", "c0", "c1"));
  const quick: Tool = { name: "quick", run: async () => "quick" };
  const { promise: quickIsKnown, resolve } = Promise.withResolvers<void>();
  const slow: Tool = {
    name: "slow",
    run: async () => {
      await quickIsKnown;
      return JSON.stringify(await types(chat));
    },
  };
  const [outcome] = await run(chat, [slow, quick], { onOutcome: ({ tool }) => tool === quick && resolve() });
  expect(outcome).toMatchObject({ output: expect.stringContaining('"tool_intent","message"') });
});

test("a tool without an effect leaves no intent and runs again after a crash; its outcome is known by its input", async () => {
  const chat = await aConversation(assistant("", "m1", "c0"));
  const look: Tool = { name: "look", effect: "none", run: async (input) => JSON.stringify(input) };
  const clock = dyingClock();
  const dying = await chat.own({ writer: "host", leaseMs: 60_000, clock });
  const began = Promise.withResolvers<void>();
  const hanging: Tool = { ...look, run: () => (began.resolve(), new Promise(() => undefined)) };
  const signal = new AbortController().signal;
  void runEffects(dying, "t1", { calls: [{ id: "c0", tool: hanging, input: { n: 1 } }], signal });
  await began.promise;
  clock.die();
  expect(await run(chat, [look], { input: { n: 1 } })).toMatchObject([{ state: "done", ran: true }]);
  expect(await run(chat, [look], { input: { n: 1 } })).toMatchObject([{ output: '{"n":1}', ran: false }]);
  await chat.append(assistant("", "m2", "c0"));
  expect(await run(chat, [look], { input: { n: 2 } })).toMatchObject([{ output: '{"n":2}', ran: true }]);
  expect(await types(chat)).not.toContain("tool_intent");
});

test("a tool that is without an effect only since it was started is not run again", async () => {
  const chat = await aConversation(assistant("", "m1", "c0"));
  const deaf: Tool = { name: "x", timeoutMs: 1, run: () => new Promise(() => undefined) };
  expect(await run(chat, [deaf])).toEqual([{ state: "unknown" }]);
  expect(await run(chat, [{ name: "x", effect: "none", run: async () => "again" }])).toEqual([
    { state: "unknown" },
  ]);
});

test("what goes with a result is in its batch, before it, and asked for in the order of the log", async () => {
  const chat = await aConversation(assistant("", "m1", "c0", "c1", "c2"));
  const add = (n: number): Tool => ({
    name: `add ${n}`,
    run: async () => ({ content: `${n}`, details: { type: "sum" }, state: { [`n${n}`]: n } }),
  });
  let state = {};
  const asked: string[] = [];
  const outcomes = await run(chat, [add(0), add(1), add(2)], {
    alongside: ({ id }, { details }) => {
      asked.push(id);
      state = { ...state, ...(details as { stateUpdate: object }).stateUpdate };
      return [{ type: "state_change", state }];
    },
  });
  expect(outcomes[1]).toMatchObject({ details: { type: "sum", stateUpdate: { n1: 1 } } });
  expect((await chat.settings()).state).toEqual({ n0: 0, n1: 1, n2: 2 });
  const results = (await chat.branch()).filter(({ type }) => type === "message").slice(1);
  expect(results.map((entry) => (entry.type === "message" ? entry.message : null))).toMatchObject(
    asked.map((toolCallId) => ({ toolCallId })),
  );
  // A reader that stops at a result has the state that it made.
  const first = results[0];
  expect((await chat.settings({ at: first?.id ?? "" })).state).toEqual({ n0: 0 });
  expect(await run(chat, [add(0)])).toMatchObject([{ ran: false, details: { stateUpdate: { n0: 0 } } }]);
});

test("progress is passed on at once, and is in the log in a few pieces however often it is said", async () => {
  const chat = await aConversation(assistant("", "m1", "c0"));
  const heard: string[] = [];
  const chatty: Tool = {
    name: "chatty",
    run: async (_, { progress }) => {
      for (let at = 0; at < 1_000; at++) progress(`${at}\n`);
      while (!(await types(chat)).includes("tool_progress")) await nextRound();
      progress("x".repeat(1_000_000));
      return "done";
    },
  };
  await run(chat, [chatty], { onProgress: (_, text) => void heard.push(text) });
  expect(heard).toHaveLength(1_001);
  const facts = await chat.facts(["tool_progress"]);
  expect(facts.length).toBeLessThanOrEqual(2);
  expect(facts[0]).toMatchObject({ call: "c0", text: expect.stringContaining("0\n1\n2\n") });
  expect(JSON.stringify(facts).length).toBeLessThan(200_000);
});

test("a listener that fails costs no outcome", async () => {
  const chat = await aConversation(assistant("", "m1", "c0"));
  const fail = (): never => {
    throw new Error("the screen is gone");
  };
  const listeners = { onStart: fail, onOutcome: fail, onProgress: fail };
  const tool: Tool = { name: "x", run: async (_, { progress }) => (progress("half"), "whole") };
  expect(await run(chat, [tool], listeners)).toMatchObject([{ state: "done", output: "whole" }]);
});

test("a tool is given what its schema made of the input, and is known by the input as it came", async () => {
  const chat = await aConversation(assistant("", "m1", "c0"));
  const tool: Tool = { name: "x", run: async (input) => JSON.stringify(input) };
  const signal = new AbortController().signal;
  const calls = [{ id: "c0", tool, input: { n: "1" }, value: { n: 1 } }];
  await using owner = await chat.own({ writer: "host", leaseMs: 60_000 });
  expect(await runEffects(owner, "t1", { calls, signal })).toMatchObject([{ output: '{"n":1}' }]);
  expect((await chat.facts(["tool_intent"]))[0]).toMatchObject({ input: { n: "1" } });
});
