/** What is done to a conversation between its turns: a call once more, another branch, a summary, a fresh start. */
import { expect, test } from "vitest";
import type { Tool } from "#turn/effects/tool";
import { agentRig, counter, said } from "../rig.ts";

const call = (id: string, name: string, input: unknown = {}) => ({ id, name, input });

test("a call of the past is made once more as a new, recorded call; the old one and its result stay", async () => {
  const look = counter("look");
  const at = await agentRig([{ calls: [call("1", "look", { at: "x" })] }, { text: "ok" }], { tools: [look] });
  await at.agent.send("c", "go");
  const answer = (await at.conversation.branch()).find(
    (entry) => entry.type === "message" && entry.message.role === "assistant",
  );
  const result = await at.agent.rerun("c", { entry: answer?.id ?? "", call: "1" });
  expect(result).toMatchObject({ isError: false, content: [{ text: "look 2" }] });
  expect(look.runs).toEqual([{ at: "x" }, { at: "x" }]);
  expect(at.model.asked).toHaveLength(2);
  expect((await said(at.conversation)).slice(-2)).toEqual([
    'assistant: look({"at":"x"})',
    "toolResult: look 2",
  ]);
  expect((await at.conversation.effects()).map(({ state }) => state)).toEqual(["done", "done"]);
  expect(await at.conversation.openTurn()).toBeNull();
  await expect(at.agent.rerun("c", { entry: answer?.id ?? "", call: "9" })).rejects.toMatchObject({
    code: "invalid_request",
    details: { call: "9" },
  });
});

test("a call that is made once more gives its result whole, with what is kept beside it", async () => {
  const look: Tool = { name: "look", run: async () => ({ content: "seen", details: { rows: 3 } }) };
  const at = await agentRig([{ calls: [call("1", "look")] }, { text: "ok" }], { tools: [look] });
  await at.agent.send("c", "go");
  const answer = (await at.conversation.branch()).find(
    (entry) => entry.type === "message" && entry.message.role === "assistant",
  );
  const result = await at.agent.rerun("c", { entry: answer?.id ?? "", call: "1" });
  expect(result).toMatchObject({ isError: false, details: { rows: 3 } });
});

test("what a rule forbids is not run again either", async () => {
  const look = counter("look");
  const at = await agentRig([{ calls: [call("1", "look")] }, { text: "ok" }], { tools: [look] });
  await at.agent.send("c", "go");
  const answer = (await at.conversation.branch()).find(
    (entry) => entry.type === "message" && entry.message.role === "assistant",
  );
  const strict = at.another([], { permission: () => "deny" });
  expect(await strict.agent.rerun("c", { entry: answer?.id ?? "", call: "1" })).toMatchObject({
    isError: true,
  });
  expect(look.runs).toHaveLength(1);
});

test("a branch is left with a summary of what only it has; one that fails leaves the conversation where it was", async () => {
  const at = await agentRig([
    { text: "first answer" },
    { text: "second answer" },
    { text: "## Goal\nTo see.\n## Done\nBoth were said." },
    { text: "third" },
    { text: "## Goal", finish: "length" },
  ]);
  await at.agent.send("c", "one");
  const { leaf } = await at.conversation.head();
  await at.agent.send("c", "two");
  expect(await at.agent.goTo("c", leaf.id, { summarise: true })).toMatchObject({ state: "summarised" });
  expect((await said(at.conversation)).at(-1)).toContain("## Goal\nTo see.");
  await at.agent.send("c", "three");
  const before = await at.conversation.head();
  expect(await at.agent.goTo("c", leaf.id, { summarise: true })).toMatchObject({ state: "failed" });
  expect((await at.conversation.head()).leaf.id).toBe(before.leaf.id);
  expect(await at.agent.goTo("c", leaf.id)).toEqual({ state: "moved" });
  expect((await at.conversation.head()).leaf.id).toBe(leaf.id);
});

test("clearing says which skills it ended; adding a message asks nobody", async () => {
  const at = await agentRig([{ text: "fresh" }]);
  await at.conversation.append({ type: "skill_change", skills: [{ name: "pirate" }] });
  await at.agent.addMessage("c", "user", "remember me");
  await at.agent.addMessage("c", "assistant", "I will");
  expect(at.model.asked).toHaveLength(0);
  expect(await at.agent.clearHistory("c")).toEqual({ deactivated: ["pirate"] });
  expect((await at.agent.restore("c")).skills).toEqual([]);
  await at.agent.send("c", "hi");
  expect(await said(at.conversation)).toEqual(["user: hi", "assistant: fresh"]);
});

test("a turn whose context is too long for the model is compacted and asked again, once", async () => {
  const tooLong = Object.assign(new Error("prompt is too long: 250000 tokens > 200000 maximum"), {
    statusCode: 400,
  });
  const at = await agentRig(
    [
      { text: "a".repeat(4_000) },
      { text: "b".repeat(4_000) },
      { error: tooLong },
      { text: "## Goal\nLetters.\n## Done\nMany a and b." },
      { text: "short now" },
    ],
    {
      compaction: { keepTokens: 200 },
    },
  );
  await at.agent.send("c", "one");
  await at.agent.send("c", "two");
  const result = await at.agent.send("c", "three", at.host);
  expect(result).toMatchObject({ outcome: "completed", text: "short now" });
  expect(at.events.map(({ type }) => type)).toContain("compacted");
  expect((await said(at.conversation))[0]).toContain("Summary of the conversation so far");
});
