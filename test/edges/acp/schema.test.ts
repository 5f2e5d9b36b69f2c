/** Everything the bridge says is in the protocol's own words: each line a host gets is held against the schema. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { wrongWith } from "./acp-schema.ts";
import { type Bridge, openBridge, openKillable } from "./bridge.ts";
import type { AcpHost } from "./host.ts";
import { LIKES } from "../../support/scripted-agent/flavours.ts";
import { fieldsOf, textOf } from "../../support/scripted-agent/wire.ts";

const IMAGE = { type: "image", data: "aGk=", mimeType: "image/png" };
const LINK = { type: "resource_link", uri: "file:///x", name: "x", size: 3 };
const FILE = { type: "resource", resource: { uri: "file:///y", text: "y", mimeType: "text/plain" } };

/** Codex and Gemini still tell their models in a member that the protocol has given up; it passes as it came. */
const FORMER = /Response\.models is not in the schema$/;

/** Each line that is not as it should be, with what is wrong with it. */
function faults(host: AcpHost): readonly string[] {
  return host.messages.flatMap((message) => {
    // What an agent says in words of its own is passed on, too.
    if (textOf(message["method"]).startsWith("_")) return [];
    const wrong = wrongWith(message, (id) => host.asked.get(id)).filter((what) => !FORMER.test(what));
    return wrong.map((what) => `${what}: ${JSON.stringify(message).slice(0, 600)}`);
  });
}

async function fork(bridge: Bridge, sessionId: string): Promise<string> {
  const params = { sessionId, cwd: bridge.dir, mcpServers: [] };
  return textOf((await bridge.host.call("session/fork", params))["sessionId"]);
}

async function everythingSaid(bridge: Bridge, id: string): Promise<void> {
  const { host, agent, dir } = bridge;
  const prompt = [IMAGE, LINK, FILE, { type: "text", text: "remember color=blue" }];
  await host.call("session/prompt", { sessionId: id, prompt });
  await host.prompt(id, "think of the sea");
  await host.prompt(id, `tool ${join(dir, "effects")} one`);
  agent.control({ ask: true });
  await host.prompt(id, `tool ${join(dir, "effects")} two`);
  host.policy = "reject";
  await host.prompt(id, `tool ${join(dir, "effects")} three`);
  host.policy = "allow";
  for (const order of ["plan", "usage", "title A good name", "mode plan", "retry-inside"])
    await host.prompt(id, order);
  const from = host.messages.length;
  const running = host.start(id, "partial Half of it, ");
  await host.update((update) => JSON.stringify(update).includes("Half of it"), from);
  host.notify("session/cancel", { sessionId: id });
  await host.answerTo(running);
}

/** Every way to fail, and the words for it. */
async function everythingFailed(bridge: Bridge, id: string): Promise<void> {
  const { host, agent, dir } = bridge;
  for (const kind of ["limit-reset", "401", "credit", "expired", "exited"])
    await host.prompt(id, `fail ${kind}`);
  agent.control({ failNext: { kind: "500", times: 1 } });
  await host.prompt(id, "say it after a while");
  await host.prompt(id, "empty");
  await host.prompt(id, `die-in-tool ${join(dir, "died")}`);
  await host.prompt(id, "what is color?");
  for (const lost of agent.ids()) agent.lose(lost);
  await host.prompt(id, "die");
  await host.prompt(id, "what is color?");
  await host.request("session/prompt", { sessionId: "nobody", prompt: [] });
  await host.request("session/prompt", { sessionId: id });
  await host.request("session/load", { sessionId: "nobody", cwd: dir, mcpServers: [] });
  await host.request("session/list", { cursor: "none of ours" });
  await host.request("session/fork", {
    sessionId: id,
    cwd: dir,
    _meta: { holdfast: { at: "nowhere" } },
  });
  await host.request("session/new", { mcpServers: [] });
}

async function everythingOpened(bridge: Bridge, id: string): Promise<void> {
  const { host, dir } = bridge;
  expect((await host.load(id)).error).toBeNull();
  await host.restart();
  expect((await host.load(id)).error).toBeNull();
  await host.call("session/resume", { sessionId: id, cwd: dir, mcpServers: [] });
  const branch = await fork(bridge, id);
  await host.prompt(branch, "what is color?");
  const history = [
    { role: "user", content: "remember shape=round" },
    { role: "assistant", content: [IMAGE, { type: "text", text: "Noted." }] },
  ];
  expect((await host.load("brought-along", { history })).error).toBeNull();
  expect((await host.load("brought-along", { history })).error).toBeNull();
  await host.call("session/list", {});
  await host.call("session/list", { cwd: dir });
  await host.call("session/close", { sessionId: branch });
  await host.call("session/delete", { sessionId: branch });
}

/** How a person is told; one of the hosts here shows notices. */
const TOLD = {
  claude: "agent_thought_chunk",
  codex: "notice",
  opencode: "agent_thought_chunk",
  gemini: "agent_thought_chunk",
  plain: "agent_thought_chunk",
};

test.each(LIKES)("a rich life with %s has no line that the schema does not know", async (like) => {
  const clientCapabilities = like === "codex" ? { session: { notices: {} } } : {};
  await using bridge = await openKillable({ like, clientCapabilities });
  const { host } = bridge;
  const id = await host.newSession();
  await everythingSaid(bridge, id);
  await everythingFailed(bridge, id);
  await everythingOpened(bridge, id);
  const updates = host.messages.map((message) => fieldsOf(fieldsOf(message["params"])["update"]));
  const kinds = updates.map((update) => update["sessionUpdate"]);
  expect(kinds).toEqual(expect.arrayContaining(["user_message_chunk", "tool_call", "plan", TOLD[like]]));
  expect(faults(host)).toEqual([]);
});

test.each(["switch", "ask"])("several agents and --on-limit %s", async (onLimit) => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"], args: ["--on-limit", onLimit] });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  agent.control({ failNext: { kind: "limit-reset", times: 1 } });
  await host.prompt(id, "what is color?");
  const back = { sessionId: id, configId: "holdfast.agent", value: "claude" };
  await host.call("session/set_config_option", back);
  await host.call("session/set_config_option", { sessionId: id, configId: "model", value: "large" });
  await host.call("session/set_mode", { sessionId: id, modeId: "plan" });
  await host.prompt(id, "/agent codex");
  await host.prompt(id, "/agent");
  await host.prompt(id, "what is color?");
  await host.request("session/set_config_option", { ...back, value: "nobody" });
  expect((await host.load(id)).error).toBeNull();
  const asked = host.messages.filter((message) => message["method"] === "session/request_permission");
  expect(asked).toHaveLength(onLimit === "ask" ? 1 : 0);
  expect(faults(host)).toEqual([]);
});
