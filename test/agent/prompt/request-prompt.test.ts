/** What a request has besides the messages: made anew for every call, stored nowhere, and reported where it cannot be whole. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../support/temp-dir.ts";
import { agentRig, counter } from "../rig.ts";

async function inFolder(cwd: string) {
  const at = await agentRig([{ text: "one" }, { text: "two" }], {
    instructions: true,
    tools: [counter("look")],
  });
  await at.conversation.append({ type: "cwd", cwd });
  return at;
}

test("instructions of the project, root first, are in every request and in no message", async () => {
  using folder = tempDir();
  const inner = join(folder.path, "packages", "app");
  mkdirSync(inner, { recursive: true });
  mkdirSync(join(folder.path, ".git"));
  writeFileSync(join(folder.path, ".git", "HEAD"), "");
  writeFileSync(join(folder.path, "AGENTS.md"), "Use tabs.");
  writeFileSync(join(inner, "AGENTS.md"), "Use spaces here.");
  const at = await inFolder(inner);
  await at.agent.send("c", "hi");
  writeFileSync(join(inner, "AGENTS.md"), "Use nothing.");
  await at.agent.send("c", "again");
  const [first, second] = at.model.asked.map(({ prompt }) => prompt[0]);
  expect(first).toMatchObject({ role: "system" });
  expect(JSON.stringify(first)).toMatch(/Use tabs\..*Use spaces here\./s);
  expect(JSON.stringify(second)).toMatch(/Use tabs\..*Use nothing\./s);
  const stored = (await Array.fromAsync(at.conversation.log())).map(({ payload }) => payload).join("\n");
  expect(stored).not.toContain("Use tabs");
  expect(stored).not.toContain("system-reminder");
  // An audit sees that it changed, without having its text.
  const digests = (await at.conversation.facts(["attempt"])).map(
    (fact) => fact.type === "attempt" && fact.promptDigest,
  );
  expect(new Set(digests).size).toBe(2);
});

test("AGENTS.md of 10 MB is cut and reported, and the turn goes on", async () => {
  using folder = tempDir();
  writeFileSync(join(folder.path, "AGENTS.md"), "x".repeat(10_000_000));
  const at = await inFolder(folder.path);
  expect(await at.agent.send("c", "hi")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(at.model.asked[0]).length).toBeLessThan(200_000);
  expect((await at.agent.restore("c")).missing).toMatchObject([{ kind: "instructions" }]);
});

test("restore tells what is missing here, and neither asks a model nor writes", async () => {
  const at = await agentRig([{ calls: [{ id: "1", name: "look", input: {} }] }, { text: "ok" }], {
    tools: [counter("look")],
  });
  await at.conversation.append({ type: "cwd", cwd: "/nowhere/at/all" });
  await at.agent.send("c", "hi");
  const { headSeq } = await at.conversation.head();
  const restored = await at.another([], { tools: [] }).agent.restore("c");
  expect(restored.missing.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "tool look",
    "folder /nowhere/at/all",
  ]);
  expect(restored).toMatchObject({
    model: "scripted/one",
    state: null,
    queue: [],
    openTurn: null,
    waiting: [],
  });
  expect(restored.messages).toHaveLength(4);
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
});
