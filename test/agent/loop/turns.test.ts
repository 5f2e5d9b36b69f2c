/** Turns carried by our own model calls: what is in the log when, and what the model is asked with. */
import { expect, test } from "vitest";
import { SimWorld } from "#testing/index";
import { ScriptedModel } from "../scripted-model.ts";
import { agentRig, counter, inShort, said } from "../rig.ts";

const call = (id: string, name: string, input: unknown = {}) => ({ id, name, input });

test("a prompt, the answer, and everything about it in the log", async () => {
  const at = await agentRig([{ thinking: "hm", text: "Hello there." }]);
  const result = await at.agent.send("c", "hi", at.host);
  expect(result).toMatchObject({ outcome: "completed", class: "completed", text: "Hello there.", steps: 1 });
  expect(result.usage).toMatchObject({ inputTokens: 100, outputTokens: 10 });
  expect(await said(at.conversation)).toEqual(["user: hi", "assistant: [thinking] Hello there."]);
  const types = (await Array.fromAsync(at.conversation.log())).map(({ type }) => type);
  expect(types).toEqual([
    "conversation",
    "model_change",
    "run_start",
    "message",
    "turn_start",
    "attempt",
    "message",
    "turn_end",
    "run_end",
  ]);
  const [attempt] = await at.conversation.facts(["attempt"]);
  expect(attempt).toMatchObject({ model: "scripted/one" });
  expect(attempt).toHaveProperty("promptDigest");
  expect(attempt).toHaveProperty("toolsDigest");
});

test("tools run between two answers; their results are told to the model, in the order of the calls", async () => {
  const look = counter("look");
  const list = counter("list", { effect: "none" });
  const at = await agentRig(
    [
      { text: "Let me see.", calls: [call("1", "look", { at: "a" }), call("2", "list")] },
      { calls: [call("1", "look", { at: "a" })] },
      { text: "Seen." },
    ],
    { tools: [look, list] },
  );
  const result = await at.agent.send("c", "look", at.host);
  expect(result).toMatchObject({ outcome: "completed", steps: 3, text: "Seen." });
  expect(await said(at.conversation)).toEqual([
    "user: look",
    'assistant: Let me see. look({"at":"a"}) list({})',
    "toolResult: look 1",
    "toolResult: list 1",
    'assistant: look({"at":"a"})',
    "toolResult: look 2",
    "assistant: Seen.",
  ]);
  // The provider numbered its calls anew: the same id and input in another answer is another call.
  expect(look.runs).toHaveLength(2);
  const effects = await at.conversation.effects();
  expect(effects.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "look done",
    "list done",
    "look done",
  ]);
});

test("a result is in the log as soon as it is known, whatever the other calls do", async () => {
  const slow = Promise.withResolvers<string>();
  const at = await agentRig([{ calls: [call("1", "slow"), call("2", "fast")] }, { text: "ok" }], {
    tools: [{ name: "slow", run: () => slow.promise }, counter("fast")],
  });
  const known = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", {
    onEvent: (event) => {
      if (event.type === "update" && event.event.type === "tool" && event.event.state === "done")
        known.resolve();
    },
  });
  await known.promise;
  const results = (await at.conversation.facts(["message"])).filter(
    (entry) => entry.type === "message" && entry.message.role === "toolResult",
  );
  expect(results).toMatchObject([{ message: { toolCallId: "2" } }]);
  slow.resolve("late");
  expect(await turn).toMatchObject({ outcome: "completed" });
  expect((await said(at.conversation)).slice(2, 4)).toEqual(["toolResult: late", "toolResult: fast 1"]);
});

test("no more calls side by side than told", async () => {
  let [now, most] = [0, 0];
  const at = await agentRig(
    [{ calls: Array.from({ length: 9 }, (_, n) => call(String(n), "count")) }, { text: "ok" }],
    {
      parallelCalls: 3,
      tools: [
        {
          name: "count",
          async run() {
            most = Math.max(most, ++now);
            await new Promise((resolve) => setImmediate(resolve));
            now--;
            return "x";
          },
        },
      ],
    },
  );
  await at.agent.send("c", "go");
  expect(most).toBe(3);
});

test("what cannot run is answered to the model and not run: unknown tools, inputs that do not fit, cut off ones", async () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
  const add = counter("add", { input: schema });
  const at = await agentRig(
    [
      {
        calls: [
          call("1", "add", { n: "one" }),
          call("2", "gone"),
          call("3", "add", '{"n": 1'),
          call("4", "add", { n: 1 }),
        ],
      },
      { calls: [call("5", "add", { n: 5 })], finish: "length" },
      { text: "ok" },
    ],
    { tools: [add] },
  );
  await at.agent.send("c", "go");
  expect(add.runs).toEqual([{ n: 1 }]);
  const states = (await at.conversation.effects()).map(({ state }) => state);
  expect(states).toEqual(["not_started", "not_started", "not_started", "done", "not_started"]);
  const told = (await at.conversation.context()).messages
    .filter(({ role }) => role === "toolResult")
    .map(inShort);
  expect(told).toHaveLength(5);
  expect(told[0]).toContain("add was not run");
  expect(told[1]).toContain('"gone"');
  expect(told[2]).toContain("Not executed");
  expect(told[3]).toBe("toolResult: add 1");
  expect(told[4]).toContain("Not executed");
});

test("a tool that ends the turn ends it, and a stop condition does", async () => {
  const mail = counter("mail", { final: true });
  const at = await agentRig([{ calls: [call("1", "mail")] }, { text: "never asked" }], { tools: [mail] });
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed", steps: 1 });
  expect(at.model.asked).toHaveLength(1);
  const other = await agentRig([{ calls: [call("1", "look")] }, { calls: [call("2", "look")] }], {
    tools: [counter("look")],
    stopWhen: ({ toolsRun }) => toolsRun > 0,
  });
  expect(await other.agent.send("c", "go")).toMatchObject({ outcome: "completed", steps: 1 });
});

