/**
 * A run with seeds sends them, the messages of the run it continues, and its own: in whichever process, and after whatever has
 * died. What `hydrate` says of it is what the model was sent.
 */
import { expect, test } from "vitest";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { judgeConversation } from "#testing/index";
import { agentRig, counter, inShort, said } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { asked, EMAIL, SEEDED, SEEDS } from "./seed-rig.ts";

const call = (id: string, name: string) => ({ id, name, input: {} });

test("a run with seeds sends them and then its own; the conversation's context has none of them", async () => {
  const at = await agentRig([{ text: "Hello." }, { calls: [call("1", "look")] }, { text: "Yes, paid." }], {
    tools: [counter("look")],
    system: "You chat.",
  });
  await at.agent.send("c", "hi");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  const result = await at.agent.carryRun("c", run);
  expect(result).toMatchObject({ outcome: "completed", text: "Yes, paid.", run });
  const [, first, second] = at.model.asked.map(asked);
  expect(first).toEqual(["system: You answer emails.", ...SEEDED]);
  expect(second).toEqual([...(first ?? []), "assistant: [tool-call]", "tool: [tool-result]"]);
  const { seeds, context, totals, messages } = await at.holdfast.hydrate(run);
  expect(seeds).toEqual(SEEDS);
  expect(context.system).toBe("You answer emails.");
  expect(context.messages.map(inShort)).toEqual([
    ...SEEDED,
    "assistant: look({})",
    "toolResult: look 1",
    "assistant: Yes, paid.",
  ]);
  expect(messages).toHaveLength(3);
  expect(totals).toMatchObject({ steps: 2, prompts: 1, usage: { outputTokens: 20 } });
  expect((await said(at.conversation)).join()).not.toContain("ann");
  // A prompt without seeds sends what the conversation says, and the prompt is made anew.
  await at.agent.send("c", "thanks");
  const last = at.model.asked.at(-1);
  expect(last && asked(last)[0]).toMatch(/^system: You chat\./);
  expect(last && asked(last).slice(1, 3)).toEqual(["user: hi", "assistant: Hello."]);
  expect(last && asked(last).join()).not.toContain("ann");
});

test("where a conversation begins with the answer to seeds, its context says that something was answered", async () => {
  const at = await agentRig([{ text: "Yes." }, { text: "Sure." }]);
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  await at.agent.carryRun("c", run);
  await at.agent.send("c", "thanks");
  const opening = "user: The input that this message answers is not part of the conversation.";
  const lines = [opening, "assistant: Yes.", "user: thanks"];
  // The loop has kept and extended its context; whoever reads it anew says the same.
  expect(at.model.asked[1] && asked(at.model.asked[1]).slice(1)).toEqual(lines);
  expect(await said(at.conversation)).toEqual([...lines, "assistant: Sure."]);
  expect((await at.holdfast.hydrate(run)).context.messages.map(inShort)).toEqual([
    ...SEEDED,
    "assistant: Yes.",
  ]);
  const { run: next } = await at.agent.startRun("c", { type: "email", id: "mail-8" }, { seeds: SEEDS });
  await at.agent.carryRun("c", next);
  expect((await said(at.conversation)).filter((line) => line === opening)).toHaveLength(1);
  expect(await judgeConversation(at.conversation)).toEqual([]);
});

test("a run that goes on with one that has seeds shares them, and sends what was said in it", async () => {
  const at = await agentRig([{ text: "Yes." }, { text: "By card." }, { text: "Anew." }, { text: "Bare." }]);
  const first = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  await at.agent.carryRun("c", first.run);
  const chat = await at.agent.startRun("c", { type: "chat", id: "1" });
  await at.agent.send("c", "How?", { run: chat.run });
  expect(at.model.asked[1] && asked(at.model.asked[1])).toEqual([
    "system: You answer emails.",
    ...SEEDED,
    "assistant: Yes.",
    "user: How?",
  ]);
  const rendered = [{ role: "user", content: "all of it, anew" }] as const;
  const email = await at.agent.startRun("c", { type: "email", id: "mail-8" }, { seeds: rendered });
  await at.agent.carryRun("c", email.run);
  expect(at.model.asked[2] && asked(at.model.asked[2]).slice(1)).toEqual(["user: all of it, anew"]);
  const [one, two, three] = await at.conversation.runs();
  expect(two).toMatchObject({ continues: first.run, seed: one?.seed, seedCount: 4, steps: 1, prompts: 1 });
  expect(three).toMatchObject({ continues: null, seedCount: 1 });
  expect(await at.conversation.facts(["seed"])).toHaveLength(2);
});

