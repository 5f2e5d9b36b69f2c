/** What else happens to the turns of a loop, by its number in the table of docs/explanation/guarantees.md. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { judgeConversation } from "#testing/index";
import { agentRig, type AgentRig, counter, said } from "../rig.ts";

const call = (id: string, name: string, input: unknown = {}) => ({ id, name, input });
const LONG = "quite a lot of words ".repeat(200);
const never = new Promise<never>(() => undefined);

/** All the words a model was sent with its last request. */
const sent = ({ model }: Pick<AgentRig, "model">): string => JSON.stringify(model.asked.at(-1)?.prompt);

const logOf = async (conversation: Conversation): Promise<string> =>
  JSON.stringify(await Array.fromAsync(conversation.log()));

/** A prompt whose tool runs until the gate opens; resolves once it does. */
async function sendAndWait(at: AgentRig): Promise<{ readonly turn: Promise<unknown> }> {
  const started = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", {
    onEvent: (event) => event.type === "update" && event.event.type === "tool" && started.resolve(),
  });
  turn.catch(() => undefined);
  await started.promise;
  return { turn };
}

test("15: where a person has gone to is where the next process is; a title and a label move nothing", async () => {
  const at = await agentRig([{ text: "one" }, { text: "two" }]);
  await at.agent.send("c", "first");
  const { leaf } = await at.conversation.head();
  await at.agent.send("c", "second");
  await at.agent.goTo("c", leaf.id);
  await at.conversation.title("a title");
  await at.conversation.label(leaf.id, "here");
  const next = at.another([{ text: "three" }]);
  expect(await next.agent.restore("c")).toMatchObject({ leaf: leaf.id });
  await next.agent.send("c", "third");
  expect(await said(at.conversation)).toEqual([
    "user: first",
    "assistant: one",
    "user: third",
    "assistant: three",
  ]);
});

test("16: a fork of a turn that runs has its call as one that nobody knows the end of; neither disturbs the other", async () => {
  const gate = Promise.withResolvers<string>();
  const runs: unknown[] = [];
  const act = {
    name: "act",
    run: (input: unknown): Promise<string> => {
      runs.push(input);
      return gate.promise;
    },
  };
  const at = await agentRig([{ calls: [call("1", "act")] }, { text: "in the fork" }, { text: "done here" }], {
    tools: [act],
  });
  const { turn } = await sendAndWait(at);
  const fork = await at.conversation.fork({ id: "f" });
  const before = await logOf(at.conversation);
  expect(await at.agent.send("f", "and now?")).toMatchObject({ outcome: "completed", text: "in the fork" });
  expect(await logOf(at.conversation)).toBe(before);
  gate.resolve("acted");
  expect(await turn).toMatchObject({ outcome: "completed", text: "done here" });
  expect(runs).toHaveLength(1);
  expect(await said(at.conversation)).toEqual([
    "user: go",
    "assistant: act({})",
    "toolResult: acted",
    "assistant: done here",
  ]);
  expect(await said(fork)).toEqual([
    "user: go",
    "assistant: act({})",
    expect.stringMatching(/^toolResult: /),
    "user: and now?",
    "assistant: in the fork",
  ]);
  expect([...(await judgeConversation(at.conversation)), ...(await judgeConversation(fork))]).toEqual([]);
});

test("17: what a summary stands for stays readable, and a fork goes on from it word for word", async () => {
  const at = await agentRig([{ text: LONG }, { text: "two" }, { text: "## Goal\nshort" }], {
    compaction: { keepTokens: 30 },
  });
  await at.agent.send("c", "first");
  const { leaf } = await at.conversation.head();
  await at.agent.send("c", "second");
  expect(await at.agent.compact("c")).toMatchObject({ state: "compacted" });
  expect((await said(at.conversation)).join()).not.toContain("first");
  expect(await logOf(at.conversation)).toContain("first");
  const fork = await at.conversation.fork({ at: leaf.id });
  await at.agent.send(fork, "on");
  expect((await said(fork))[0]).toBe("user: first");
  expect(sent(at)).not.toContain("short");
});

test("18: a second agent waits for the first one's turn, or is told that it is busy; nothing is written in between", async () => {
  const gate = Promise.withResolvers<string>();
  const at = await agentRig([{ calls: [call("1", "wait")] }, { text: "first" }], {
    tools: [{ name: "wait", run: () => gate.promise }],
    isDead: async () => false,
  });
  const { turn } = await sendAndWait(at);
  const next = at.another([{ text: "second" }]);
  await expect(next.agent.send("c", "me too")).rejects.toMatchObject({ code: "busy" });
  expect(next.model.asked).toEqual([]);
  gate.resolve("waited");
  expect(await turn).toMatchObject({ text: "first" });
  expect(await next.agent.send("c", "me too")).toMatchObject({ text: "second" });
});

test("21: when a model is asked the prompt is there for others; a conversation that broke off there is listed and gone on with", async () => {
  const seen = Promise.withResolvers<readonly string[]>();
  const at = await agentRig([
    () => {
      seen.resolve(said(at.conversation));
      return { until: never };
    },
  ]);
  void at.agent.send("c", "go");
  expect(await seen.promise).toEqual(["user: go"]);
  at.die();
  const next = at.another([{ text: "whole" }]);
  await at.holdfast.create({ id: "empty" });
  const open = await Array.fromAsync(next.holdfast.openTurns());
  expect(open.map(({ conversation }) => conversation)).toEqual(["c"]);
  expect(await next.agent.continue("c")).toMatchObject({ outcome: "completed", text: "whole" });
  expect(await said(at.conversation)).toEqual(["user: go", "assistant: whole"]);
});

