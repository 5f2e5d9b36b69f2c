/** Scenario 25: one conversation, several agents; on a limit, by an option, by a command, by asking. */
import { expect, test } from "vitest";
import type { AgentFolder } from "../../../support/scripted-agent/agent-folder.ts";
import { failureOf, holdfastEvents, openBridge, type Bridge } from "../bridge.ts";
import { type Fields, fieldsOf } from "../../../support/scripted-agent/wire.ts";

function agentOf(bridge: Bridge, name: string): AgentFolder {
  const found = bridge.agents.get(name);
  if (found === undefined) throw new RangeError(`There is no agent ${name}`);
  return found;
}

const LIMITED = { failNext: { kind: "limit-reset", times: 9 } };

test.each(["codex", "opencode"] as const)(
  "scenario 25: limited on claude, the conversation goes on with %s and knows what was said",
  async (other) => {
    await using bridge = await openBridge({
      like: "claude",
      others: [other],
      args: ["--on-limit", "switch"],
    });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control(LIMITED);
    const asked = await host.prompt(id, "what is color?");
    expect(asked.error).toBeNull();
    expect(asked.text).toMatch(/color is blue$/);
    expect(holdfastEvents(asked.updates).map((ours) => ours["event"])).toContain("switched");
    expect(agent.sent("what is color?")).toBe(1);
    expect(agentOf(bridge, other).sent("what is color?")).toBe(1);
    expect((await bridge.chain(id)).map((link) => link.agent)).toEqual(["claude", other]);
    expect((await bridge.context(id)).at(-1)).toBe("assistant: color is blue");
    expect(bridge.leaks()).toEqual([]);
  },
);

test("scenario 25: parks by default, though there is another agent", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host, agent } = bridge;
  const id = await host.newSession();
  agent.control(LIMITED);
  expect(failureOf((await host.prompt(id, "say something")).error)).toMatchObject({
    class: "limit",
    kept: true,
  });
  expect(agentOf(bridge, "codex").prompts()).toEqual([]);
});

function agentOption(result: Fields): Fields {
  const options = (result["configOptions"] ?? []) as readonly Fields[];
  return fieldsOf(options.find((option) => option["id"] === "holdfast.agent"));
}

test("with several agents there is an option to choose one, and the choice carries the conversation", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host } = bridge;
  const made = await host.call("session/new", { cwd: bridge.dir, mcpServers: [] });
  const id = String(made["sessionId"]);
  expect(agentOption(made)).toMatchObject({ type: "select", currentValue: "claude" });
  await host.prompt(id, "remember color=blue");
  const set = await host.call("session/set_config_option", {
    sessionId: id,
    configId: "holdfast.agent",
    value: "codex",
  });
  expect(agentOption(set)).toMatchObject({ currentValue: "codex" });
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(agentOf(bridge, "codex").sent("what is color?")).toBe(1);
  expect(bridge.agent.sent("what is color?")).toBe(0);
  await host.call("session/set_config_option", {
    sessionId: id,
    configId: "holdfast.agent",
    value: "claude",
  });
  await host.prompt(id, "remember shape=round");
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(bridge.agent.sent("what is color?")).toBe(1);
  expect(bridge.leaks()).toEqual([]);
});

test("an agent that is not there cannot be chosen", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host } = bridge;
  const id = await host.newSession();
  const params = { sessionId: id, configId: "holdfast.agent", value: "nobody" };
  expect((await host.request("session/set_config_option", params)).error?.code).toBe(-32602);
  expect((await host.prompt(id, "say on")).text).toBe("on");
  expect(bridge.agent.sent("say on")).toBe(1);
});

test("a command switches too, is offered, and is sent to nobody", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const offered = await host.update((update) => {
    const commands = (update["availableCommands"] ?? []) as readonly Fields[];
    return commands.some((command) => command["name"] === "agent");
  });
  // The agent's own commands are still offered beside ours.
  expect(JSON.stringify(offered)).toContain("compact");
  const switched = await host.prompt(id, "/agent codex");
  expect(switched.result).toMatchObject({ stopReason: "end_turn" });
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(agentOf(bridge, "codex").prompts()).toHaveLength(1);
  for (const one of bridge.agents.values()) expect(one.prompts().join("\n")).not.toContain("/agent");
  expect(agent.sent("what is color?")).toBe(0);
});

test("with one agent there is neither option nor command, and its words are the agent's", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent } = bridge;
  const made = await host.call("session/new", { cwd: bridge.dir, mcpServers: [] });
  expect(agentOption(made)).toEqual({});
  await host.prompt(String(made["sessionId"]), "/agent codex");
  expect(agent.sent("/agent codex")).toBe(1);
});

async function limitedAndAsked(bridge: Bridge): Promise<{ id: string; prompt: number; asked: Fields }> {
  const { host, agent } = bridge;
  host.policy = "hold";
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  agent.control(LIMITED);
  const prompt = host.start(id, "what is color?");
  const asked = await host.message(
    "the question",
    (message) => message["method"] === "session/request_permission",
  );
  expect(fieldsOf(asked["params"])["sessionId"]).toBe(id);
  return { id, prompt, asked };
}

test("scenario 25: asked, a person may go on with the other agent", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"], args: ["--on-limit", "ask"] });
  const { host } = bridge;
  const from = host.messages.length;
  const { id, prompt, asked } = await limitedAndAsked(bridge);
  const options = fieldsOf(asked["params"])["options"] as readonly Fields[];
  const other = options.find((option) => JSON.stringify(option).includes("codex"));
  expect(other?.["kind"]).toMatch(/^allow/);
  host.respond(asked["id"], { outcome: { outcome: "selected", optionId: other?.["optionId"] } });
  expect((await host.finish(id, prompt, from)).text).toMatch(/color is blue$/);
  expect((await bridge.chain(id)).map((link) => link.agent)).toEqual(["claude", "codex"]);
});

test("scenario 25: asked, a person may also wait, and the prompt is kept", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"], args: ["--on-limit", "ask"] });
  const { host } = bridge;
  const { id, prompt, asked } = await limitedAndAsked(bridge);
  host.respond(asked["id"], { outcome: { outcome: "cancelled" } });
  expect(failureOf((await host.answerTo(prompt)).error)).toMatchObject({ class: "limit", kept: true });
  expect(agentOf(bridge, "codex").prompts()).toEqual([]);
  expect((await bridge.context(id)).at(-1)).toBe("user: what is color?");
});
