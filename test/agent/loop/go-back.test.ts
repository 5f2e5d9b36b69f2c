/** Going back to a message and saying it differently. */
import { expect, test } from "vitest";
import { agentRig, counter, said } from "../rig.ts";

test("other words take the place of a message, and a turn that was left open stays where it was", async () => {
  const tool = counter("send");
  const rig = await agentRig([{ text: "first" }, { calls: [{ id: "a", name: "send", input: {} }] }], {
    tools: [tool],
    permission: () => "ask",
  });
  const { agent, conversation } = rig;
  await agent.send(conversation, "one");
  const { prompt, outcome } = await agent.send(conversation, "two");
  expect(outcome).toBe("waiting");
  const later = rig.another([{ text: "third" }]);
  await later.agent.goBackTo("c", prompt);
  await later.agent.send("c", "three");
  expect(await said(conversation)).toEqual([
    "user: one",
    "assistant: first",
    "user: three",
    "assistant: third",
  ]);
  expect(await conversation.openTurn()).toBeNull();
  expect(tool.runs).toEqual([]);
});

test("what is no message of the user's cannot be said differently", async () => {
  const { agent, conversation } = await agentRig([{ text: "first" }]);
  await agent.send(conversation, "one");
  const { leaf } = await conversation.head();
  await expect(agent.goBackTo(conversation, leaf.id)).rejects.toMatchObject({ code: "invalid_request" });
  expect((await conversation.head()).leaf.id).toBe(leaf.id);
});

test("tools are those of the folder a conversation is worked on in, and restore knows them", async () => {
  const { holdfast, agent } = await agentRig([{ calls: [{ id: "a", name: "here", input: {} }] }], {
    tools: (cwd) => [counter(cwd === null ? "nowhere" : "here")],
  });
  const placed = await holdfast.create({ id: "placed", cwd: import.meta.dirname });
  expect((await agent.send(placed, "go")).outcome).toBe("completed");
  expect((await agent.restore(placed)).missing).toEqual([]);
  await agent.note(placed, [{ type: "model_change", model: "nobody/has-it" }]);
  expect((await agent.restore(placed)).missing).toMatchObject([{ kind: "model", name: "nobody/has-it" }]);
});
