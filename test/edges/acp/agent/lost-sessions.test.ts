/** Scenarios 11 and 26, and 23's late words: sessions that end under a conversation that does not. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PREAMBLE } from "../../../support/scripted-agent/agent-folder.ts";
import { holdfastEvents, openBridge } from "../bridge.ts";
import { eventually } from "../eventually.ts";

test.each(["claude", "codex", "opencode", "gemini", "plain"] as const)(
  "scenario 11: an expired session of %s is replaced by one that knows what was said",
  async (like) => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ failNext: { kind: "expired", times: 1 } });
    const asked = await host.prompt(id, "what is color?");
    expect(asked.text).toBe("color is blue");
    expect(asked.error).toBeNull();
    const told = holdfastEvents(asked.updates);
    expect(told.map((ours) => ours["event"])).toEqual(["lost", "session"]);
    expect(told.at(-1)).toMatchObject({ fidelity: like === "claude" ? expect.any(String) : "preamble" });
    expect((await bridge.chain(id)).map((link) => link.reason)).toEqual(["first", "lost"]);
    expect(agent.sent("what is color?")).toBe(2);
    expect(bridge.leaks()).toEqual([]);
    // Nobody says it twice: neither the preamble nor the prompt is an entry of its own.
    expect(await bridge.context(id)).toEqual([
      "user: remember color=blue",
      "assistant: Noted color=blue.",
      "user: what is color?",
      "assistant: color is blue",
    ]);
  },
);

test("scenario 11: the preamble goes out once, before the raw words of the prompt", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  agent.control({ failNext: { kind: "expired", times: 1 } });
  await host.prompt(id, "what is color?");
  await host.prompt(id, "say one more");
  const prompts = agent.prompts();
  expect(prompts.map((prompt) => prompt.includes(PREAMBLE))).toEqual([false, false, true, false]);
  expect(prompts[2]).toMatch(/> remember color=blue\n[^]*\n\nwhat is color\?$/);
  expect(JSON.stringify(await bridge.context(id))).not.toContain(PREAMBLE);
});

test("scenario 11: the person is told of a loss as a notice, or as a thought where the host knows no notices", async () => {
  for (const notices of [true, false]) {
    const clientCapabilities = notices ? { session: { notices: {} } } : {};
    await using bridge = await openBridge({ like: "codex", clientCapabilities });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ failNext: { kind: "expired", times: 1 } });
    const { updates } = await host.prompt(id, "what is color?");
    const kinds = new Set(updates.map((update) => update["sessionUpdate"]));
    expect(kinds.has("notice")).toBe(notices);
    expect(kinds.has("agent_thought_chunk")).toBe(!notices);
  }
});

test("scenario 26: after 18 rollovers the order is kept and nothing is lost", async () => {
  await using bridge = await openBridge({ like: "opencode" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  const times = 18;
  for (let turn = 0; turn < times; turn++) {
    agent.control({ failNext: { kind: "expired", times: turn === 0 ? 0 : 1 } });
    expect((await host.prompt(id, `remember k${turn}=v${turn}`)).text).toBe(`Noted k${turn}=v${turn}.`);
  }
  expect(await bridge.chain(id)).toHaveLength(times);
  const turns = Array.from({ length: times }, (_, turn) => [
    `user: remember k${turn}=v${turn}`,
    `assistant: Noted k${turn}=v${turn}.`,
  ]);
  expect(await bridge.context(id)).toEqual(turns.flat());
  expect((await host.prompt(id, "what is k12?")).text).toBe("k12 is v12");
  expect(bridge.leaks()).toEqual([]);
  for (let turn = 0; turn < times; turn++)
    expect(agent.sent(`remember k${turn}=v${turn}`)).toBe(turn === 0 ? 1 : 2);
});

test("scenario 23: what a session says after it was replaced reaches nobody", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent, dir } = bridge;
  const id = await host.newSession();
  const signal = join(dir, "speak");
  await host.prompt(id, `late-on ${signal} ghost words`);
  agent.control({ failNext: { kind: "expired", times: 1 } });
  await host.prompt(id, "say two");
  // In the middle of the new session's turn, where the words could pass for its own.
  const file = join(dir, "side");
  const from = host.messages.length;
  const slow = host.start(id, `tool-slow ${file} three`);
  await host.update((update) => update["status"] === "in_progress", from);
  writeFileSync(signal, "");
  await eventually("the late words went out", () => existsSync(`${signal}.said`));
  writeFileSync(`${file}.go`, "");
  expect((await host.finish(id, slow, from)).text).toBe("Done: wrote three.");
  expect((await host.prompt(id, "say four")).text).toBe("four");
  expect(JSON.stringify(host.updates(id))).not.toContain("ghost words");
  expect((await bridge.context(id)).filter((words) => words.includes("ghost"))).toEqual([
    `user: late-on ${signal} ghost words`,
  ]);
});
