/** Two windows on one conversation: each shows what the other does, once, and says so when it has to wait. */
import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { failureOf, holdfastEvents, openBridge } from "../bridge.ts";
import type { AcpHost } from "../host.ts";
import { wordsOf } from "../shown-updates.ts";
import { type Fields, fieldsOf, textOf } from "../../../support/scripted-agent/wire.ts";

function saidBy(host: AcpHost, id: string, from: number, kind: string): readonly string[] {
  return host
    .updates(id, from)
    .filter((update) => update["sessionUpdate"] === kind)
    .map((update) => textOf(fieldsOf(update["content"])["text"]));
}

const says =
  (kind: string, text: string) =>
  (update: Fields): boolean =>
    update["sessionUpdate"] === kind && textOf(fieldsOf(update["content"])["text"]).includes(text);

describe.each([false, true])("over JSONL: %s", (jsonl) => {
  test("a turn of the one is shown by the other, prompt, tool and answer, and each turn once by each", async () => {
    await using bridge = await openBridge({ like: "codex", jsonl });
    const { host, dir } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "say first");
    const other = await bridge.another();
    expect((await other.load(id)).error).toBeNull();
    const from = other.messages.length;
    await host.prompt(id, `tool ${dir}/out x`);
    await other.update(says("agent_message_chunk", "Done: wrote x."), from);
    expect(saidBy(other, id, from, "user_message_chunk")).toEqual([`tool ${dir}/out x`]);
    const tools = other.updates(id, from).filter((update) => update["toolCallId"] !== undefined);
    expect(tools.at(0)).toMatchObject({ sessionUpdate: "tool_call", title: "Write x" });
    expect(tools.at(-1)).toMatchObject({ sessionUpdate: "tool_call_update", status: "completed" });
    const since = host.messages.length;
    expect((await other.prompt(id, "say second")).text).toBe("second");
    await host.update(says("agent_message_chunk", "second"), since);
    expect(saidBy(host, id, since, "user_message_chunk")).toEqual(["say second"]);
    expect(wordsOf(host.updates(id, since))).toBe("second");
    // Its own turns were told it by its agent, and by nobody else.
    expect(saidBy(other, id, from, "user_message_chunk")).toHaveLength(1);
    expect((await host.prompt(id, "say third")).text).toBe("third");
    await other.update(says("agent_message_chunk", "third"), from);
    expect(saidBy(other, id, from, "user_message_chunk")).toEqual([`tool ${dir}/out x`, "say third"]);
    expect(saidBy(host, id, since, "user_message_chunk")).toEqual(["say second"]);
  });
});

test("settings that two windows choose in turn are all kept", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say first");
  const other = await bridge.another();
  expect((await other.load(id)).error).toBeNull();
  await host.call("session/set_mode", { sessionId: id, modeId: "plan" });
  await other.call("session/set_config_option", { sessionId: id, configId: "model", value: "large" });
  await host.call("session/set_config_option", { sessionId: id, configId: "effort", value: "high" });
  const { config } = fieldsOf((await bridge.entries(id, "config_change")).at(-1));
  expect(fieldsOf(fieldsOf(config)["agents"])["claude"]).toMatchObject({
    mode: "plan",
    options: { model: "large", effort: "high" },
  });
});

const isUpdate =
  (kind: string, fits: (update: Fields) => boolean = () => true) =>
  (update: Fields): boolean =>
    update["sessionUpdate"] === kind && fits(update);

function currentValue(update: Fields, id: string): unknown {
  const options = update["configOptions"] as readonly Fields[];
  return options.find((option) => option["id"] === id)?.["currentValue"];
}

const LIKES = ["claude", "codex"] as const;

test.each(LIKES)(
  "what one window sets for %s holds in the other, and its agent works by it",
  async (like) => {
    await using bridge = await openBridge({ like });
    const { host } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "say first");
    const other = await bridge.another();
    expect((await other.load(id)).error).toBeNull();
    const from = other.messages.length;
    // Codex lets one client have a session, so this window has none before its first prompt.
    const hasSession = like === "claude";
    await host.call("session/set_mode", { sessionId: id, modeId: "plan" });
    if (hasSession)
      await other.update(
        isUpdate("current_mode_update", (update) => update["currentModeId"] === "plan"),
        from,
      );
    await host.call("session/set_config_option", { sessionId: id, configId: "model", value: "large" });
    const written = new Set((await bridge.log(id)).map((entry) => entry["id"]));
    const told = (): Promise<Fields> =>
      other.update(
        isUpdate("config_option_update", (update) => currentValue(update, "model") === "large"),
        from,
      );
    if (hasSession) await told();
    const { text } = await other.prompt(id, "config");
    await told();
    expect(JSON.parse(text)).toMatchObject({ mode: "plan", model: "large" });
    // To follow writes nothing: what the one chose stands in the log once.
    const since = (await bridge.log(id)).filter((entry) => !written.has(entry["id"]));
    const settings = since.filter((entry) => /^(?:config|model)_change$/.test(textOf(entry["type"])));
    if (hasSession) expect(settings).toEqual([]);
  },
);

