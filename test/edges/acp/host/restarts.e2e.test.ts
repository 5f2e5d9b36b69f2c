/** Scenarios 10 and 12 to 16: the bridge is killed and started anew; the host's ids still mean the same. */
import { appendFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PREAMBLE } from "../../../support/scripted-agent/agent-folder.ts";
import { type Bridge, holdfastEvents, openKillable } from "../bridge.ts";
import { eventually } from "../eventually.ts";
import { type Fields, fieldsOf, textOf } from "../../../support/scripted-agent/wire.ts";

/** What a person would see as said, in order. */
function said(updates: readonly Fields[]): readonly string[] {
  return updates
    .filter((update) => /^(?:user|agent)_message_chunk$/.test(textOf(update["sessionUpdate"])))
    .map((update) => textOf(fieldsOf(update["content"])["text"]));
}

describe.each(["claude", "codex", "opencode", "gemini", "plain"] as const)("with %s", (like) => {
  test("a prompt straight after a restart, without a load, goes on where the conversation was", async () => {
    await using bridge = await openKillable({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await host.restart();
    const asked = await host.prompt(id, "what is color?");
    expect(asked.text).toBe("color is blue");
    expect(agent.sent("remember color=blue")).toBe(1);
    expect(agent.sent("what is color?")).toBe(1);
    // An agent that can show what it holds is not told again; one that cannot come back is told in a new session.
    // Gemini could, but overwrites a record that it loads within a minute of beginning it.
    const gone = like === "plain" || like === "gemini";
    expect(await bridge.chain(id)).toHaveLength(gone ? 2 : 1);
    expect(agent.prompts().at(-1)?.includes(PREAMBLE)).toBe(gone);
    expect(bridge.leaks()).toEqual([]);
  });

  test("scenarios 15 and 16: a load after a restart shows our log once, and nothing that the agent shows again", async () => {
    await using bridge = await openKillable({ like });
    const { host } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await host.restart();
    const from = host.messages.length;
    const asked = host.ask("session/load", { sessionId: id, cwd: bridge.dir, mcpServers: [] });
    const loaded = await host.finish(id, asked, from);
    expect(said(loaded.updates)).toEqual(["remember color=blue", "Noted color=blue."]);
    const before = host.messages.length;
    await host.prompt(id, "what is color?");
    await host.prompt(id, "say more");
    expect(said(host.updates(id, before))).toEqual(["color is blue", "more"]);
    expect(JSON.stringify(host.messages)).not.toContain("session_context");
    expect(bridge.leaks()).toEqual([]);
  });

  test("scenario 11: a session that is lost while nobody looked is replaced by one that knows everything", async () => {
    await using bridge = await openKillable({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await host.restart();
    for (const upstream of agent.ids()) agent.lose(upstream);
    const asked = await host.prompt(id, "what is color?");
    expect(asked.text).toBe("color is blue");
    expect(await bridge.chain(id)).toHaveLength(2);
    expect(holdfastEvents(asked.updates).map((ours) => ours["event"])).toContain("session");
    expect(bridge.leaks()).toEqual([]);
  });
});

test("scenario 16: Gemini's replay is shown to nobody, also the part of it that follows the answer", async () => {
  await using bridge = await openKillable({ like: "gemini", jumps: true });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  await host.restart();
  bridge.jump(600_000);
  const from = host.messages.length;
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  await host.prompt(id, "say more");
  expect(said(host.updates(id, from))).toEqual(["color is blue", "more"]);
  expect(JSON.stringify(host.messages)).not.toContain("session_context");
  expect(agent.of("session/load")).toHaveLength(1);
  expect(agent.prompts().join("\n")).not.toContain(PREAMBLE);
  expect(await bridge.chain(id)).toHaveLength(1);
  expect(bridge.leaks()).toEqual([]);
});

test("scenario 12: a session that was never prompted is replaced without a word", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.restart();
  const first = await host.prompt(id, "say hello");
  expect(first.text).toBe("hello");
  const kinds = first.updates.map((update) => update["sessionUpdate"]);
  expect(kinds).not.toContain("notice");
  expect(kinds).not.toContain("agent_thought_chunk");
  expect(agent.prompts()).toEqual(["say hello"]);
  expect(bridge.leaks()).toEqual([]);
});

test.each(["claude", "codex", "opencode", "gemini"] as const)(
  "scenario 13: a resume of %s that comes back with less is found out, and told what it lacks",
  async (like) => {
    await using bridge = await openKillable({ like, jumps: true });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await host.prompt(id, "remember shape=round");
    await host.prompt(id, "remember size=big");
    await host.restart();
    bridge.jump(600_000);
    agent.cut(agent.ids()[0] ?? "", 3);
    const asked = await host.prompt(id, "what is size?");
    expect(asked.text).toBe("size is big");
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect((await bridge.chain(id)).map((link) => link.reason)).toEqual(["first", "lost"]);
    expect(holdfastEvents(asked.updates).map((ours) => ours["event"])).toContain("session");
    expect(bridge.leaks()).toEqual([]);
  },
);

test("scenario 14: a transcript whose last line is torn is resumed, and nothing is told again", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  await host.restart();
  appendFileSync(agent.transcript(agent.ids()[0] ?? "") ?? "", '{"type":"user","mess');
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(agent.prompts().at(-1)).not.toContain(PREAMBLE);
  expect(await bridge.chain(id)).toHaveLength(1);
});

test.each(["claude", "codex"] as const)(
  "turns that %s had without us are adopted, told, and part of the conversation",
  async (like) => {
    await using bridge = await openKillable({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await host.restart();
    agent.add(
      agent.ids()[0] ?? "",
      { role: "user", texts: ["remember shape=round"], messageId: "msg_1" },
      { role: "assistant", texts: ["Noted shape=round."], messageId: "msg_2" },
    );
    const asked = await host.prompt(id, "what is shape?");
    expect(asked.text).toBe("shape is round");
    expect(holdfastEvents(asked.updates).map((ours) => ours["event"])).toContain("adopted");
    expect(await bridge.context(id)).toEqual([
      "user: remember color=blue",
      "assistant: Noted color=blue.",
      "user: remember shape=round",
      "assistant: Noted shape=round.",
      "user: what is shape?",
      "assistant: shape is round",
    ]);
    expect(await bridge.chain(id)).toHaveLength(1);
  },
);

test.each(["claude", "codex", "plain"] as const)(
  "scenario 10: the bridge is killed in a turn: %s leaves, the host sees what was said, nothing is sent again",
  async (like) => {
    await using bridge = await openKillable({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const from = host.messages.length;
    host.start(id, "partial half a word");
    await host.update((update) => JSON.stringify(update).includes("half a word"), from);
    await recorded(bridge, id, "half a word");
    const pid = agent.pid();
    await host.kill();
    await eventually("the agent leaves with its host", () => !agent.runs(pid));
    await host.restart();
    const again = host.messages.length;
    const asked = host.ask("session/load", { sessionId: id, cwd: bridge.dir, mcpServers: [] });
    const loaded = await host.finish(id, asked, again);
    expect(said(loaded.updates)).toEqual([
      "remember color=blue",
      "Noted color=blue.",
      "partial half a word",
      "half a word",
    ]);
    expect(agent.sent("partial half a word")).toBe(1);
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(agent.sent("partial half a word")).toBe(1);
    expect((await bridge.entries(id, "turn_end"))[1]).toMatchObject({ outcome: "interrupted" });
    expect(bridge.leaks()).toEqual([]);
  },
);

/** Waits until what was streamed is in the log: the prompt has the same words, so only an update counts. */
async function recorded(bridge: Bridge, id: string, words: string): Promise<void> {
  await expect.poll(async () => JSON.stringify(await bridge.entries(id, "update"))).toContain(words);
}

test("settings outlive the bridge", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say first");
  await host.call("session/set_mode", { sessionId: id, modeId: "plan" });
  await host.call("session/set_config_option", { sessionId: id, configId: "model", value: "large" });
  await host.restart();
  const { text } = await host.prompt(id, "config");
  expect(JSON.parse(text)).toMatchObject({ mode: "plan", model: "large", cwd: bridge.dir });
});

test("over files instead of a database it is the same", async () => {
  await using bridge = await openKillable({ like: "codex", jsonl: true });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  await host.restart();
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(bridge.leaks()).toEqual([]);
});
