/** Scenario 23 and its neighbours: conversations beside each other, prompts behind each other, a stop in between. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openBridge } from "../bridge.ts";
import { eventually } from "../eventually.ts";
import { wordsOf } from "../shown-updates.ts";

test.each(["claude", "codex"] as const)(
  "scenario 23: two conversations prompted at the same time hear each their own, with %s",
  async (like) => {
    await using bridge = await openBridge({ like });
    const { host, agent, dir } = bridge;
    const [one, two] = [await host.newSession(), await host.newSession()];
    const file = join(dir, "side");
    const from = host.messages.length;
    const slow = host.start(one, `tool-slow ${file} alpha`);
    await host.update((update) => update["status"] === "in_progress");
    const quick = await host.prompt(two, "chunks 30");
    expect(quick.text).toMatch(/^c1 .* c30 $/);
    writeFileSync(`${file}.go`, "");
    expect((await host.finish(one, slow, from)).text).toBe("Done: wrote alpha.");
    expect(wordsOf(host.updates(one, from))).toBe("Done: wrote alpha.");
    expect(wordsOf(host.updates(two, from))).toBe(quick.text);
    expect((await bridge.context(two)).join()).not.toContain("alpha");
    expect(new Set(agent.of("session/prompt").map(({ params }) => params["sessionId"])).size).toBe(2);
    expect(bridge.leaks()).toEqual([]);
  },
);

test("scenario 23: many conversations at once, each with its own memory", async () => {
  await using bridge = await openBridge({ like: "opencode" });
  const { host } = bridge;
  const ids = await Promise.all(Array.from({ length: 8 }, () => host.newSession()));
  expect(new Set(ids).size).toBe(8);
  await Promise.all(ids.map((id, index) => host.prompt(id, `remember k=v${index}`)));
  const answers = await Promise.all(ids.map((id) => host.prompt(id, "what is k?")));
  expect(answers.map(({ text }) => text)).toEqual(ids.map((_, index) => `k is v${index}`));
  expect(bridge.leaks()).toEqual([]);
});

test("scenario 23: a rollover in one conversation leaves a turn in another alone", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent, dir } = bridge;
  const [one, two] = [await host.newSession(), await host.newSession()];
  await host.prompt(two, "remember color=blue");
  const file = join(dir, "side");
  const slow = host.start(one, `tool-slow ${file} alpha`);
  await host.update((update) => update["status"] === "in_progress");
  agent.control({ failNext: { kind: "expired", times: 1 } });
  expect((await host.prompt(two, "what is color?")).text).toBe("color is blue");
  writeFileSync(`${file}.go`, "");
  expect((await host.answerTo(slow)).result).toMatchObject({ stopReason: "end_turn" });
  expect(agent.pids()).toHaveLength(1);
  expect(await bridge.chain(one)).toHaveLength(1);
});

test("a second prompt during a turn waits and runs after it", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent, dir } = bridge;
  const id = await host.newSession();
  const file = join(dir, "side");
  const first = host.start(id, `tool-slow ${file} alpha`);
  await host.update((update) => update["status"] === "in_progress");
  const second = host.start(id, "say second");
  const third = host.start(id, "say third");
  // Whatever is asked after them comes back first, so they have been read and wait.
  await host.call("session/list", {});
  expect(agent.sent("say second")).toBe(0);
  writeFileSync(`${file}.go`, "");
  const outcomes = await Promise.all([first, second, third].map((asked) => host.answerTo(asked)));
  expect(outcomes.map(({ result }) => result?.["stopReason"])).toEqual(["end_turn", "end_turn", "end_turn"]);
  expect((await bridge.context(id)).filter((words) => words.startsWith("user: "))).toEqual([
    `user: tool-slow ${file} alpha`,
    "user: say second",
    "user: say third",
  ]);
  const answered = host.messages.map((message) => message["id"]);
  expect(answered.indexOf(first)).toBeLessThan(answered.indexOf(second));
  expect(answered.indexOf(second)).toBeLessThan(answered.indexOf(third));
});

test("a cancel ends the turn as cancelled, keeps what was said, and the session goes on", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const from = host.messages.length;
  const asked = host.start(id, "partial half a word");
  await host.update((update) => JSON.stringify(update).includes("half a word"), from);
  host.notify("session/cancel", { sessionId: id });
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  expect(agent.of("session/cancel")).toHaveLength(1);
  expect((await bridge.entries(id, "turn_end")).at(-1)).toMatchObject({ outcome: "interrupted" });
  expect(await bridge.context(id)).toContain("assistant: half a word");
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(agent.sent("partial half a word")).toBe(1);
  expect(await bridge.chain(id)).toHaveLength(1);
});

test("a cancel also drops the prompts that wait behind the turn", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  const first = host.start(id, "partial some words");
  await host.update((update) => JSON.stringify(update).includes("some words"));
  const second = host.start(id, "say never");
  host.notify("session/cancel", { sessionId: id });
  for (const asked of [first, second])
    expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  expect(agent.sent("say never")).toBe(0);
});

test("a cancel of nothing is nothing", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host } = bridge;
  const id = await host.newSession();
  host.notify("session/cancel", { sessionId: id });
  host.notify("session/cancel", { sessionId: "nobody" });
  expect((await host.prompt(id, "say on")).text).toBe("on");
});

test("an agent that leaves with its host is gone when the host hangs up", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  await host.prompt(await host.newSession(), "say hello");
  expect(await host.hangUp()).toBe(0);
  await eventually("the agent is gone", () => agent.pids().every((pid) => !agent.runs(pid)));
});
