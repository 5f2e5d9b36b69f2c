/** Scenarios 19 and 20: what a host sets outlives the session it set it on; what it is asked is answered or resolved. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { metaOf, openBridge, type Bridge, openKillable } from "../bridge.ts";
import { type Fields, fieldsOf, textOf } from "../../../support/scripted-agent/wire.ts";

/** What the agent says its settings are. */
async function settingsOf(bridge: Bridge, id: string): Promise<Fields> {
  return fieldsOf(JSON.parse((await bridge.host.prompt(id, "config")).text));
}

/** Every byte of every file of the store. */
function storeBytes(bridge: Bridge): Buffer {
  const files = readdirSync(bridge.dir, { recursive: true, withFileTypes: true });
  const mine = files.filter((file) => file.isFile() && !file.parentPath.includes("agent-"));
  return Buffer.concat(mine.map((file) => readFileSync(join(file.parentPath, file.name))));
}

test.each(["claude", "codex", "opencode"] as const)(
  "scenario 19: mode, model and options set by the host are set again on the next session of %s",
  async (like) => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "say first");
    await host.call("session/set_mode", { sessionId: id, modeId: "plan" });
    await host.call("session/set_config_option", { sessionId: id, configId: "model", value: "large" });
    if (like === "claude")
      await host.call("session/set_config_option", { sessionId: id, configId: "effort", value: "high" });
    const wanted = { mode: "plan", model: "large", ...(like === "claude" ? { effort: "high" } : {}) };
    expect(await settingsOf(bridge, id)).toMatchObject({ ...wanted, cwd: bridge.dir });
    agent.control({ failNext: { kind: "expired", times: 1 } });
    await host.prompt(id, "say rolled over");
    expect(await bridge.chain(id)).toHaveLength(2);
    expect(await settingsOf(bridge, id)).toMatchObject({ ...wanted, cwd: bridge.dir });
    expect(bridge.leaks()).toEqual([]);
  },
);

test("scenario 19: all that is set in a row, and told twice, is set again in another process", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say first");
  await host.call("session/set_config_option", { sessionId: id, configId: "mode", value: "plan" });
  await host.call("session/set_config_option", { sessionId: id, configId: "model", value: "large" });
  await host.restart();
  agent.control({ resume: "unknown" });
  await host.load(id);
  expect(await settingsOf(bridge, id)).toMatchObject({ mode: "plan", model: "large" });
});

test("scenario 19: a mode that the agent chose by itself is kept too", async () => {
  await using bridge = await openBridge({ like: "gemini" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "mode yolo");
  agent.control({ failNext: { kind: "expired", times: 1 } });
  await host.prompt(id, "say rolled over");
  expect(await settingsOf(bridge, id)).toMatchObject({ mode: "yolo" });
});

/** The model a result tells, in either way a host may read it: as an option, or as the older protocol had it. */
function modelsTold(result: Fields | null): { readonly option?: unknown; readonly older?: unknown } {
  const { configOptions, models } = fieldsOf(result);
  const option = ((configOptions ?? []) as readonly Fields[]).find(({ id }) => id === "model");
  const older = fieldsOf(models)["currentModelId"];
  return {
    ...(option === undefined ? {} : { option: option["currentValue"] }),
    ...(older === undefined ? {} : { older }),
  };
}

const LARGE = { method: "session/set_config_option", params: { configId: "model", value: "large" } };

test.each([
  ["claude", LARGE, { option: "large" }],
  ["codex", LARGE, { option: "large", older: "large[low]" }],
  [
    "codex",
    { method: "session/set_model", params: { modelId: "large[high]" } },
    { option: "large", older: "large[high]" },
  ],
  ["gemini", { method: "session/set_model", params: { modelId: "large" } }, { older: "large" }],
] as const)(
  "a host that forks or loads a conversation with %s is told the model that is set: %o",
  async (like, chosen, told) => {
    await using bridge = await openBridge({ like });
    const { host, dir } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "say first");
    await host.call(chosen.method, { sessionId: id, ...chosen.params });
    expect(modelsTold((await host.load(id)).result)).toEqual(told);
    // Codex lets one client have a session.
    await host.hangUp();
    const other = await bridge.another();
    expect(modelsTold((await other.load(id)).result)).toEqual(told);
    const forked = await other.call("session/fork", { sessionId: id, cwd: dir, mcpServers: [] });
    expect(modelsTold(forked)).toEqual(told);
    const branch = textOf(forked["sessionId"]);
    expect(JSON.parse((await other.prompt(branch, "config")).text)).toMatchObject({ model: "large" });
    expect(metaOf(forked)["fidelity"]).toBe(like === "gemini" ? "preamble" : "native");
  },
);

