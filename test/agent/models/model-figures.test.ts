/** A model that is handed in with figures that are none: found before anything is asked, and so before anything is paid. */
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { AgentModel } from "#agent/models/model";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryStore } from "#stores/in-memory/index";
import { ScriptedModel } from "../scripted-model.ts";

const good = { input: 1, output: 2 };
const odd: readonly (readonly [what: string, more: object])[] = [
  ["a price without output", { price: { input: 1 } }],
  ["a price in words", { price: { input: "3", output: 2 } }],
  ["a price that is no number", { price: { ...good, cacheRead: Number.NaN } }],
  ["a price below nothing", { price: { ...good, cacheWrite: -1 } }],
  ["a price of another kind", { price: "cheap" }],
  ["a window of nothing", { window: 0 }],
  ["a price without end", { price: { input: Number.POSITIVE_INFINITY, output: 2 } }],
  ["a window in words", { window: "200k" }],
  ["an output that is no whole number", { maxOutput: 1.5 }],
  ["no name", { id: " " }],
];

const made = (more: object): { readonly model: ScriptedModel; readonly given: AgentModel } => {
  const model = new ScriptedModel([{ text: "Hello." }]);
  return { model, given: { id: "test/one", model, window: null, maxOutput: null, price: null, ...more } };
};
const holdfast = (): Holdfast => new Holdfast(inMemoryStore(), "default");
const refused = expect.objectContaining({ code: "invalid_request" }) as Error;

test.each(odd)("%s is refused when the agent is made", (_, more) => {
  expect(() => new Agent(holdfast(), { model: made(more).given })).toThrow(refused);
});

test.each(odd)("%s is refused with a prompt, and the model is not asked", async (_, more) => {
  const { model, given } = made(more);
  const space = holdfast();
  const chat = await space.create({ id: "c" });
  await using agent = new Agent(space, { model: "sim", instructions: false });
  await expect(agent.send(chat, "hi", { model: given })).rejects.toThrow(refused);
  await using opening = new Agent(space, {
    model: "mine/one",
    openModel: async () => given,
    instructions: false,
  });
  await expect(opening.send(chat, "hi")).rejects.toThrow(refused);
  expect(model.asked).toEqual([]);
});

test("a model without window, price and output is asked, and its cost is unknown", async () => {
  const { model } = made({});
  const space = holdfast();
  const chat = await space.create({ id: "c" });
  await using agent = new Agent(space, {
    model: { id: "test/one", model } as unknown as AgentModel,
    instructions: false,
  });
  const result = await agent.send(chat, "hi");
  expect(result).toMatchObject({ outcome: "completed", usage: { outputTokens: 10 } });
  expect(result.usage).not.toHaveProperty("costMicros");
});
