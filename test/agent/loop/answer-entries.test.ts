/** A step's answer as entries and as what a loop goes on by: the one function of the live loop, of steps and of replays. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ContentBlock, type ToolResultMessage, assistant, toolResult, user } from "#log/message";
import type { ModelAnswer } from "#agent/models/model";
import { answerEntries, CUT_OFF_CALL, stepFacts, answerPlace, openCalls } from "#agent/loop/answer-entries";
import { applyStateUpdate, stateAfter } from "#agent/agent-options";
import type { Entry, EntryBody } from "#log/entry";

const tools = new Map([
  ["look", {}],
  ["mail", { final: true }],
]);
const call = (id: string, name = "look"): ContentBlock => ({ type: "toolCall", id, name, input: {} });
const answer = (content: readonly ContentBlock[], more: Partial<ModelAnswer> = {}): ModelAnswer => ({
  content,
  brokenCalls: [],
  finish: "calls",
  usage: { inputTokens: 3 },
  warnings: [],
  ...more,
});

test("an answer is one message with its model, its usage and why it stopped", () => {
  const { message, calls, refused } = answerEntries(
    answer([{ type: "text", text: "hi" }], { finish: "stop" }),
    {
      model: "sim/a",
      tools,
    },
  );
  expect(message).toEqual({
    role: "assistant",
    content: [{ type: "text", text: "hi" }],
    model: "sim/a",
    stopReason: "endTurn",
    usage: { inputTokens: 3 },
  });
  expect([calls, refused]).toEqual([[], []]);
});

test("calls of tools that are not there, broken ones, and all that the output limit cut are answered and not run", () => {
  const read = answerEntries(answer([call("a"), call("b", "gone"), call("c")], { brokenCalls: ["c"] }), {
    model: "sim/a",
    tools,
  });
  expect(read.calls.map(({ id }) => id)).toEqual(["a"]);
  expect(read.refused.map(({ toolCallId }) => toolCallId)).toEqual(["b", "c"]);
  expect(JSON.stringify(read.refused[0])).toContain('there is no tool \\"gone\\". The tools are: look, mail');
  const cut = answerEntries(answer([call("a")], { finish: "length" }), { model: "sim/a", tools });
  expect(cut.calls).toEqual([]);
  expect(cut.refused).toMatchObject([{ isError: true, content: [{ text: CUT_OFF_CALL }] }]);
});

test("a rule marks answers that are not for people's history", () => {
  const isInternal = ({ content }: { content: readonly ContentBlock[] }): boolean => content.length === 0;
  expect(answerEntries(answer([]), { model: "m/a", tools, isInternal }).message.internal).toBe(true);
  expect(
    answerEntries(answer([call("a")]), { model: "m/a", tools, isInternal }).message.internal,
  ).toBeUndefined();
});

test("a tool that ends the turn ends it when it ran well, and only then", () => {
  const result = (isError: boolean): ToolResultMessage => ({
    role: "toolResult",
    toolCallId: "a",
    toolName: "mail",
    isError,
    content: [],
  });
  const step = { finish: "calls", called: true } as const;
  expect(stepFacts(step, [result(false)], { tools })).toEqual({
    finish: "calls",
    toolsRun: 1,
    finalTool: "mail",
    continues: false,
  });
  expect(stepFacts(step, [result(true)], { tools })).toMatchObject({ finalTool: null, continues: true });
  expect(stepFacts({ finish: "paused", called: false }, [], { tools }).continues).toBe(true);
  expect(stepFacts({ finish: "stop", called: false }, [], { tools }).continues).toBe(false);
});

const results = fc.array(
  fc.record({
    update: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.option(fc.integer()), { maxKeys: 3 }),
    isError: fc.boolean(),
  }),
  { maxLength: 12 },
);

test("the state that is applied result by result is the one that is derived from all of them", () => {
  fc.assert(
    fc.property(results, (given) => {
      const messages = given.map(({ update, isError }): ToolResultMessage => ({
        role: "toolResult",
        toolCallId: "x",
        isError,
        content: [],
        details: { stateUpdate: update },
      }));
      let applied: unknown = null;
      for (const message of messages) applied = applyStateUpdate(applied as never, message);
      expect(stateAfter(null, messages)).toEqual(applied);
      // Whatever was stored in between, the rest leads to the same.
      for (let at = 0; at <= messages.length; at++)
        expect(stateAfter(stateAfter(null, messages.slice(0, at)), messages.slice(at))).toEqual(applied);
    }),
  );
});

function branch(bodies: readonly EntryBody[]): readonly Entry[] {
  return bodies
    .map((body, at) => ({ ...body, seq: at + 1, id: body.id ?? `e${at}` }) as unknown as Entry)
    .toReversed();
}

test("open calls are those of the last answer without a result; what a person says passes them over", () => {
  const asked = assistant([call("a"), call("b"), call("c")]);
  const state: EntryBody = { type: "state_change", state: {} };
  expect(
    openCalls(branch([user("go"), asked, toolResult("b", "x"), state]))?.calls.map(({ id }) => id),
  ).toEqual(["a", "c"]);
  expect(
    openCalls(branch([asked, toolResult("a", ""), toolResult("b", ""), toolResult("c", "")])),
  ).toBeNull();
  expect(openCalls(branch([asked, user("never mind")]))).toBeNull();
  expect(openCalls(branch([asked, { type: "compaction", summary: "" }]))).toBeNull();
});

test("a step is known by the attempts of its turn up to the answer", () => {
  const facts = branch([
    { type: "turn_start", turn: "one" },
    { type: "attempt", turn: "one", model: "a/b" },
    { type: "turn_start", turn: "two" },
    { type: "attempt", turn: "two", model: "a/b" },
    { type: "attempt", turn: "two", model: "a/b" },
    { type: "attempt", turn: "two", model: "a/b" },
  ]).toReversed();
  expect(answerPlace(facts, 100)).toEqual({ turn: "two", step: 3 });
  expect(answerPlace(facts, 5)).toEqual({ turn: "two", step: 1 });
  expect(answerPlace(facts, 3)).toEqual({ turn: "one", step: 1 });
  expect(answerPlace([], 3)).toBeNull();
});
