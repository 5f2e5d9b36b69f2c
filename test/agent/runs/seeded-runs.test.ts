/**
 * A run with seeds sends them, the messages of the run it continues, and its own: in whichever process, and after whatever has
 * died. What `hydrate` says of it is what the model was sent.
 */
import { expect, test } from "vitest";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { SeedMessage } from "#log/runs/check-seeds";
import { agentRig, counter, inShort, said } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";

const EMAIL = { type: "email", id: "mail-7" } as const;
const SEEDS: readonly SeedMessage[] = [
  { role: "system", content: "You answer emails." },
  { role: "user", content: "From: ann\nIs it paid?", isNew: false, timestamp: "2026-01-01T00:00:00Z" },
  { role: "assistant", content: [{ type: "text", text: "Not yet." }], details: { message: "<7@x>" } },
  { role: "user", content: "From: ann\nAnd now?", isNew: true, details: { from: "ann", spam: 0 } },
];
const SEEDED = ["user: From: ann\nIs it paid?", "assistant: Not yet.", "user: From: ann\nAnd now?"];
const down = Object.assign(new Error("down"), { statusCode: 400 });
const never = new Promise<never>(() => undefined);
const call = (id: string, name: string) => ({ id, name, input: {} });

/** A request in short, without the reminder behind it. */
function asked({ prompt }: LanguageModelV4CallOptions): readonly string[] {
  return prompt
    .filter((message) => !JSON.stringify(message).includes("<system-reminder>"))
    .map((message) => {
      if (typeof message.content === "string") return `${message.role}: ${message.content}`;
      const parts = message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`));
      return `${message.role}: ${parts.join(" ")}`;
    });
}

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

test("a turn that was left open in a run with seeds is gone on with by the same request, and so says `restore`", async () => {
  const at = await agentRig(
    [{ text: "Hello." }, { calls: [call("1", "look")] }, { text: "half an", until: never }],
    {
      tools: [counter("look")],
    },
  );
  await at.agent.send("c", "hi");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  const left = Promise.withResolvers<void>();
  void at.agent
    .carryRun("c", run, { onEvent: (event) => event.type === "step" && event.step === 2 && left.resolve() })
    .catch(() => undefined);
  await left.promise;
  const later = at.another([{ text: "Paid." }], { tools: [counter("look")] });
  const restored = await later.agent.restore("c");
  expect(restored).toMatchObject({
    run,
    system: "You answer emails.",
    openTurn: { turn: expect.any(String) },
  });
  const pooled = await later.agent.pool.with("c", async (chat) => chat.restored);
  expect(pooled).toEqual(restored);
  await later.agent.continue("c");
  expect(later.model.asked[0]?.prompt).toEqual(at.model.asked[2]?.prompt);
  expect(restored.messages.map(inShort).slice(0, 3)).toEqual(SEEDED);
  const { context } = await later.holdfast.hydrate(run);
  expect(context.messages.slice(0, -1)).toEqual(restored.messages);
  expect((await later.holdfast.run(run))?.status).toBe("completed");
});

test("seeds that fail to be answered are answered later, without words of nobody's", async () => {
  const at = await agentRig([{ text: "Hello." }, { error: down }, { text: "half", until: never }]);
  await at.agent.send("c", "hi");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  expect(await at.agent.carryRun("c", run)).toMatchObject({ outcome: "failed" });
  const begun = Promise.withResolvers<void>();
  const going = at.agent.continue("c", { onEvent: (event) => event.type === "update" && begun.resolve() });
  await begun.promise;
  at.agent.cancel("c");
  await going;
  expect(at.model.asked[2] && asked(at.model.asked[2])).toEqual(["system: You answer emails.", ...SEEDED]);
  // What had come of the answer is told, and now there is something to go on from.
  const later = at.another([{ text: "Paid." }]);
  expect(await later.agent.continue("c")).toMatchObject({ outcome: "completed", run });
  expect(later.model.asked[0] && asked(later.model.asked[0]).slice(0, 5)).toEqual([
    "system: You answer emails.",
    ...SEEDED,
    "assistant: half",
  ]);
  expect(await at.conversation.runs()).toMatchObject([{}, { run, status: "completed", prompts: 1 }]);
});

test("a turn of seeds that a dead process left is settled where it stands", async () => {
  const at = await agentRig([{ text: "Hello." }, { text: "half an answer", until: never }]);
  await at.agent.send("c", "hi");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  const begun = Promise.withResolvers<void>();
  const isText = (type: string): boolean => type === "update";
  void at.agent
    .carryRun("c", run, { onEvent: ({ type }) => isText(type) && begun.resolve() })
    .catch(() => undefined);
  await begun.promise;
  await at.conversation
    .append({
      type: "update",
      turn: (await at.conversation.openTurn())?.turn ?? "",
      data: { events: [{ type: "text", text: "half an answer" }] },
    })
    .catch(() => undefined);
  const later = at.another([{ text: "Sure." }]);
  await later.agent.send("c", "never mind");
  const rows = await at.conversation.runs();
  expect(rows.map(({ status, error }) => [status, error?.code ?? null])).toEqual([
    ["completed", null],
    ["failed", "crashed"],
    ["completed", null],
  ]);
  expect((await said(at.conversation)).at(-1)).toBe("assistant: Sure.");
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

const circle: unknown[] = [];
circle.push(circle);
const hostile: readonly (readonly [what: string, seeds: unknown])[] = [
  ["no list", { role: "user", content: "x" }],
  ["an empty list", []],
  ["too many", Array.from({ length: 10_001 }, () => ({ role: "user", content: "x" }))],
  ["a role that nobody has", [{ role: "developer", content: "obey" }]],
  ["no content", [{ role: "user" }]],
  ["content that is no text", [{ role: "user", content: 7 }]],
  ["a block that is none", [{ role: "user", content: [{ type: "text" }] }]],
  ["a result of no call", [{ role: "toolResult", content: "x" }]],
  [
    "a system message with a picture",
    [{ role: "system", content: [{ type: "image", mediaType: "image/png" }] }],
  ],
  ["nothing but a system message", [{ role: "system", content: "You are free." }]],
  ["a list without end", circle],
  ["a member of another kind", [{ role: "user", content: "x", isNew: "yes" }]],
  ["more than an entry takes", [{ role: "user", content: "x".repeat(34_000_000) }]],
];

test.each(hostile)("seeds are refused that are %s, and nothing is written", async (_, seeds) => {
  const at = await agentRig([]);
  const { headSeq } = await at.conversation.head();
  await expect(at.agent.startRun("c", EMAIL, { seeds } as never)).rejects.toMatchObject({
    brand: "holdfast.LogError",
  });
  await expect(at.agent.send("c", "go", { run: { trigger: EMAIL, seeds } } as never)).rejects.toMatchObject({
    brand: "holdfast.LogError",
  });
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
});

test("a run whose seeds end with an answer, or that has none, needs a prompt", async () => {
  const at = await agentRig([]);
  const answered = await at.agent.startRun("c", EMAIL, { seeds: SEEDS.slice(0, 3) });
  const without = await at.agent.startRun("c", { type: "email", id: "mail-8" });
  const { headSeq } = await at.conversation.head();
  for (const { run } of [answered, without])
    await expect(at.agent.carryRun("c", run)).rejects.toMatchObject({ code: "invalid_request" });
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
});
