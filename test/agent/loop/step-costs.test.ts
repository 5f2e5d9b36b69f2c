/** What a step of the loop costs: counted in calls of the store and in texts that are made ready for a model. */
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { callOptionsOf } from "#agent/models/request";
import { directSteps } from "#agent/steps/engine-steps";
import { Holdfast } from "#conversation/holdfast";
import type { ContentBlock } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";
import { decorateStore } from "#store/decorate";
import type { AppendRequest } from "#store/requests";
import { inMemoryStore } from "#stores/in-memory/index";
import { call, request, result, said, wire } from "../../support/context-messages.ts";
import { stillClock } from "../../support/still-clock.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { counter } from "../rig.ts";

type Counts = { readonly [verb: string]: number };

/** How often each verb of the store is called by a turn of so many steps with a tool. */
async function verbsOf(steps: number, durable: boolean): Promise<Counts> {
  const counts: { [verb: string]: number } = {};
  const store = decorateStore(inMemoryStore(), {
    around: (done, verb) => {
      counts[verb] = (counts[verb] ?? 0) + 1;
      return done();
    },
    verbs: (space) => ({
      append: (asked: AppendRequest) => {
        counts[asked.durability] = (counts[asked.durability] ?? 0) + 1;
        return space.append(asked);
      },
    }),
  });
  const holdfast = new Holdfast(store, "default");
  await holdfast.create({ id: "c" });
  const looks = Array.from({ length: steps }, (_, n) => ({
    text: "I look",
    calls: [{ id: `c${n}`, name: "look", input: {} }],
  }));
  const agent = new Agent(holdfast, {
    model: new ScriptedModel([...looks, { text: "done" }]),
    tools: [counter("look", { effect: "none" })],
    instructions: false,
    clock: stillClock, // words are written with the answer, not when they have waited
  });
  await agent.send("c", "go", durable ? { steps: directSteps("task") } : {});
  return counts;
}

test.each([
  ["a step with a tool", false, { relaxed: 1, full: 2, findAppend: 2 }],
  ["a durable step with a tool", true, { relaxed: 1, full: 2, findAppend: 3, read: 1 }],
] as const)(
  "%s is a record of the attempt, an answer and a result, and asks the log for what could be there already",
  async (_, durable, expected) => {
    const [few, many] = [await verbsOf(2, durable), await verbsOf(12, durable)];
    const perStep = Object.entries(many).map(([verb, count]) => [verb, (count - (few[verb] ?? 0)) / 10]);
    expect(Object.fromEntries(perStep.filter(([, count]) => count !== 0))).toEqual(expected);
  },
);

/** A turn of so many steps with a tool; `looks`: how often one of its texts was looked at. */
function longTurn(steps: number): { messages: ContextMessage[]; looks: () => number } {
  let looks = 0;
  const words = (text: string): ContentBlock => ({
    type: "text",
    get text() {
      return (looks++, text);
    },
  });
  const messages = Array.from({ length: steps }, (_, n) => [
    said([words(`step ${n}`), call(`c${n}`)]),
    result(`c${n}`, [words(`seen ${n}`)]),
  ]).flat();
  return { messages, looks: () => looks };
}

test("a request looks at each message as often in a long turn as in a short one", () => {
  const looksPerStep = (steps: number): number => {
    let looks = 0;
    const messages = new Proxy(longTurn(steps).messages, {
      get: (list, at): unknown => (looks++, Reflect.get(list, at)),
    });
    callOptionsOf(wire("openai").asked, request(messages));
    return Math.round(looks / steps);
  };
  expect(looksPerStep(400)).toBe(looksPerStep(40));
});

test("the request of a step reads only the texts that came since the one before, and says the same as one made anew", () => {
  const { asked } = wire("anthropic");
  const { messages, looks } = longTurn(100);
  callOptionsOf(asked, request(messages.slice(0, 2)));
  const perStep = looks();
  callOptionsOf(asked, request(messages.slice(0, -2)));
  const before = looks();
  const { prompt } = callOptionsOf(asked, request(messages));
  expect([before, looks() - before]).toEqual([99 * perStep, perStep]);
  expect(prompt).toEqual(callOptionsOf(asked, request(longTurn(100).messages)).prompt);
});
