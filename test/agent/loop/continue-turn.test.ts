import { GO_ON } from "#turn/rules/unanswered";
import { refusalText } from "#agent/tools/permissions";
/** A turn that was cut off, waits or was stopped goes on in another process: nothing twice, nothing lost. */
import { expect, test } from "vitest";
import type { Tool } from "#turn/effects/tool";
import { type AgentRig, agentRig, counter, said } from "../rig.ts";

const call = (id: string, name: string, input: unknown = {}) => ({ id, name, input });
const never = new Promise<never>(() => undefined);

/** Resolves once the event is there; the process then dies: it does nothing any more. */
async function dies(at: AgentRig, when: (event: unknown) => boolean): Promise<void> {
  const reached = Promise.withResolvers<void>();
  void at.agent.send("c", "go", { onEvent: (event) => when(event) && reached.resolve() });
  await reached.promise;
  await new Promise((resolve) => setImmediate(resolve));
  at.die();
}

/** A turn that is cancelled once its answer has begun. */
async function cancelledTurn(at: AgentRig): Promise<void> {
  const begun = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", {
    onEvent: (event) => event.type === "update" && event.event.type === "text" && begun.resolve(),
  });
  await begun.promise;
  at.agent.cancel("c");
  await turn;
}

const isTool = (state: string, name: string) => (event: unknown) =>
  JSON.stringify(event).includes(`"state":"${state}"`) && JSON.stringify(event).includes(`"name":"${name}"`);

test("a never-replay tool that ran when its process died is not run again, and the model is told that nobody knows", async () => {
  const runs: string[] = [];
  const act: Tool = {
    name: "act",
    run: async () => {
      runs.push("once");
      return never;
    },
  };
  const at = await agentRig([{ calls: [call("1", "act")] }], { tools: [act] });
  await dies(at, isTool("started", "act"));
  await expect.poll(() => runs.length).toBe(1);
  const next = at.another([{ text: "I will check." }]);
  expect(await next.agent.continue("c")).toMatchObject({ outcome: "completed", text: "I will check." });
  expect(runs).toEqual(["once"]);
  const conversation = await next.holdfast.conversation("c");
  expect(await said(conversation)).toEqual([
    "user: go",
    "assistant: act({})",
    expect.stringContaining("toolResult: Outcome unknown"),
    "assistant: I will check.",
  ]);
  expect(await conversation.effects()).toMatchObject([{ name: "act", state: "unknown" }]);
});

test("of three parallel calls the finished ones keep their results; only the unknown one is told as such, in order", async () => {
  const done = counter("done");
  const hang: Tool = { name: "hang", run: () => never };
  const at = await agentRig([{ calls: [call("1", "done"), call("2", "hang"), call("3", "done")] }], {
    tools: [done, hang],
  });
  let finished = 0;
  await dies(at, (event) => isTool("done", "done")(event) && ++finished === 2);
  const next = at.another([{ text: "ok" }]);
  await next.agent.continue("c");
  expect(done.runs).toHaveLength(2);
  const told = await said(await next.holdfast.conversation("c"));
  expect(told.slice(2, 5)).toEqual([
    "toolResult: done 1",
    expect.stringContaining("Outcome unknown"),
    "toolResult: done 2",
  ]);
});

test("a tool that may be repeated, by the record and by today's code, is run again once", async () => {
  let runs = 0;
  const fetch = (answer: string | null): Tool => ({
    name: "fetch",
    replay: "safe",
    run: async () => (++runs, answer ?? never),
  });
  const at = await agentRig([{ calls: [call("1", "fetch")] }], { tools: [fetch(null)] });
  await dies(at, isTool("started", "fetch"));
  await expect.poll(() => runs).toBe(1);
  const next = at.another([{ text: "ok" }], { tools: [fetch("there")] });
  await next.agent.continue("c");
  expect(runs).toBe(2);
  expect(await said(await next.holdfast.conversation("c"))).toContain("toolResult: there");
  const strict = await agentRig([{ calls: [call("1", "fetch")] }], { tools: [fetch(null)] });
  await dies(strict, isTool("started", "fetch"));
  const { agent } = strict.another([{ text: "ok" }], { tools: [{ ...fetch("there"), replay: "never" }] });
  await expect.poll(() => runs).toBe(3);
  await agent.continue("c");
  expect(runs).toBe(3);
});

test("a call that was recorded and not started runs when the turn goes on; a new prompt instead says that it never ran", async () => {
  const act = counter("act");
  const waits = { permission: () => "ask" as const, tools: [act] };
  const at = await agentRig([{ calls: [call("1", "act")] }], waits);
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "waiting" });
  const next = at.another([{ text: "instead" }]);
  expect(await next.agent.send("c", "never mind")).toMatchObject({ outcome: "completed" });
  expect(act.runs).toEqual([]);
  expect(await said(await next.holdfast.conversation("c"))).toEqual([
    "user: go",
    "assistant: act({})",
    expect.stringMatching(/^toolResult: Not executed/),
    "user: never mind",
    "assistant: instead",
  ]);
});