test("23: an id that nobody knows is refused by every verb; no conversation is begun in its place", async () => {
  const at = await agentRig([]);
  const { agent } = at;
  const verbs = [
    () => agent.send("gone", "hello"),
    () => agent.continue("gone"),
    () => agent.answer("gone", "r", "allowed"),
    () => agent.steer("gone", "hello"),
    () => agent.addMessage("gone", "user", "hello"),
    () => agent.compact("gone"),
    () => agent.restore("gone"),
    () => agent.clearHistory("gone"),
    () => agent.goTo("gone", "x"),
    () => agent.goBackTo("gone", "x"),
  ];
  for (const verb of verbs) await expect(verb()).rejects.toMatchObject({ code: "conversation_not_found" });
  expect(at.model.asked).toEqual([]);
  expect((await Array.fromAsync(at.holdfast.listAll())).map(({ conversation }) => conversation)).toEqual([
    "c",
  ]);
});

test("28: a conversation's own summary is its beginning and no memory; other conversations' are not in the request", async () => {
  const at = await agentRig([{ text: LONG }, { text: "two" }, { text: "## Goal\nof c" }], {
    compaction: { keepTokens: 30 },
  });
  await at.agent.send("c", "first");
  await at.agent.send("c", "second");
  expect(await at.agent.compact("c")).toMatchObject({ state: "compacted" });
  const other = await at.holdfast.create({ id: "other" });
  await other.append([
    { type: "message", message: { role: "user", content: [{ type: "text", text: "elsewhere" }] } },
    { type: "compaction", summary: "## Goal\nof another" },
  ]);
  const next = at.another([{ text: "three" }]);
  await next.agent.send("c", "third");
  const words = sent(next);
  expect(words.split("of c")).toHaveLength(2);
  expect(words).not.toContain("of another");
  expect(words).not.toMatch(/<(?:memory|recall)/);
});

test("30: an agent that is closed in mid-turn keeps what came; the next one has the same, and goes on", async () => {
  const at = await agentRig([{ calls: [call("1", "act")] }, { text: "half an answer", until: never }], {
    tools: [counter("act")],
  });
  const begun = Promise.withResolvers<void>();
  const turn = at.agent.send("c", "go", {
    onEvent: (event) => event.type === "update" && event.event.type === "text" && begun.resolve(),
  });
  await begun.promise;
  await at.agent.close();
  expect(await turn).toMatchObject({ outcome: "interrupted" });
  const next = at.another([{ text: "whole" }]);
  const { missing: _, ...restored } = await next.agent.restore("c");
  const { missing: __, ...before } = await at.agent.restore("c");
  expect(restored).toEqual(before);
  expect(restored).toMatchObject({ openTurn: null, waiting: [], queue: [] });
  expect(await next.agent.continue("c")).toMatchObject({ outcome: "completed", text: "whole" });
  expect((await said(at.conversation)).slice(0, 3)).toEqual([
    "user: go",
    "assistant: act({})",
    "toolResult: act 1",
  ]);
});

test("30: one turn at a time in a conversation: whoever comes in between is told, and nothing of it is written", async () => {
  const at = await agentRig([{ text: "one" }, { text: "two" }]);
  const prompts = ["first", "second", "third"].map((prompt) => at.agent.send("c", prompt));
  const outcomes = await Promise.allSettled(prompts);
  expect(outcomes).toMatchObject([
    { value: { text: "one" } },
    { reason: { code: "busy" } },
    { reason: { code: "busy" } },
  ]);
  await at.agent.send("c", "second");
  expect(await said(at.conversation)).toEqual([
    "user: first",
    "assistant: one",
    "user: second",
    "assistant: two",
  ]);
});

test("32: what a provider refuses to read is hidden from models and stays in the log; brought back, it is sent again", async () => {
  const refused = Object.assign(new Error("The content was flagged"), { statusCode: 400 });
  const poisons = (asked: unknown): boolean => JSON.stringify(asked).includes("swordfish");
  const answer = (asked: { readonly prompt: unknown }) =>
    poisons(asked.prompt) ? { error: refused } : { text: "fine" };
  const at = await agentRig(Array.from({ length: 9 }, () => answer));
  const first = await at.agent.send("c", "swordfish");
  expect(first).toMatchObject({ outcome: "failed", class: "poisoned" });
  expect(await at.agent.send("c", "again")).toMatchObject({ outcome: "failed", class: "poisoned" });
  await at.conversation.hide(first.prompt ?? "");
  expect(await at.agent.send("c", "now?")).toMatchObject({ outcome: "completed", text: "fine" });
  expect(sent(at)).not.toContain("swordfish");
  expect(await logOf(at.conversation)).toContain("swordfish");
  await at.conversation.hide(first.prompt ?? "", false);
  expect(await at.agent.send("c", "and now?")).toMatchObject({ class: "poisoned" });
});

test.each([
  ["a half character", "a\uD800b"],
  ["separators of lines", "a\u2028\u2029b"],
  ["a NUL", "a\0b"],
])("35: %s in a prompt, a result and an answer is in the log as it was given", async (_, text) => {
  const at = await agentRig([{ calls: [call("1", "act", { text })] }, { text }], {
    tools: [{ name: "act", run: async () => text }],
  });
  expect(await at.agent.send("c", text)).toMatchObject({ outcome: "completed", text });
  const { messages } = await at.agent.restore("c");
  // A tool's output is made sound Unicode; what people and models say is theirs.
  const given = messages.map(({ role }) => (role === "toolResult" ? text.toWellFormed() : text));
  const kept = messages.map(({ content }, nth) =>
    JSON.stringify(content).includes(JSON.stringify(given[nth])),
  );
  expect(kept).toEqual([true, true, true, true]);
});