test("scenario 19: an option the agent refuses is an error to the host, and is not set later either", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say first");
  const params = { sessionId: id, configId: "model", value: "nonesuch" };
  expect((await host.request("session/set_config_option", params)).error?.code).toBe(-32602);
  agent.control({ failNext: { kind: "expired", times: 1 } });
  await host.prompt(id, "say rolled over");
  expect(await settingsOf(bridge, id)).toMatchObject({ model: "small" });
});

test.each([{ jsonl: false }, { jsonl: true }])(
  "the secrets of MCP servers reach the agent again after a rollover and never the store: %o",
  async ({ jsonl }) => {
    await using bridge = await openBridge({ like: "codex", jsonl });
    const { host, agent } = bridge;
    const mcpServers = [
      {
        name: "files",
        command: "mcp-files",
        args: ["--x"],
        env: [{ name: "TOKEN", value: "s3cr3t-of-env" }],
      },
      {
        type: "http",
        name: "web",
        url: "http://127.0.0.1:1/mcp",
        headers: [{ name: "Authorization", value: "Bearer s3cr3t-of-header" }],
      },
    ];
    const id = await host.newSession({ mcpServers });
    await host.prompt(id, "say first");
    agent.control({ failNext: { kind: "expired", times: 1 } });
    await host.prompt(id, "say rolled over");
    const given = agent.of("session/new").map(({ params }) => params["mcpServers"]);
    expect(given).toEqual([mcpServers, mcpServers]);
    const bytes = storeBytes(bridge);
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytes.includes("s3cr3t-of-env")).toBe(false);
    expect(bytes.includes("s3cr3t-of-header")).toBe(false);
    expect(bytes.includes("TOKEN")).toBe(true);
    expect(bytes.includes("Authorization")).toBe(true);
  },
);

test("MCP servers given anew with a load are the ones that count", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const server = (value: string): Fields => ({
    name: "files",
    command: "mcp-files",
    args: [],
    env: [{ name: "TOKEN", value }],
  });
  const id = await host.newSession({ mcpServers: [server("old")] });
  await host.prompt(id, "say first");
  await host.load(id, { mcpServers: [server("new")] });
  agent.control({ failNext: { kind: "expired", times: 1 } });
  await host.prompt(id, "say rolled over");
  expect(agent.of("session/new").at(-1)?.params["mcpServers"]).toEqual([server("new")]);
});

describe("a permission", () => {
  test("reaches the host, and its answer the agent, both ways", async () => {
    await using bridge = await openBridge({ like: "claude", ask: true });
    const { host, dir } = bridge;
    const id = await host.newSession();
    const file = join(dir, "side");
    host.policy = "reject";
    expect((await host.prompt(id, `tool ${file} one`)).text).toBe("Not allowed: Write one.");
    expect(existsSync(file)).toBe(false);
    host.policy = "allow";
    expect((await host.prompt(id, `tool ${file} two`)).text).toBe("Done: wrote two.");
    expect(readFileSync(file, "utf8")).toBe("two\n");
    const asked = host.messages.filter((message) => message["method"] === "session/request_permission");
    expect(asked.map((message) => fieldsOf(message["params"])["sessionId"])).toEqual([id, id]);
    expect((await bridge.entries(id, "permission")).length).toBeGreaterThanOrEqual(2);
    expect(bridge.leaks()).toEqual([]);
  });

  test("scenario 20: that is open at a cancel is answered as cancelled, and the tool does not run", async () => {
    await using bridge = await openBridge({ like: "claude", ask: true });
    const { host, agent, dir } = bridge;
    host.policy = "hold";
    const id = await host.newSession();
    const file = join(dir, "side");
    const prompt = host.start(id, `tool ${file} one`);
    const asked = await host.message(
      "a permission",
      (message) => message["method"] === "session/request_permission",
    );
    host.notify("session/cancel", { sessionId: id });
    host.respond(asked["id"], { outcome: { outcome: "cancelled" } });
    expect((await host.answerTo(prompt)).result).toMatchObject({ stopReason: "cancelled" });
    expect(existsSync(file)).toBe(false);
    const answers = agent.received().filter(({ message }) => message["method"] === undefined);
    expect(answers.map(({ message }) => message["result"])).toEqual([{ outcome: { outcome: "cancelled" } }]);
    host.policy = "allow";
    expect((await host.prompt(id, "say on")).text).toBe("on");
  });

  test("scenario 20: that the host forgets at a cancel is answered for it", async () => {
    await using bridge = await openBridge({ like: "codex", ask: true });
    const { host, agent, dir } = bridge;
    host.policy = "hold";
    const id = await host.newSession();
    const prompt = host.start(id, `tool ${join(dir, "side")} one`);
    await host.message("a permission", (message) => message["method"] === "session/request_permission");
    host.notify("session/cancel", { sessionId: id });
    expect((await host.answerTo(prompt)).result).toMatchObject({ stopReason: "cancelled" });
    expect(JSON.stringify(agent.received().map(({ message }) => message["result"]))).toContain("cancelled");
    expect(existsSync(join(dir, "side"))).toBe(false);
  });
});
