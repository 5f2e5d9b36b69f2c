/** The mistakes that hosts make who keep a conversation themselves, each as an attempt to make it: docs/explanation/why-not-an-array.md. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Skills } from "#agent/skills/skills";
import type { Conversation } from "#conversation/conversation";
import { agentRig, type AgentRig, counter, said } from "../agent/rig.ts";

const call = (id: string, name: string, input: unknown = {}) => ({ id, name, input });
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});
async function folderWith(agentsMd: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "mistakes-"));
  folders.push(folder);
  await mkdir(join(folder, ".git"));
  await writeFile(join(folder, "AGENTS.md"), agentsMd);
  return folder;
}

const systemOf = ({ model }: Pick<AgentRig, "model">, at = -1): string => {
  const first = model.asked.at(at)?.prompt[0];
  return first?.role === "system" ? first.content : "";
};
const activate = (chat: Conversation, ...names: readonly string[]): Promise<unknown> =>
  chat.append({ type: "skill_change", skills: names.map((name) => ({ name })) });
const place = join(tmpdir(), `mistakes-skills-${process.pid}`);
const skills = new Skills({ places: [place] });
beforeAll(async () => {
  for (const name of ["count", "bake"]) {
    await mkdir(join(place, name), { recursive: true });
    const front = `---\nname: ${name}\ndescription: Shows it.\n---\n`;
    await writeFile(join(place, name, "SKILL.md"), `${front}How to ${name}.`);
  }
});
afterAll(() => rm(place, { recursive: true, force: true }));

describe("dropping one half of a call and its result", () => {
  test("a result that was never written is told as unknown; the next request has its pair", async () => {
    const at = await agentRig([{ text: "ok" }]);
    await at.conversation.append([
      { type: "message", message: { role: "user", content: [{ type: "text", text: "look" }] } },
      {
        type: "message",
        message: { role: "assistant", content: [{ type: "toolCall", id: "a", name: "look", input: {} }] },
      },
    ]);
    expect(await at.agent.send("c", "well?")).toMatchObject({ outcome: "completed" });
    expect(at.model.asked[0]?.prompt.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "user",
      "user",
    ]);
    expect((await at.agent.restore("c")).issues).toMatchObject([{ kind: "orphan_call" }]);
  });

  test("a result whose call is gone is left out and reported, and the request is whole", async () => {
    const at = await agentRig([{ calls: [call("a", "look")] }, { text: "seen" }, { text: "ok" }], {
      tools: [counter("look")],
    });
    await at.agent.send("c", "look");
    const answer = (await at.conversation.branch()).find(
      (entry) => entry.type === "message" && entry.message.role === "assistant",
    );
    await at.conversation.hide(answer?.id ?? "");
    expect(await at.agent.send("c", "on")).toMatchObject({ outcome: "completed" });
    const prompt = at.model.asked.at(-1)?.prompt ?? [];
    const calls = prompt.flatMap((message) =>
      message.role === "assistant" ? message.content.filter(({ type }) => type === "tool-call") : [],
    );
    const results = prompt.flatMap((message) => (message.role === "tool" ? message.content : []));
    expect(results.length).toBe(calls.length);
  });

  test("filtering messages of tools takes nothing from what the model reads: hiding one keeps its place", async () => {
    const at = await agentRig([{ calls: [call("a", "look")] }, { text: "seen" }, { text: "ok" }], {
      tools: [counter("look")],
    });
    await at.agent.send("c", "look");
    const result = (await at.conversation.branch()).find(
      (entry) => entry.type === "message" && entry.message.role === "toolResult",
    );
    await at.conversation.hide(result?.id ?? "");
    expect(await said(at.conversation)).toEqual([
      "user: look",
      "assistant: look({})",
      "toolResult: This result was hidden.",
      "assistant: seen",
    ]);
    expect((await at.agent.restore("c")).issues).toEqual([]);
  });
});

test("keeping the system prompt with the messages: it is in no log, and every call has today's", async () => {
  const folder = await folderWith("Speak Latin.");
  const at = await agentRig([{ text: "one" }, { text: "two" }], { instructions: true, skills });
  await at.conversation.append({ type: "cwd", cwd: folder });
  await at.agent.send("c", "first");
  expect(systemOf(at)).toContain("Speak Latin.");
  await writeFile(join(folder, "AGENTS.md"), "Speak Greek.");
  await activate(at.conversation, "count");
  await at.agent.send("c", "second");
  expect(systemOf(at)).toContain("Speak Greek.");
  expect(systemOf(at)).not.toContain("Speak Latin.");
  expect(systemOf(at)).toContain("How to count.");
  const log = JSON.stringify(await Array.fromAsync(at.conversation.log()));
  for (const words of ["Speak", "How to count.", "Today is"]) expect(log).not.toContain(words);
  const attempts = await at.conversation.facts(["attempt"]);
  const digests = attempts.map((entry) => (entry.type === "attempt" ? entry.promptDigest : null));
  expect(new Set(digests).size).toBe(2);
});

describe("going on in another folder", () => {
  test("the folder is the conversation's own, not the process's: whoever restores it works there", async () => {
    const folder = await folderWith("Of this folder.");
    const at = await agentRig([{ text: "one" }], { instructions: true });
    await at.conversation.append({ type: "cwd", cwd: folder });
    await at.agent.send("c", "first");
    const later = at.another([{ text: "two" }]);
    expect(await later.agent.restore("c")).toMatchObject({ cwd: folder, missing: [] });
    await later.agent.send("c", "second");
    expect(systemOf(later)).toContain("Of this folder.");
    expect(systemOf(later)).toBe(systemOf(at));
  });

  test("a folder that is gone is said, not replaced by another", async () => {
    const folder = await folderWith("Gone soon.");
    const at = await agentRig([]);
    await at.conversation.append({ type: "cwd", cwd: folder });
    await rm(folder, { recursive: true });
    const { cwd, missing } = await at.agent.restore("c");
    expect(cwd).toBe(folder);
    expect(missing).toMatchObject([{ kind: "folder", name: folder }]);
  });
});

describe("forgetting to activate the skills again", () => {
  test("they are part of the log: another process has them, in the order of activation, without doing anything", async () => {
    const at = await agentRig([{ text: "one" }], { skills });
    await activate(at.conversation, "count", "bake");
    await at.agent.send("c", "first");
    const later = at.another([{ text: "two" }]);
    expect((await later.agent.restore("c")).skills.map(({ name }) => name)).toEqual(["count", "bake"]);
    await later.agent.send("c", "second");
    expect(systemOf(later)).toBe(systemOf(at));
    expect(systemOf(later).indexOf("How to count.")).toBeLessThan(systemOf(later).indexOf("How to bake."));
  });

  test("activating them once more changes nothing; a fork has those of its message", async () => {
    const at = await agentRig([{ text: "one" }, { text: "two" }], { skills });
    await at.agent.send("c", "first");
    const { leaf } = await at.conversation.head();
    await activate(at.conversation, "count");
    const before = (await at.agent.restore("c")).skills;
    await activate(at.conversation, "count");
    expect((await at.agent.restore("c")).skills).toEqual(before);
    const fork = await at.conversation.fork({ at: leaf.id });
    expect((await at.agent.restore(fork)).skills).toEqual([]);
  });

  test("a skill, a tool, a server and a model that are not here are reported, and stay the conversation's", async () => {
    const at = await agentRig([{ calls: [call("a", "look")] }, { text: "ok" }], { tools: [counter("look")] });
    await at.agent.send("c", "look");
    await activate(at.conversation, "count", "lost");
    await at.conversation.append([
      { type: "config_change", config: { mcpServers: [{ name: "files" }] } },
      { type: "model_change", model: "nobody/knows" },
    ]);
    const later = at.another([], { tools: [], skills });
    const { missing, skills: active, model } = await later.agent.restore("c");
    expect(missing.map(({ kind, name }) => `${kind} ${name}`).toSorted()).toEqual([
      "model nobody/knows",
      "server files",
      "skill lost",
      "tool look",
    ]);
    expect(active.map(({ name }) => name)).toEqual(["count", "lost"]);
    expect(model).toBe("nobody/knows");
  });
});

describe("clearing the history and replaying it", () => {
  test("clearing says which skills it deactivated; what is said after it is all that a model reads", async () => {
    const at = await agentRig([{ text: "one" }, { text: "two" }], { skills });
    await activate(at.conversation, "count", "bake");
    await at.agent.send("c", "first");
    expect(await at.agent.clearHistory("c")).toEqual({ deactivated: ["count", "bake"] });
    expect(await at.agent.restore("c")).toMatchObject({ skills: [], messages: [], state: null });
    await at.agent.addMessage("c", "user", "said before");
    await at.agent.addMessage("c", "assistant", "answered before");
    await activate(at.conversation, "count");
    await at.agent.send("c", "second");
    expect(await said(at.conversation)).toEqual([
      "user: said before",
      "assistant: answered before",
      "user: second",
      "assistant: two",
    ]);
    expect(systemOf(at)).toContain("How to count.");
    expect(systemOf(at)).not.toContain("How to bake.");
    // The log keeps what was cleared.
    const log = JSON.stringify(await Array.fromAsync(at.conversation.log()));
    expect(log).toContain("first");
  });

  test("there is nothing to replay: the conversation is read, and again, and no model hears of it", async () => {
    const at = await agentRig([{ text: "one" }]);
    await at.agent.send("c", "first");
    const later = at.another([]);
    const { headSeq } = await at.conversation.head();
    const once = await later.agent.restore("c");
    expect(await later.agent.restore("c")).toEqual(once);
    expect((await at.conversation.head()).headSeq).toBe(headSeq);
    expect(later.model.asked).toEqual([]);
  });
});

test("replaying history through a call that asks a model: adding messages asks nobody", async () => {
  const at = await agentRig([]);
  await at.agent.addMessage("c", "user", "hello");
  await at.agent.addMessage("c", "assistant", "hi");
  await at.agent.addMessages("c", [
    { role: "assistant", content: [{ type: "toolCall", id: "a", name: "look", input: {} }] },
  ]);
  expect(at.model.asked).toEqual([]);
  expect(await at.conversation.openTurn()).toBeNull();
  expect(await said(at.conversation)).toHaveLength(4);
});

test("keeping summaries beside the messages: a summary is part of the log, and comes back with it", async () => {
  const at = await agentRig([{ text: "one" }]);
  await at.agent.send("c", "first");
  await at.conversation.append({ type: "compaction", summary: "They greeted each other." });
  const later = at.another([{ text: "two" }]);
  const { messages } = await later.agent.restore("c");
  expect(messages).toHaveLength(1);
  expect(JSON.stringify(messages)).toContain("They greeted each other.");
  const branch = JSON.stringify(await at.conversation.branch());
  expect(branch).toContain("first");
});
