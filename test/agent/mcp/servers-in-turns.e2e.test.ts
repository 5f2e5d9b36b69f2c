/** Servers in an agent's turns: the one of the protocol's own makers over both transports, and what the log has of them. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { McpServers } from "#agent/mcp/mcp-servers";
import type { McpServer } from "#agent/mcp/mcp-server";
import { DEFAULT_POLICY } from "#agent/tools/permissions";
import { openHoldfast } from "#index";
import type { ToolOutput } from "#turn/effects/tool";
import { openToolProcesses } from "#turn/effects/left-processes";
import { eventually } from "../../edges/acp/eventually.ts";
import { runs } from "../../edges/acp/mini-agent.ts";
import { runProgram } from "../../support/process-life.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { agentRig, said } from "../rig.ts";
import { call, hostile, words } from "./mcp-rig.ts";

const EVERYTHING = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

const use = (id: string, name: string, input: unknown = {}) => ({ id, name, input });
const overStdio = (more: object = {}): McpServer => ({
  name: "every",
  command: process.execPath,
  args: [EVERYTHING, "stdio"],
  ...more,
});

async function overHttp(given?: number): Promise<McpServer & { readonly child: ChildProcess }> {
  const port = given ?? (await freePort());
  const child = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  children.push(child);
  await new Promise<void>((resolve) => {
    let heard = "";
    child.stderr.on("data", (part: Buffer) => {
      heard += part.toString();
      if (heard.includes("listening")) resolve();
    });
  });
  return { name: "every", url: `http://127.0.0.1:${port}/mcp`, headers: { "x-key": "hush" }, child };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

function programs(): readonly [host: string, server: string] {
  const support = join(import.meta.dirname, "../../support");
  return [join(support, "mcp-host.ts"), join(support, "hostile-server.ts")];
}

describe.each([
  ["a program", async () => overStdio()],
  ["streamable HTTP", () => overHttp()],
])("a real server as %s", (_, given) => {
  test("its tools are called, images are kept as blobs, structured content beside them; every call asks", async () => {
    const server = await given();
    await using servers = new McpServers([server]);
    const calls = [
      use("a", "every__echo", { message: "hi" }),
      use("b", "every__get-sum", { a: 2, b: 3 }),
      use("c", "every__get-tiny-image"),
      use("d", "every__get-structured-content", { location: "Chicago" }),
      use("e", "every__echo", { wrong: 1 }),
    ];
    const rig = await agentRig([{ calls }, { text: "ok" }], { servers, permission: DEFAULT_POLICY });
    const asked: string[] = [];
    const result = await rig.agent.send("c", "go", {
      onPermission: async ({ tool }) => {
        asked.push(tool);
        return "allow";
      },
    });
    expect(result.outcome).toBe("completed");
    expect(asked).toHaveLength(4);
    const { messages, servers: restored, missing } = await rig.agent.restore("c");
    const results = messages.filter(({ role }) => role === "toolResult");
    expect((await said(rig.conversation)).join("\n")).toContain("Echo: hi");
    expect(JSON.stringify(results[1])).toContain("5");
    expect(results[2]?.content).toContainEqual({
      type: "image",
      mediaType: "image/png",
      blob: expect.any(String),
    });
    expect(JSON.stringify(await Array.fromAsync(rig.conversation.log()))).toContain('\\"structured\\"');
    expect(results[4]).toMatchObject({ isError: true });
    expect(missing).toEqual([]);
    expect(restored).toMatchObject([{ name: "every", state: "open", openedInMs: expect.any(Number) }]);
    expect(restored[0]?.tools).toContain("every__echo");
    // What the log has of it is enough to name it, and no secret.
    const log = JSON.stringify(await Array.fromAsync(rig.conversation.log()));
    expect(log).toContain("every__get-sum");
    expect(log).not.toContain("hush");
    expect(log).not.toContain("streamableHttp");
    // Another turn has nothing new to write of it.
    await rig.agent.send("c", "again");
    const changes = (await Array.fromAsync(rig.conversation.log())).filter(
      ({ type }) => type === "config_change",
    );
    expect(changes).toHaveLength(1);
  });
});

describe("what a log says of servers", () => {
  test("starts nothing: one that it names and the host does not give is missing, with its tools", async () => {
    using dir = tempDir();
    const file = join(dir.path, "started");
    const { command, args } = hostile("well", { file }) as { command: string; args: readonly string[] };
    const rig = await agentRig([{ text: "ok" }], { tools: [] });
    const named = { name: "odd", command, args: [...args], tools: ["odd__echo", "odd__die"] };
    await rig.conversation.append({ type: "config_change", config: { mcpServers: [named] } });
    const { servers, missing } = await rig.agent.restore("c");
    expect(servers).toMatchObject([{ name: "odd", state: "missing", tools: ["odd__echo", "odd__die"] }]);
    expect(missing).toMatchObject([
      { kind: "server", name: "odd", message: expect.stringContaining("odd__die") },
    ]);
    await rig.agent.send("c", "go");
    expect(rig.model.asked[0]?.tools ?? []).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });

  test("names the tools of one that fails here, and they stay the conversation's", async () => {
    await using good = new McpServers([hostile()]);
    const rig = await agentRig([{ calls: [use("a", "odd__echo")] }, { text: "ok" }], { servers: good });
    await rig.agent.send("c", "go");
    await using bad = new McpServers([hostile("dies")]);
    const later = rig.another([{ calls: [use("b", "odd__echo")] }, { text: "ok" }], { servers: bad });
    const { servers, missing } = await later.agent.restore("c");
    expect(servers).toMatchObject([
      { name: "odd", state: "failed", openedInMs: null, tools: { length: 12 } },
    ]);
    expect(missing.map(({ kind, name }) => [kind, name])).toEqual([
      ["tool", "odd__echo"],
      ["server", "odd"],
    ]);
    expect(missing[1]?.message).toContain("odd__flood");
    // The call is refused in words, and a host that has it again finds all as it was.
    expect(await later.agent.send("c", "go on")).toMatchObject({ outcome: "completed" });
    const third = rig.another([], { servers: good });
    expect((await third.agent.restore("c")).missing).toEqual([]);
  });
});

test("a service that goes away and comes back is called again: one result says so, the next is there", async () => {
  const { child, ...server } = await overHttp();
  await using servers = new McpServers([server]);
  const tools = await servers.tools();
  const echo = (): Promise<ToolOutput> => call(tools, "every__echo", { message: "hi" });
  expect(words(await echo())).toBe("Echo: hi");
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  expect(await echo()).toMatchObject({ isError: true });
  expect(await echo()).toMatchObject({ isError: true, content: expect.stringContaining("was not called") });
  expect(servers.states()).toMatchObject([{ state: "failed", tools: { length: tools.length } }]);
  await overHttp(Number(new URL((server as { url: string }).url).port));
  expect(words(await echo())).toBe("Echo: hi");
});

test("a call that hangs has the time its server was given; the turn goes on", async () => {
  await using servers = new McpServers([hostile("well", { timeoutMs: 500 })]);
  const rig = await agentRig([{ calls: [use("a", "odd__hang")] }, { text: "ok" }], { servers });
  expect(await rig.agent.send("c", "go")).toMatchObject({ outcome: "completed", text: "ok" });
  expect((await said(rig.conversation)).join("\n")).toContain("time limit");
});

test("a list that changes in the middle of a turn changes what the next step is told, and its digest", async () => {
  await using servers = new McpServers([hostile()]);
  const rig = await agentRig([{ calls: [use("a", "odd__change")] }, { calls: [use("b", "odd__added")] }], {
    servers,
  });
  const turn = rig.agent.send("c", "go");
  const names = (at: number): readonly string[] => (rig.model.asked[at]?.tools ?? []).map(({ name }) => name);
  // The server never answers what it has added: the turn is stopped once it was called.
  while (names(1).length === 0) await new Promise((resolve) => setImmediate(resolve));
  rig.agent.cancel("c");
  await turn;
  expect(names(0)).not.toContain("odd__added");
  expect(names(1)).toContain("odd__added");
  const digests = (await rig.conversation.facts(["attempt"])).map((one) =>
    one.type === "attempt" ? one.toolsDigest : "",
  );
  expect(new Set(digests).size).toBe(digests.length);
});

test("a host's own tool keeps its name, and a server cannot take it", async () => {
  const echo = { name: "odd__echo", effect: "none" as const, run: async () => "the host's" };
  await using servers = new McpServers([hostile()]);
  const rig = await agentRig([{ calls: [use("a", "odd__echo")] }, { text: "ok" }], {
    servers,
    tools: [echo],
  });
  await rig.agent.send("c", "go");
  expect((await said(rig.conversation)).join("\n")).toContain("the host's");
});

test("kill -9 of the host between calls ends the server too, with the pipe to it", async () => {
  using temp = tempDir();
  const file = join(temp.path, "pids");
  const [program, server] = programs();
  const host = spawn(process.execPath, [program, "memory:", server, file, "idle"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(host);
  await once(host.stdout, "data");
  const pid = Number(readFileSync(file, "utf8").trim());
  expect(runs(pid)).toBe(true);
  host.kill("SIGKILL");
  await eventually("the server ends", () => !runs(pid));
});

test("kill -9 of the host in a call ends the server, which heeds neither its input nor a signal; the call is not made again", async () => {
  using temp = tempDir();
  const [address, file] = [`sqlite:${join(temp.path, "log.db")}`, join(temp.path, "pids")];
  await using holdfast = await openHoldfast({ store: address });
  const conversation = await holdfast.create({ id: "c" });
  const [program, server] = programs();
  const host = spawn(process.execPath, [program, address, server, file], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.push(host);
  const signal = AbortSignal.timeout(300_000);
  for await (const entry of conversation.tail({ after: 0, signal }))
    if (entry.type === "tool_progress") break;
  const exited = new Promise((resolve) => void host.once("exit", resolve));
  host.kill("SIGKILL");
  await exited;
  const pid = Number(readFileSync(file, "utf8").trim());
  expect(openToolProcesses(await conversation.facts(["tool_progress"]))).toHaveLength(1);
  const next = await runProgram(program, address, server, file, "continue");
  expect([next.stdout, next.stderr]).toEqual(["completed\n", ""]);
  expect(runs(pid)).toBe(false);
  expect(openToolProcesses(await conversation.facts(["tool_progress"]))).toEqual([]);
  expect((await conversation.effects()).map(({ state }) => state)).toEqual(["unknown"]);
});
