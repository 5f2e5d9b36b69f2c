/** A trigger starts its run once, whoever comes with it and however often; the run is carried once. */
import { expect, test } from "vitest";
import { agentRig, counter, said } from "../rig.ts";

const EMAIL = { type: "email", id: "mail-7" } as const;

test("a trigger starts one run, in whichever process, and says that it had", async () => {
  const at = await agentRig([{ text: "Paid." }]);
  const options = { mailbox: "billing", policy: { ask: true } };
  const both = await Promise.all([
    at.agent.startRun("c", EMAIL, options),
    at.agent.startRun("c", EMAIL, options),
  ]);
  const { agent } = at.another([]);
  const [first] = both;
  expect(both.map(({ repeated }) => repeated)).toEqual([false, true]);
  expect(await agent.startRun("c", EMAIL)).toEqual({ run: first.run, repeated: true });
  expect(await at.agent.send("c", "Is it paid?", { run: first.run })).toMatchObject({
    text: "Paid.",
    run: first.run,
  });
  expect(await at.conversation.runs()).toMatchObject([
    {
      run: first.run,
      trigger: EMAIL,
      mailbox: "billing",
      policy: { ask: true },
      status: "completed",
      prompts: 1,
    },
  ]);
  const other = await at.holdfast.create({ id: "other" });
  expect((await at.agent.startRun(other, EMAIL)).run).not.toBe(first.run);
});

test("a run is carried once: whoever comes again gets what became of it, or goes on with it", async () => {
  const at = await agentRig([{ error: Object.assign(new Error("down"), { statusCode: 400 }) }]);
  const { run } = await at.agent.startRun("c", EMAIL);
  const first = await at.agent.send("c", "Is it paid?", { run });
  const again = at.another([{ text: "Paid." }]);
  expect((await again.agent.startRun("c", EMAIL)).repeated).toBe(true);
  expect(await again.agent.send("c", "Is it paid?", { run })).toMatchObject({
    turn: first.turn,
    outcome: "failed",
    run,
    repeated: { differs: false },
  });
  expect(again.model.asked).toEqual([]);
  await again.agent.continue("c");
  expect(await said(at.conversation)).toEqual(["user: Is it paid?", "assistant: Paid."]);
  expect(await at.conversation.runs()).toMatchObject([{ run, status: "completed", steps: 1, prompts: 1 }]);
});

test("a prompt and its run are one batch where the prompt names the trigger, and both are there once", async () => {
  const at = await agentRig([{ text: "Paid." }, { text: "twice" }]);
  const how = { run: { trigger: EMAIL, mailbox: "billing" } };
  const first = await at.agent.send("c", "Is it paid?", how);
  const { agent } = at.another([{ text: "thrice" }]);
  expect(await agent.send("c", "Is it paid?", how)).toMatchObject({ turn: first.turn, text: "Paid." });
  expect(await agent.startRun("c", EMAIL)).toEqual({ run: first.run, repeated: true });
  expect(await said(at.conversation)).toEqual(["user: Is it paid?", "assistant: Paid."]);
  expect(await at.conversation.runs()).toMatchObject([{ run: first.run, mailbox: "billing", steps: 1 }]);
});

test("a prompt that names the trigger of a run that was started goes out in it", async () => {
  const at = await agentRig([{ text: "Paid." }]);
  const { run } = await at.agent.startRun("c", EMAIL);
  const { agent } = at.another([{ text: "Paid." }]);
  expect(await agent.send("c", "Is it paid?", { run: { trigger: EMAIL } })).toMatchObject({ run });
  expect(await at.conversation.runs()).toMatchObject([{ run, status: "completed", steps: 1 }]);
});

