/** A model that cannot answer is replaced by the next one, before anybody has seen a word; the log says which answered. */
import { expect, test } from "vitest";
import type { AgentOptions } from "#agent/agent-options";
import { directSteps } from "#agent/steps/engine-steps";
import { systemClock } from "#conversation/clock";
import type { Entry } from "#log/entry";
import { agentRig, counter } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";

const failure = (statusCode: number, more: object = {}): Error =>
  Object.assign(new Error("not now"), { name: "AI_APICallError", statusCode, isRetryable: true, ...more });
const overloaded = failure(529);
const limited = failure(429, { responseHeaders: { "retry-after": "3600" } });
/** It does not wait between two tries. */
const clock: AgentOptions["clock"] = {
  ...systemClock,
  sleep: (ms, signal) => (ms < 9_000 ? Promise.resolve() : systemClock.sleep(ms, signal)),
};

function attempts(facts: readonly Entry[]): readonly unknown[] {
  return facts.map((fact) =>
    fact.type === "attempt" ? fact.model : fact.type === "attempt_end" ? `${fact.model}: ${fact.class}` : "",
  );
}

test.each([
  ["overloaded", overloaded],
  ["at its limit", limited],
  ["out of credit", failure(402)],
  [
    "not reachable",
    Object.assign(new Error("connect ECONNREFUSED"), { name: "AI_APICallError", isRetryable: true }),
  ],
])("a model that is %s is replaced at once, and asked first again in the next turn", async (_, error) => {
  const two = new ScriptedModel([{ text: "from two" }], "two");
  const rig = await agentRig([{ error }, { text: "from one" }], { fallbackModels: [two] });
  const first = await rig.agent.send(rig.conversation, "hello", rig.host);
  expect(first).toMatchObject({ outcome: "completed", text: "from two", model: "scripted/two" });
  const facts = await rig.conversation.facts(["attempt", "attempt_end"]);
  expect(attempts(facts)[0]).toBe("scripted/one");
  expect(attempts(facts)[1]).toMatch(/^scripted\/one: /);
  expect(attempts(facts)[2]).toBe("scripted/two");
  expect(rig.events.some(({ type }) => type === "lost")).toBe(true);
  const answer = (await rig.conversation.branch()).findLast(({ type }) => type === "message");
  expect(answer).toMatchObject({ message: { model: "scripted/two" } });
  expect((await rig.conversation.settings()).model).toBe("scripted/one");
  expect(await rig.agent.send(rig.conversation, "again")).toMatchObject({
    text: "from one",
    model: "scripted/one",
  });
});

test.each([
  ["alone", undefined],
  ["as durable steps", directSteps("task")],
])("the rest of a turn %s stays with the model that answered; its tools run once", async (_, steps) => {
  const look = counter("look");
  const two = new ScriptedModel([{ calls: [{ id: "1", name: "look", input: {} }] }, { text: "seen" }], "two");
  const rig = await agentRig([{ error: overloaded }], { fallbackModels: [two], tools: [look] });
  expect(await rig.agent.send(rig.conversation, "look", steps === undefined ? {} : { steps })).toMatchObject({
    text: "seen",
    model: "scripted/two",
  });
  expect([rig.model.asked.length, two.asked.length, look.runs.length]).toEqual([1, 2, 1]);
});

test("each is tried once, in order; where all fail the last is asked as if it were alone, and what it says counts", async () => {
  const two = new ScriptedModel([{ error: overloaded }], "two");
  const three = new ScriptedModel([{ error: limited }], "three");
  const rig = await agentRig([{ error: overloaded }], { fallbackModels: [two, three], clock });
  expect(await rig.agent.send(rig.conversation, "hello")).toMatchObject({
    outcome: "failed",
    class: "limit",
  });
  expect([rig.model, two, three].map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
});

test("an answer that broke off after a word was shown, and a request that is wrong, are not another model's", async () => {
  const two = new ScriptedModel([{ text: "from two" }], "two");
  const shown = await agentRig([{ text: "half of it", finish: "error" }, { text: "whole" }], {
    fallbackModels: [two],
    clock,
  });
  expect(await shown.agent.send(shown.conversation, "hello")).toMatchObject({ model: "scripted/one" });
  const wrong = await agentRig([{ error: failure(401, { isRetryable: false }) }], { fallbackModels: [two] });
  expect(await wrong.agent.send(wrong.conversation, "hello")).toMatchObject({ class: "auth" });
  expect(two.asked).toEqual([]);
});

test("a fallback that cannot be opened, or whose price is not known where a cost is limited, is refused before anything is written", async () => {
  const rig = await agentRig([{ text: "fine" }], { fallbackModels: ["nobody/nothing"] });
  const { headSeq } = await rig.conversation.head();
  const refused = { code: "invalid_request" };
  await expect(rig.agent.send(rig.conversation, "hello")).rejects.toMatchObject(refused);
  const unpriced = await agentRig([], { model: "sim", fallbackModels: [new ScriptedModel([], "two")] });
  const limit = { maxCostMicros: 10 };
  await expect(unpriced.agent.send(unpriced.conversation, "hello", limit)).rejects.toMatchObject(refused);
  expect((await rig.conversation.head()).headSeq).toBe(headSeq);
});
