import { expect, test } from "vitest";
import { Agent } from "#agent/index";
import { directSteps } from "#agent/steps/engine-steps";
import { openHoldfast } from "#index";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("a task that comes again in other words is told so: they were not sent; the same words are the same turn", async () => {
  await using holdfast = await openHoldfast({ store: "memory:" });
  await using agent = new Agent(holdfast, { model: "sim" });
  const { id } = await holdfast.create();
  const image = [
    { type: "text", text: "look" },
    { type: "image", mediaType: "image/png", data: PIXEL },
  ] as const;
  for (const [task, words] of [
    ["a", "remember a=1"],
    ["b", image],
  ] as const) {
    const send = (given: string | typeof image) => agent.send(id, given, { steps: directSteps(task) });
    const first = await send(words);
    expect(first.repeated).toBeUndefined();
    const again = await send(words);
    expect([again.turn, again.repeated]).toEqual([first.turn, undefined]);
    const other = await send("something else");
    expect(other).toMatchObject({ turn: first.turn, text: first.text, repeated: { differs: true } });
  }
  await agent.send(id, image, { key: "k" });
  expect((await agent.send(id, image, { key: "k" })).repeated).toEqual({ differs: false });
});
