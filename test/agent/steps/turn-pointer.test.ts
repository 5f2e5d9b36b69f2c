/** The pointer that an engine keeps of a step: made from the log, and believed only where the log says the same. */
import { expect, test } from "vitest";
import { directSteps } from "#agent/steps/engine-steps";
import { checkPointer, readPointer } from "#agent/steps/turn-pointer";
import { parsePointer, type TurnPointer } from "#agent/steps/turn-pointer";
import type { Conversation } from "#conversation/conversation";
import { isLogError } from "#log/errors";
import { agentRig, counter } from "../rig.ts";

async function twoSteps(): Promise<{ conversation: Conversation; pointers: readonly TurnPointer[] }> {
  const { agent, conversation } = await agentRig(
    [
      { calls: [1, 2, 3].map((at) => ({ id: `c${at}`, name: at === 3 ? "gone" : "look", input: {} })) },
      { text: "Done." },
    ],
    { tools: [counter("look")] },
  );
  const steps = directSteps("t");
  const pointers: TurnPointer[] = [];
  const step: typeof steps.step = async (name, body) => {
    const value = await steps.step(name, body);
    pointers.push(parsePointer(value, name));
    return value;
  };
  await agent.send("c", "look", { steps: { ...steps, step } });
  return { conversation, pointers };
}

test("covers what the step wrote, and says what it used and ran", async () => {
  const { conversation, pointers } = await twoSteps();
  const [first, second] = pointers;
  const log = await Array.fromAsync(conversation.log());
  expect(log.slice((second?.fromSeq ?? 0) - 1, second?.toSeq).map(({ type }) => type)).toContain(
    "tool_intent",
  );
  expect([first?.executedLocalToolCount, second?.executedLocalToolCount]).toEqual([0, 2]);
  expect([first?.finishReason, second?.finishReason]).toEqual(["toolUse", "endTurn"]);
  expect(log.at(-1)?.id).toBe(second?.lastId);
  const found = await conversation.findAppend("t/turn:v1/c/2");
  expect(found === null ? null : await readPointer(conversation, found)).toEqual(second);
});

test.each([
  ["another last entry", { lastId: "other" }],
  ["another link", { link: "0".repeat(64) }],
  ["no link", { link: null }],
  ["a seq that is not there", { toSeq: 1_000 }],
  ["a seq in the middle of a batch", { toSeq: 2 }],
] as const)("is not believed with %s", async (_, wrong) => {
  const { conversation, pointers } = await twoSteps();
  const [first] = pointers;
  if (first === undefined) throw new Error("no step");
  await checkPointer(conversation, first);
  const refused = checkPointer(conversation, { ...first, ...wrong });
  await expect(refused).rejects.toSatisfy((error) => isLogError(error, "diverged"));
});

test("is read whatever the order of its members, and without those it does not know", async () => {
  const { pointers } = await twoSteps();
  const [first] = pointers;
  const turned = Object.fromEntries(Object.entries({ ...first, more: 1 }).toReversed());
  expect(parsePointer(turned, "turn:v1/c/1")).toEqual(first);
});
