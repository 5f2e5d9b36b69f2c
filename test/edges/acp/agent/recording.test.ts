/** What is kept, what is not, and what small print must not break. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../eventually.ts";
import { killableMiniBridge, miniBridge, runs } from "../mini-agent.ts";
import { fieldsOf } from "../../../support/scripted-agent/wire.ts";

test("sound in a prompt is kept and shown again", async () => {
  await using bridge = miniBridge("");
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const sound = { type: "audio", data: "UklGRg==", mimeType: "audio/wav" };
  await host.call("session/prompt", { sessionId: id, prompt: [{ type: "text", text: "hear" }, sound] });
  const from = host.messages.length;
  await host.load(id);
  expect(host.updates(id, from).map((update) => update["content"])).toContainEqual(sound);
});

test("no secret of an MCP server is stored, wherever the host puts it", async () => {
  await using bridge = miniBridge("");
  const { host } = bridge;
  await host.initialize();
  const server = {
    type: "http",
    name: "s",
    url: "https://example.com/mcp",
    headers: [{ name: "Authorization", value: "SECRET-header", _meta: { t: "SECRET-pair" } }],
    _meta: { token: "SECRET-meta" },
  };
  const id = await host.newSession({ mcpServers: [server], _meta: { token: "SECRET-params" } });
  await host.prompt(id, "hello");
  expect(await bridge.entries(id, "config_change")).toHaveLength(1);
  expect(bridge.stored().includes("SECRET")).toBe(false);
});

test("a list that is null stays null where the bridge has something to add", async () => {
  await using bridge = miniBridge(
    `
    const { method, params } = message;
    if (method === "session/prompt") {
      update(params.sessionId, { sessionUpdate: "config_option_update", configOptions: null });
      update(params.sessionId, { sessionUpdate: "available_commands_update", availableCommands: null });
    }
    if (method === "session/set_config_option") { answer(message.id, { configOptions: null }); return true; }
  `,
    { twice: true },
  );
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  expect((await host.prompt(id, "hello")).text).toBe("You said hello");
  const set = await host.call("session/set_config_option", { sessionId: id, configId: "x", value: "y" });
  expect(set).toEqual({ configOptions: null });
  expect(host.lines.every((line) => !line.includes("nul,"))).toBe(true);
});

test("what the bridge can do is not denied by an agent that says null", async () => {
  await using bridge = miniBridge(`
    if (message.method === "initialize") {
      const sessionCapabilities = { fork: null, list: null, close: {} };
      answer(message.id, { protocolVersion: 1, agentCapabilities: { sessionCapabilities } });
      return true;
    }
  `);
  const { agentCapabilities } = await bridge.host.initialize();
  const { sessionCapabilities } = fieldsOf(agentCapabilities);
  expect(sessionCapabilities).toEqual({ list: {}, resume: {}, close: {}, delete: {}, fork: {} });
});

test("a notification with an id of null stays one, and what is answered is not taken back", async () => {
  await using bridge = miniBridge(`
    const { method, params, id } = message;
    if (method === "session/prompt") {
      waiting.set("prompt", id);
      say('{"jsonrpc":"2.0","id":null,"method":"_note","params":{"sessionId":"' + params.sessionId + '"}}');
      say('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}');
      say('{"jsonrpc":"2.0","id":0,"method":"_ask","params":{"sessionId":"' + params.sessionId + '"}}');
      return true;
    }
    if (method === undefined && id === 0) { answer(waiting.get("prompt"), { stopReason: "end_turn" }); return true; }
  `);
  const { host } = bridge;
  host.answers.set("_ask", () => ({}));
  await host.initialize();
  await host.prompt(await host.newSession(), "hello");
  expect(host.messages.find((message) => message["method"] === "_note")).toMatchObject({ id: null });
  expect(host.messages.some((message) => message["method"] === "$/cancel_request")).toBe(false);
});

test("a permission that a cancel answers is recorded with its answer", async () => {
  await using bridge = miniBridge(`
    const { method, params, id } = message;
    if (method === "session/prompt") {
      waiting.set("prompt", id);
      const options = [{ optionId: "a", name: "A", kind: "allow_once" }];
      say(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "session/request_permission", params: {
        sessionId: params.sessionId, toolCall: { toolCallId: "t1", title: "rm" }, options } }));
      return true;
    }
    if (method === undefined && id === 0) { answer(waiting.get("prompt"), { stopReason: "cancelled" }); return true; }
  `);
  const { host } = bridge;
  host.policy = "hold";
  await host.initialize();
  const id = await host.newSession();
  const asked = host.start(id, "hello");
  await host.message("the dialog", (message) => message["method"] === "session/request_permission");
  host.notify("session/cancel", { sessionId: id });
  await host.answerTo(asked);
  expect((await bridge.entries(id, "permission")).at(-1)).toMatchObject({
    data: { outcome: { outcome: "cancelled" } },
  });
});

test("large tool outputs, told several times over, do not wedge a conversation", async () => {
  await using bridge = miniBridge(`
    const { method, params } = message;
    if (method === "session/prompt" && textOf(params) === "large") {
      const text = "x".repeat(8_000_000);
      for (const toolCallId of ["t1", "t2", "t3"]) {
        update(params.sessionId, { sessionUpdate: "tool_call", toolCallId, title: "t", status: "pending" });
        update(params.sessionId, { sessionUpdate: "tool_call_update", toolCallId, content: [
          { type: "diff", path: "/a", oldText: text, newText: "y" }] });
      }
      for (const toolCallId of ["t1", "t2", "t3"])
        update(params.sessionId, { sessionUpdate: "tool_call_update", toolCallId, status: "completed", rawOutput: text });
    }
  `);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  expect((await host.prompt(id, "large")).error).toBeNull();
  expect((await host.prompt(id, "hello")).text).toBe("You said hello");
});

test("an agent whose list fails keeps nobody from the conversations", async () => {
  await using bridge = miniBridge(`
    if (message.method === "initialize") {
      answer(message.id, { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { list: {} } } });
      return true;
    }
    if (message.method === "session/list") { fail(message.id, { code: -32603, message: "no" }); return true; }
  `);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  await host.prompt(id, "hello");
  const rows: unknown[] = [];
  for (let cursor: unknown = undefined; ;) {
    const page = await host.call("session/list", cursor === undefined ? {} : { cursor });
    rows.push(...(page["sessions"] as readonly { sessionId: string }[]).map(({ sessionId }) => sessionId));
    cursor = page["nextCursor"];
    if (cursor === undefined) break;
  }
  expect(rows).toEqual([id]);
});

test("a conversation whose project has moved goes on in the new place", async () => {
  await using bridge = miniBridge("");
  const { host, dir } = bridge;
  await host.initialize();
  const id = await host.newSession();
  await host.prompt(id, "hello");
  const moved = join(dir, "moved");
  mkdirSync(moved);
  await host.load(id, { cwd: moved });
  await host.prompt(id, "again");
  expect(fieldsOf(bridge.received("session/new").at(-1)?.["params"])["cwd"]).toBe(moved);
});

test("a hang-up of the terminal leaves no agent behind", async () => {
  await using bridge = killableMiniBridge(`
    process.on("SIGTERM", () => process.exit(0));
    if (globalThis.kept === undefined) globalThis.kept = setInterval(() => undefined, 1000);
    process.stdin.removeAllListeners("end");
  `);
  const { host } = bridge;
  await host.initialize();
  await host.prompt(await host.newSession(), "hello");
  process.kill(host.pid, "SIGHUP");
  await eventually("the bridge is gone", () => host.exited);
  expect(bridge.pids().filter((pid) => runs(pid))).toEqual([]);
});
