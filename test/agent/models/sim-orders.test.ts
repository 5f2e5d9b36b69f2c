import { expect, test } from "vitest";
import { orderOf, recallFact } from "#agent/models/sim-orders";
import { Holdfast } from "#conversation/holdfast";
import { simulatedAgent } from "#edges/cli/serve/simulated-agent";
import { inMemoryStore } from "#stores/in-memory/index";
import { SimWorld } from "#testing/index";

test.each([
  ["My name is Ada", "remember name=Ada"],
  ["my favourite colour is dark blue.", "remember favourite_colour=dark blue"],
  ["Remember that my name is Ada Lovelace!", "remember name=Ada Lovelace"],
  ["What is my name?", "recall name"],
  ["what's my favourite colour again?", "recall favourite_colour"],
  ["So what was my name", "recall name"],
  // No orders of this kind, and orders already.
  ["My oh my", "My oh my"],
  ["Is my name Ada?", "Is my name Ada?"],
  ["What is my purpose in this, and what is yours?", "What is my purpose in this, and what is yours?"],
  ["remember name=Ada", "remember name=Ada"],
])("%s is understood as %s", (words, order) => {
  expect(orderOf(words)).toBe(order);
});

test("what was told last counts, in whichever way it was told", () => {
  expect(recallFact("name", ["> My name is Ada Lovelace.", "What is my name?"])).toBe("Ada Lovelace");
  expect(recallFact("name", ["My name is Ada", "remember name=Bea"])).toBe("Bea");
  expect(recallFact("name", ["remember name=Bea", "my name is Ada"])).toBe("Ada");
  expect(recallFact("pet_name", ["my pet name is Rex; my name is Ada"])).toBe("Rex");
  expect(recallFact("name", ["what my name is, nobody said"])).toBe(null);
});

test("a fact in a person's own words is known by the next session, too", async () => {
  const world = new SimWorld();
  const holdfast = new Holdfast(world.store(inMemoryStore()), "default");
  const agent = simulatedAgent(holdfast, world);
  const chat = await holdfast.create();
  world.script({ kind: "crash", phase: "text" });
  await agent.send(chat, "My name is Ada Lovelace");
  world.script({ kind: "expire", phase: "start" });
  expect((await agent.send(chat, "What is my name?")).text).toBe("Ada Lovelace");
});
