/** Messages that were kept elsewhere, in OpenAI's shape: into a conversation and out again. */
import { expect, test } from "vitest";
import { fromOpenAI, loadImages, type OpenAIMessage, toOpenAI } from "#transfer/messages/index";
import { agentRig, said } from "../rig.ts";

const data = Buffer.from("a dot").toString("base64");
const call = (id: string, args = '{"path": "a"}') => ({
  id,
  type: "function" as const,
  function: { name: "look", arguments: args },
});
const whole: OpenAIMessage[] = [
  { role: "user", content: "look" },
  { role: "assistant", content: "Looking.", tool_calls: [call("a"), call("b", '{"b":1.0}')] },
  { role: "tool", tool_call_id: "a", content: "a tree" },
  { role: "tool", tool_call_id: "b", content: "a house" },
  { role: "assistant", content: "A tree and a house." },
  {
    role: "user",
    content: [
      { type: "text", text: "and here?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
    ],
  },
];

test("a list in OpenAI's shape goes in and comes out as it was, calls, results and images; no model is called", async () => {
  const at = await agentRig([]);
  const { repairs } = await at.agent.addMessages("c", fromOpenAI(whole).messages);
  expect(repairs).toEqual([]);
  const { messages, issues } = await at.conversation.context();
  expect(issues).toEqual([]);
  expect(JSON.stringify(await at.conversation.branch())).not.toContain(data);
  const branch = (await at.conversation.branch()).flatMap((entry) =>
    entry.type === "message" ? [entry.message] : [],
  );
  expect(toOpenAI(await loadImages(branch, at.conversation))).toEqual(whole);
  expect(messages).toHaveLength(whole.length);
  expect(at.model.asked).toEqual([]);
  await at.agent.send("c", "go on");
  expect(at.model.asked[0]?.prompt.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
    "user",
    "user",
  ]);
});

test("broken pairs are mended and reported, and a model is sent whole ones", async () => {
  const at = await agentRig([]);
  const broken: OpenAIMessage[] = [
    { role: "tool", tool_call_id: "x", content: "of nothing" },
    { role: "user", content: "look" },
    { role: "assistant", content: null, tool_calls: [call("a"), call("a"), call("c")] },
    { role: "tool", tool_call_id: "a", content: "one" },
    { role: "tool", tool_call_id: "a", content: "two" },
    { role: "tool", tool_call_id: "a", content: "three" },
    { role: "user", content: "well?" },
  ];
  const { repairs } = await at.agent.addMessages("c", fromOpenAI(broken).messages);
  expect(repairs.map(({ kind, call: id, at: place }) => `${kind} ${id} ${place}`)).toEqual([
    "orphan_result x 0",
    "renamed_call a 2",
    "missing_result c 2",
    "duplicate_result a 5",
  ]);
  const told = await said(at.conversation);
  expect(told.slice(0, 4)).toEqual([
    "user: look",
    'assistant: look({"path":"a"}) look({"path":"a"}) look({"path":"a"})',
    "toolResult: one",
    "toolResult: two",
  ]);
  expect(told[4]).toContain("Outcome unknown");
  expect((await at.conversation.context()).issues).toEqual([]);
  const again = toOpenAI((await at.conversation.context()).messages);
  expect((await at.agent.addMessages("c", fromOpenAI(again).messages)).repairs).toEqual([]);
});

test("no messages are no entry", async () => {
  const at = await agentRig([]);
  const { headSeq } = await at.conversation.head();
  expect(await at.agent.addMessages("c", [])).toEqual({ repairs: [] });
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
});