test("a prompt of a run with seeds comes behind them", async () => {
  const at = await agentRig([]);
  await at.agent.send("c", "Please sort this out", { run: { trigger: EMAIL, seeds: SEEDS } });
  expect(at.model.asked[0] && asked(at.model.asked[0])).toEqual([
    "system: You answer emails.",
    ...SEEDED,
    "user: Please sort this out",
  ]);
});

test("a run with seeds that grows too long summarises what it said itself; its seeds stay word for word", async () => {
  const long = "word ".repeat(1_500);
  let looks = 0;
  // A summary is asked for without tools.
  const answer = ({ tools }: LanguageModelV4CallOptions) => {
    if (tools === undefined) return { text: "## Goal\n\nThey looked around." };
    return looks++ < 6 ? { text: long, calls: [call(`${looks}`, "look")] } : { text: "Done." };
  };
  const model = new ScriptedModel(Array.from({ length: 20 }, () => answer));
  const at = await agentRig([], {
    model: { id: "scripted/one", model, window: 8_000, maxOutput: null, price: null },
    tools: [counter("look")],
    compaction: { reserveTokens: 500, keepTokens: 300 },
  });
  await at.agent.addMessage("c", "user", `hi ${long}`);
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  expect(await at.agent.carryRun("c", run)).toMatchObject({ outcome: "completed", text: "Done." });
  const [compaction, ...more] = (await at.conversation.branch()).filter(({ type }) => type === "compaction");
  expect(more).toEqual([]);
  const { context } = await at.holdfast.hydrate(run);
  const sent = context.messages.map(inShort);
  expect(sent.slice(0, 3)).toEqual(SEEDED);
  expect(sent[3]).toMatch(/^user: Summary of the conversation so far:/);
  const last = model.asked.at(-1);
  expect(last && asked(last).slice(0, 4)).toEqual(["system: You answer emails.", ...SEEDED]);
  // The context of the conversation has the same summary in place of what is older: nothing of it is lost.
  expect((await at.conversation.context()).compaction).toBe(compaction?.id);
});

test("a fork from a run goes on with its seeds and messages, with the tools and words it is told", async () => {
  const at = await agentRig([{ calls: [call("1", "look")] }, { text: "Yes." }, { text: "Arr." }], {
    tools: [counter("look"), counter("mail")],
  });
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  await at.agent.carryRun("c", run);
  const before = await at.holdfast.run(run);
  const promptPatch = { system: "You are a pirate." };
  const fork = await at.holdfast.forkRun(run, { tools: ["look"], promptPatch });
  const { text } = await at.agent.send(fork.conversation, "How?", { run: fork.run });
  expect(text).toBe("Arr.");
  const last = at.model.asked.at(-1);
  expect(last && asked(last)).toEqual([
    "system: You are a pirate.",
    ...SEEDED,
    "assistant: [tool-call]",
    "tool: [tool-result]",
    "assistant: Yes.",
    "user: How?",
  ]);
  expect(last?.tools?.map(({ name }) => name)).toEqual(["look"]);
  expect(await fork.conversation.runs()).toMatchObject([
    { run: fork.run, continues: run, status: "completed", steps: 1, prompts: 1, usage: { outputTokens: 10 } },
  ]);
  expect(await at.holdfast.run(run)).toEqual(before);
  expect(await fork.conversation.facts(["seed"])).toEqual([]);
});

test("nothing is summarised where the seeds alone are too long: no request would get shorter by it", async () => {
  const long = "word ".repeat(9_000);
  const model = new ScriptedModel([{ text: "Done." }]);
  const at = await agentRig([], {
    model: { id: "scripted/one", model, window: 8_000, maxOutput: null, price: null },
    compaction: { reserveTokens: 500, keepTokens: 300 },
  });
  await at.agent.addMessage("c", "user", `hi ${long}`);
  await at.agent.addMessage("c", "assistant", "Hello.");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: [{ role: "user", content: long }] });
  expect(await at.agent.carryRun("c", run)).toMatchObject({ text: "Done." });
  expect((await at.conversation.branch()).some(({ type }) => type === "compaction")).toBe(false);
  expect(model.asked).toHaveLength(1);
});

test("images among seeds are kept as blobs and shown to the model", async () => {
  const at = await agentRig([]);
  const data = Buffer.from("not really a picture").toString("base64");
  const seeds = [{ role: "user", content: [{ type: "image", mediaType: "image/png", data }] }] as const;
  const { run } = await at.agent.startRun("c", EMAIL, { seeds });
  await at.agent.carryRun("c", run);
  const [seed] = await at.conversation.facts(["seed"]);
  expect(seed?.payload).not.toContain(data);
  expect(JSON.stringify(at.model.asked[0]?.prompt)).toContain(data);
});
