/** Two windows on one conversation: each shows what the other does, once, and says so when it has to wait. */
import { describe, expect, test } from "vitest";
import { failureOf, holdfastEvents, openBridge } from "./bridge.ts";
import type { AcpHost } from "./host.ts";
import { wordsOf } from "./told-updates.ts";
import { type Fields, fieldsOf, textOf } from "./scripted/wire.ts";

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
    await host.call("session/set_mode", { sessionId: id, modeId: "plan" });
    await other.update(
      isUpdate("current_mode_update", (update) => update["currentModeId"] === "plan"),
      from,
    );
    await host.call("session/set_config_option", { sessionId: id, configId: "model", value: "large" });
    const written = new Set((await bridge.log(id)).map((entry) => entry["id"]));
    await other.update(
      isUpdate("config_option_update", (update) => currentValue(update, "model") === "large"),
      from,
    );
    const { text } = await other.prompt(id, "config");
    expect(JSON.parse(text)).toMatchObject({ mode: "plan", model: "large" });
    // To follow writes nothing: what the one chose stands in the log once.
    const since = (await bridge.log(id)).filter((entry) => !written.has(entry["id"]));
    const settings = since.filter((entry) => /^(?:config|model)_change$/.test(textOf(entry["type"])));
    expect(settings).toEqual([]);
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
  await other.load(id);
  const { error } = await other.prompt(id, "say me too");
  const failure = failureOf(error);
  expect(failure["code"]).toBe("busy");
  expect(textOf(failure["message"])).toMatch(/^Another window \(process \d+\) is at work .* since 20\d\d-/);
  expect(textOf(failure["message"])).not.toMatch(/ ms |begun|boot|pid:/);
  expect(error?.message).toBe(failure["message"]);
  host.notify("session/cancel", { sessionId: id });
  await host.answerTo(asked);
  expect((await other.prompt(id, "say now")).text).toBe("now");
  expect(saidBy(other, id, from, "user_message_chunk").filter((text) => text === "say me too")).toEqual([]);
});