test("a turn stops at its maximum of steps, says so, and can be gone on with", async () => {
  const look = counter("look");
  const at = await agentRig([], { tools: [look] });
  const { agent } = at.another(Array.from({ length: 5 }, (_, n) => ({ calls: [call(`c${n}`, "look")] })));
  const events: string[] = [];
  const stopped = await agent.send("c", "go", { maxSteps: 3, onEvent: ({ type }) => events.push(type) });
  expect(stopped).toMatchObject({ outcome: "interrupted", class: "turn_limit", steps: 3 });
  expect(events).not.toContain("parked");
  expect(stopped.message).toContain("3 steps");
  expect(await agent.continue("c")).toMatchObject({ outcome: "completed", steps: 3, text: "done" });
  expect(look.runs).toHaveLength(5);
});

test("state follows from results, is stored with the result that changed it, and only then", async () => {
  const set = {
    name: "set",
    run: async (input: unknown) => ({ content: "ok", state: input as { [name: string]: number } }),
  };
  const at = await agentRig(
    [
      { calls: [call("1", "set", { a: 1 })] },
      { calls: [call("2", "set", { a: 1 })] },
      { calls: [call("3", "set", { b: 2 })] },
      { text: "ok" },
    ],
    { tools: [set] },
  );
  await at.agent.send("c", "go");
  const changes = (await at.conversation.branch()).filter(({ type }) => type === "state_change");
  expect(changes.map((entry) => entry.type === "state_change" && entry.state)).toEqual([
    { a: 1 },
    { a: 1, b: 2 },
  ]);
  expect((await at.conversation.settings()).state).toEqual({ a: 1, b: 2 });
});

test("cancelling keeps what came: words so far, results so far, and says what did not start", async () => {
  const never = new Promise<never>(() => undefined);
  const at = await agentRig([{ text: "I will tell you a long story", until: never }]);
  const begun = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", {
    onEvent: (event) => event.type === "update" && event.event.type === "text" && begun.resolve(),
  });
  await begun.promise;
  expect(at.agent.cancel("c")).toBe(true);
  expect(await turn).toMatchObject({ outcome: "interrupted", class: "cancelled" });
  const [, partial] = await said(at.conversation);
  expect(partial).toMatch(/^assistant: I will/);
  expect(await at.conversation.openTurn()).toBeNull();
});

test("the model may be switched in the middle; the conversation keeps the choice", async () => {
  const at = await agentRig([{ text: "one" }]);
  await at.agent.send("c", "first");
  await at.agent.send("c", "second", { model: new ScriptedModel([{ text: "two" }], "two") });
  expect((await at.conversation.settings()).model).toBe("scripted/two");
  const models = (await at.conversation.branch()).flatMap((entry) =>
    entry.type === "message" && entry.message.role === "assistant" ? [entry.message.model] : [],
  );
  expect(models).toEqual(["scripted/one", "scripted/two"]);
});

test("the same key is the same turn", async () => {
  const at = await agentRig([{ text: "once" }, { text: "twice" }]);
  const first = await at.agent.send("c", "go", { key: "k" });
  const again = await at.agent.send("c", "go", { key: "k" });
  expect(again).toMatchObject({ turn: first.turn, text: "once", repeated: { differs: false } });
  expect(at.model.asked).toHaveLength(1);
});

test("asked again by its key, a turn with tools is answered with its last answer, as it was at first", async () => {
  const at = await agentRig([{ text: "Looking. ", calls: [call("1", "look")] }, { text: "Seen." }], {
    tools: [counter("look")],
  });
  const first = await at.agent.send("c", "hi", { key: "k" });
  expect(await at.agent.send("c", "hi", { key: "k" })).toMatchObject({ turn: first.turn, text: first.text });
  expect(first.text).toBe("Seen.");
});

test("a maximum of cost that cannot be kept is refused before anything is written", async () => {
  const at = await agentRig([{ text: "one" }]);
  const { headSeq } = await at.conversation.head();
  await expect(at.agent.send("c", "go", { maxCostMicros: 5 })).rejects.toMatchObject({
    code: "invalid_request",
  });
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
});

test("a turn stops once it has cost what it may", async () => {
  const model = new ScriptedModel(Array.from({ length: 9 }, () => ({ calls: [call("1", "look")] })));
  const priced = {
    id: "scripted/one",
    model,
    window: null,
    maxOutput: null,
    price: { input: 1_000_000, output: 1_000_000 },
  };
  const at = await agentRig([], { model: priced, tools: [counter("look")] });
  const result = await at.agent.send("c", "go", { maxCostMicros: 250 });
  expect(result).toMatchObject({ outcome: "interrupted", class: "turn_limit", steps: 3 });
  expect(result.usage.costMicros).toBe(330);
  expect((await at.conversation.usage()).costMicros).toBe(330);
});

test("what an attempt used that gave no answer counts as well", async () => {
  const overloaded = Object.assign(new Error("overloaded"), { statusCode: 529 });
  const { clock } = new SimWorld();
  const at = await agentRig([{ error: overloaded }, { error: overloaded }, { text: "at last" }], { clock });
  expect(await at.agent.send("c", "go", at.host)).toMatchObject({ outcome: "completed", steps: 1 });
  expect(at.events.filter(({ type }) => type === "backing_off")).toHaveLength(2);
  expect(await at.conversation.facts(["attempt"])).toHaveLength(3);
});