test("an agent that one window chooses carries the next prompt of the other", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say first");
  const other = await bridge.another();
  expect((await other.load(id)).error).toBeNull();
  const from = other.messages.length;
  await host.call("session/set_config_option", { sessionId: id, configId: "holdfast.agent", value: "codex" });
  await other.update(
    isUpdate("config_option_update", (update) => currentValue(update, "holdfast.agent") === "codex"),
    from,
  );
  expect(holdfastEvents(other.updates(id, from))).toContainEqual({
    event: "switched",
    from: "claude",
    agent: "codex",
  });
  expect((await other.prompt(id, "say second")).text).toBe("second");
  expect((await bridge.chain(id)).at(-1)?.agent).toBe("codex");
  // The options of the agent that carries it now follow once it has a session here.
  const last = other.updates(id, from).findLast(isUpdate("config_option_update"));
  expect(currentValue(last ?? {}, "model")).toBeDefined();
});

test("a window that has to wait says who is at work, since when, and what can be done", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host } = bridge;
  const id = await host.newSession();
  const asked = host.start(id, "partial half a word");
  await host.update(says("agent_message_chunk", "half a word"));
  const other = await bridge.another();
  const from = other.messages.length;
  const server = { name: "files", command: "mcp-files", args: [], env: [] };
  expect((await other.load(id, { mcpServers: [server] })).error).toBeNull();
  const { error } = await other.prompt(id, "say me too");
  const failure = failureOf(error);
  expect(failure["code"]).toBe("busy");
  expect(textOf(failure["message"])).toMatch(/^Another window \(process \d+\) .* since 20\d\d-/);
  expect(textOf(failure["message"])).not.toMatch(/ ms |begun|boot|pid:/);
  expect(error?.message).toBe(failure["message"]);
  host.notify("session/cancel", { sessionId: id });
  await host.answerTo(asked);
  expect((await other.prompt(id, "say now")).text).toBe("now");
  expect(saidBy(other, id, from, "user_message_chunk").filter((text) => text === "say me too")).toEqual([]);
});

test.each(LIKES)("%s stays in one session when two windows ask it in turn", async (like) => {
  await using bridge = await openBridge({ like });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const other = await bridge.another();
  expect((await other.load(id)).error).toBeNull();
  expect((await other.prompt(id, "what is color?")).text).toBe("color is blue");
  await other.prompt(id, "remember shape=round");
  expect((await host.prompt(id, "what is shape?")).text).toContain("shape is round");
  await host.prompt(id, "remember size=big");
  expect((await other.prompt(id, "what is size?")).text).toContain("size is big");
  expect((await bridge.chain(id)).map(({ reason }) => reason)).toEqual(["first"]);
});

test("a session that another program has open is left to it: a new one is told what was said", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const [session = ""] = agent.ids();
  const holder = spawn("sleep", ["600"]);
  try {
    await host.hangUp();
    agent.holdBy(session, holder.pid ?? 0);
    const other = await bridge.another();
    expect((await other.load(id)).error).toBeNull();
    expect((await other.prompt(id, "what is color?")).text).toBe("color is blue");
  } finally {
    holder.kill("SIGKILL");
  }
  expect((await bridge.chain(id)).map(({ reason }) => reason)).toEqual(["first", "in_use"]);
});

test.each(LIKES)("two windows that open a session only %s has both get it", async (like) => {
  await using bridge = await openBridge({ like });
  const { host } = bridge;
  await host.prompt(await host.newSession(), "remember color=blue");
  const [session = ""] = bridge.agent.ids();
  await host.hangUp();
  const windows = [await bridge.another("--store", `sqlite:${bridge.dir}/two.db`)];
  windows.push(await bridge.another("--store", `sqlite:${bridge.dir}/two.db`));
  const id = `${like}:${session}`;
  const loaded = await Promise.all(windows.map((window) => window.load(id)));
  expect(loaded.map(({ error }) => error)).toEqual([null, null]);
  for (const window of windows)
    expect(saidBy(window, id, 0, "user_message_chunk")).toEqual(["remember color=blue"]);
});