test("a turn that waits for a person is open and held by nobody; the answer from any process lets it go on", async () => {
  const act = counter("act");
  const at = await agentRig([{ calls: [call("1", "act", { x: 1 }), call("2", "act", { x: 2 })] }], {
    tools: [act],
    permission: () => "ask",
  });
  const parked = await at.agent.send("c", "go", at.host);
  expect(parked).toMatchObject({ outcome: "waiting", class: null });
  expect(parked.waiting).toMatchObject([
    { tool: "act", input: { x: 1 } },
    { tool: "act", input: { x: 2 } },
  ]);
  expect(at.events.at(-1)).toMatchObject({ type: "waiting" });
  expect((await at.conversation.head()).lease).toBeNull();
  const [one, two] = parked.waiting;
  // Another process: an answer by itself, then one that goes on.
  const next = at.another([{ text: "ok" }], { permission: () => "ask" });
  await next.holdfast.handle(at.conversation.id).answer(one?.request ?? "", "allowed");
  expect(await next.agent.continue("c")).toMatchObject({
    outcome: "waiting",
    waiting: [{ input: { x: 2 } }],
  });
  expect(act.runs).toEqual([{ x: 1 }]);
  expect(await next.agent.answer("c", two?.request ?? "", "denied")).toMatchObject({ outcome: "completed" });
  expect(act.runs).toEqual([{ x: 1 }]);
  expect((await said(at.conversation)).slice(2, 4)).toEqual([
    "toolResult: act 1",
    `toolResult: ${refusalText("act", "person")}`,
  ]);
});

test("a host is asked while the turn runs; somebody elsewhere may be quicker", async () => {
  const act = counter("act");
  const at = await agentRig([{ calls: [call("1", "act")] }, { text: "ok" }], {
    tools: [act],
    permission: () => "ask",
  });
  const asked = Promise.withResolvers<string>();
  const turn = at.agent.send("c", "go", {
    onPermission: ({ request }) => {
      asked.resolve(request);
      return never;
    },
  });
  await at
    .another([])
    .holdfast.handle(at.conversation.id)
    .answer(await asked.promise, "allowed");
  expect(await turn).toMatchObject({ outcome: "completed" });
  expect(act.runs).toHaveLength(1);
  expect(await at.conversation.facts(["permission_answer"])).toHaveLength(1);
});

test("a host without anybody to ask refuses, and says so to the model", async () => {
  const act = counter("act");
  const at = await agentRig([{ calls: [call("1", "act")] }, { text: "ok" }], {
    tools: [act],
    permission: () => "ask",
    whenAsked: "refuse",
  });
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed" });
  expect(act.runs).toEqual([]);
  expect((await said(at.conversation))[2]).toContain(refusalText("act", "nobody"));
});

test("an answer that was cut off by a crash is asked for anew; no half of it stands beside it", async () => {
  const at = await agentRig([{ text: "Once upon a time", until: never }]);
  await dies(at, (event) => JSON.stringify(event).includes('"type":"text"'));
  const next = at.another([{ text: "The whole story." }]);
  expect(await next.agent.continue("c")).toMatchObject({ outcome: "completed" });
  expect(await said(await next.holdfast.conversation("c"))).toEqual([
    "user: go",
    "assistant: The whole story.",
  ]);
});

test("a turn that was cancelled goes on behind what it had said", async () => {
  const at = await agentRig([{ text: "Once upon a time", until: never }, { text: "there was a fox." }]);
  await cancelledTurn(at);
  expect(await at.agent.continue("c")).toMatchObject({ outcome: "completed", text: "there was a fox." });
  expect(await said(at.conversation)).toEqual([
    "user: go",
    expect.stringMatching(/^assistant: Once/),
    `user: ${GO_ON}`,
    "assistant: there was a fox.",
  ]);
  await expect(at.agent.continue("c")).rejects.toMatchObject({
    code: "invalid_request",
    details: { completed: expect.any(String) },
  });
});

test("nothing to continue is said, and nothing is sent", async () => {
  const at = await agentRig([]);
  await expect(at.agent.continue("c")).rejects.toMatchObject({ code: "invalid_request" });
  expect(at.model.asked).toEqual([]);
});