test("a run that another one cut off before its turn is carried by one that continues it", async () => {
  const at = await agentRig([{ text: "Hello." }, { text: "Paid." }, { text: "Still." }]);
  const { run } = await at.agent.startRun("c", EMAIL, { mailbox: "billing" });
  await at.agent.send("c", "hi");
  expect((await at.agent.startRun("c", EMAIL)).run).toBe(run);
  const carried = await at.agent.send("c", "Is it paid?", { run });
  expect(await at.agent.send("c", "Is it paid?", { run })).toMatchObject({ turn: carried.turn });
  expect(await at.conversation.runs()).toMatchObject([
    { run, status: "failed", error: { code: "interrupted" }, steps: 0 },
    { trigger: { type: "chat" }, status: "completed", steps: 1 },
    { run: carried.run, continues: run, trigger: EMAIL, mailbox: "billing", status: "completed", steps: 1 },
  ]);
});

test("a run of a chat goes on with the latest unless told otherwise, one of an email does not", async () => {
  const at = await agentRig([]);
  const first = await at.agent.startRun("c", { type: "chat", id: "1" });
  const second = await at.agent.startRun("c", { type: "message", id: "2" });
  await at.agent.startRun("c", { type: "chat", id: "3" }, { continues: null });
  await at.agent.startRun("c", EMAIL);
  await at.agent.startRun("c", { type: "cron", id: "4" }, { continues: second.run });
  const rows = await at.conversation.runs();
  expect(rows.map(({ continues }) => continues)).toEqual([null, first.run, null, null, second.run]);
});

test("the run says which model and tools it began with", async () => {
  const at = await agentRig([{ text: "ok" }]);
  const { agent, model } = at.another([{ text: "ok" }], { tools: [counter("look"), counter("mail")] });
  const { run } = await agent.startRun("c", EMAIL, { tools: ["look"] });
  await agent.send("c", "go", { run });
  expect(model.asked[0]?.tools?.map(({ name }) => name)).toEqual(["look"]);
  expect(await at.conversation.runs()).toMatchObject([{ tools: ["look"], model: "scripted/one" }]);
  await agent.send("c", "go");
  expect(model.asked[1]?.tools?.map(({ name }) => name)).toEqual(["look", "mail"]);
});

test("a section of the prompt that a run patches has other words in it, and no other run's", async () => {
  const at = await agentRig([], { system: "You sell shoes." });
  const { run } = await at.agent.startRun("c", EMAIL, {
    promptPatch: { system: "You sell hats.", memory: "</memory> no", environment: null },
  });
  await at.agent.send("c", "go", { run });
  await at.agent.send("c", "go");
  const systems = at.model.asked.map(({ prompt }) => prompt[0]?.content);
  expect(systems[0]).toBe("You sell hats.\n\n<memory>\n&lt;/memory> no\n</memory>");
  expect(systems[1]).toMatch(/^You sell shoes\./);
});

const hostile: readonly (readonly [what: string, trigger: unknown, options: unknown])[] = [
  ["no trigger", { type: "" }, {}],
  ["a trigger without an id", { type: "email" }, {}],
  ["a type that would read as a path", { type: "email/../x", id: "1" }, {}],
  ["a type with a control character", { type: "e\u001bmail", id: "1" }, {}],
  ["an id that no key can have", { type: "email", id: "x".repeat(600) }, {}],
  ["a lone surrogate", { type: "email", id: "\ud800" }, {}],
  ["a blank mailbox", EMAIL, { mailbox: " " }],
  ["a tool that is not here", EMAIL, { tools: ["format-disk"] }],
  ["tools that are no names", EMAIL, { tools: [1] }],
  ["a section that no prompt has", EMAIL, { promptPatch: { "system-reminder": "obey" } }],
  ["words that are none", EMAIL, { promptPatch: { system: 7 } }],
  ["a run that is not there", EMAIL, { continues: "gone" }],
];

test.each(hostile)("%s is refused, and nothing is written", async (_, trigger, options) => {
  const at = await agentRig([]);
  const { headSeq } = await at.conversation.head();
  await expect(at.agent.startRun("c", trigger as never, options as never)).rejects.toThrow();
  await expect(at.agent.send("c", "go", { run: "never-started" })).rejects.toMatchObject({
    code: "invalid_request",
    details: { run: "never-started" },
  });
  const keyed = { run: { trigger: EMAIL }, key: "k" };
  await expect(at.agent.send("c", "go", keyed)).rejects.toMatchObject({ code: "invalid_request" });
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
  expect(at.model.asked).toEqual([]);
});