test("words for the running turn, for after it and for the next prompt are told apart, each delivered once", async () => {
  const gate = Promise.withResolvers<string>();
  const at = await agentRig(
    [{ calls: [call("1", "wait")] }, { text: "second" }, { text: "third" }, { text: "fourth" }],
    { tools: [{ name: "wait", run: () => gate.promise }] },
  );
  const started = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", {
    onEvent: (event) => event.type === "update" && event.event.type === "tool" && started.resolve(),
  });
  await started.promise;
  expect(await at.agent.steer("c", "faster")).toMatchObject({ delivered: "now" });
  await at.agent.steer("c", "and then this", { when: "turn" });
  await at.agent.steer("c", "tomorrow", { when: "run" });
  gate.resolve("waited");
  await turn;
  expect(await said(at.conversation)).toEqual([
    "user: go",
    "assistant: wait({})",
    "toolResult: waited",
    "user: faster",
    "assistant: second",
    "user: and then this",
    "assistant: third",
  ]);
  expect(await at.conversation.queue()).toMatchObject([{ when: "run" }]);
  await at.agent.send("c", "today");
  expect((await said(at.conversation)).slice(-3)).toEqual([
    "user: tomorrow",
    "user: today",
    "assistant: fourth",
  ]);
  expect(await at.conversation.queue()).toEqual([]);
});

test("whoever took the conversation over is not disturbed: the one before stops, and nothing is left unheard", async () => {
  const gate = Promise.withResolvers<string>();
  const at = await agentRig([{ calls: [call("1", "wait"), call("2", "gone")] }], {
    tools: [{ name: "wait", run: () => gate.promise }],
  });
  const started = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", {
    onEvent: (event) => event.type === "update" && event.event.type === "tool" && started.resolve(),
  });
  await started.promise;
  const next = at.another([{ text: "mine now" }]);
  expect(await next.agent.continue("c")).toMatchObject({ outcome: "completed", text: "mine now" });
  gate.resolve("too late");
  await expect(turn).rejects.toThrow();
  expect((await said(at.conversation)).at(-1)).toBe("assistant: mine now");
});

test("a turn that is cancelled while a person is asked leaves no question behind", async () => {
  const at = await agentRig([{ calls: [call("1", "act")] }], {
    tools: [counter("act")],
    permission: () => "ask",
  });
  const asked = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", {
    onPermission: () => {
      asked.resolve();
      return never;
    },
  });
  await asked.promise;
  at.agent.cancel("c");
  expect(await turn).toMatchObject({ outcome: "interrupted", class: "cancelled" });
  expect(await at.conversation.facts(["permission_answer"])).toMatchObject([{ outcome: "cancelled" }]);
  expect((await at.agent.restore("c")).waiting).toEqual([]);
});

test("a continued turn under a key is gone on with once", async () => {
  const at = await agentRig([{ text: "half", until: never }, { text: "whole" }, { text: "never asked" }]);
  await cancelledTurn(at);
  const first = await at.agent.continue("c", { key: "k" });
  expect(await at.agent.continue("c", { key: "k" })).toMatchObject({ turn: first.turn, text: "whole" });
  expect(at.model.asked).toHaveLength(2);
});

test("a call that was not started is run also where the turn that went on with it was left as well", async () => {
  const look = counter("look");
  const at = await agentRig([{ text: "seen" }], { tools: [look] });
  await at.conversation.append([
    { type: "message", id: "p", message: { role: "user", content: [{ type: "text", text: "go" }] } },
    { type: "turn_start", turn: "t1", prompt: "p" },
    { type: "attempt", turn: "t1", model: "one" },
    {
      type: "message",
      message: { role: "assistant", content: [{ type: "toolCall", id: "1", name: "look", input: {} }] },
    },
    { type: "turn_end", turn: "t1", outcome: "interrupted", class: "cancelled" },
    { type: "turn_start", turn: "t2", prompt: "p" },
  ]);
  expect(await at.agent.continue("c")).toMatchObject({ turn: "t2", outcome: "completed", text: "seen" });
  expect(look.runs).toEqual([{}]);
  const intents = await at.conversation.facts(["tool_intent"]);
  expect(intents).toMatchObject([{ turn: "t1", step: 1, call: "1" }]);
});

test("whoever has moved the branch since goes on with nothing by mistake", async () => {
  const at = await agentRig([]);
  await at.conversation.append([
    { type: "message", id: "p", message: { role: "user", content: [{ type: "text", text: "go" }] } },
    { type: "turn_start", turn: "t1", prompt: "p" },
    { type: "message", id: "a", message: { role: "assistant", content: [{ type: "text", text: "half" }] } },
    { type: "turn_end", turn: "t1", outcome: "interrupted", class: "cancelled", node: "a" },
    { type: "message", id: "q", message: { role: "user", content: [{ type: "text", text: "else" }] } },
    { type: "turn_start", turn: "t2", prompt: "q" },
    { type: "leaf", target: "a" },
  ]);
  await expect(at.agent.continue("c")).rejects.toMatchObject({ code: "invalid_request" });
  expect(at.model.asked).toEqual([]);
});
