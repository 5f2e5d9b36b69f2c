/** Scenarios 1, 21, 22 and 24: the host sees one session that works, in the agent's own words and order. */
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PREAMBLE } from "../../../support/scripted-agent/agent-folder.ts";
import { failureOf, metaOf, openBridge } from "../bridge.ts";
import { LIKES } from "../../../support/scripted-agent/flavours.ts";
import { fieldsOf, type Fields } from "../../../support/scripted-agent/wire.ts";

function sessionIdsIn(messages: readonly Fields[]): ReadonlySet<unknown> {
  const ids = messages.flatMap((message) => [
    fieldsOf(message["params"])["sessionId"],
    fieldsOf(message["result"])["sessionId"],
    fieldsOf(fieldsOf(message["error"])["data"])["sessionId"],
  ]);
  return new Set(ids.filter((id) => id !== undefined));
}

describe.each(LIKES)("with an agent like %s", (like) => {
  test("scenario 1: the happy path shows one id, the conversation's, and sends each prompt once as it is", async () => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    expect((await host.prompt(id, "remember color=blue")).text).toBe("Noted color=blue.");
    const asked = await host.prompt(id, "what is color?");
    expect(asked.text).toBe("color is blue");
    expect(asked.result).toMatchObject({ stopReason: "end_turn" });
    expect(sessionIdsIn(host.messages)).toEqual(new Set([id]));
    expect(bridge.leaks()).toEqual([]);
    expect(agent.prompts()).toEqual(["remember color=blue", "what is color?"]);
    expect(await bridge.context(id)).toEqual([
      "user: remember color=blue",
      "assistant: Noted color=blue.",
      "user: what is color?",
      "assistant: color is blue",
    ]);
    expect((await bridge.chain(id)).map((link) => link.id)).toEqual(agent.ids());
  });

  test("scenario 1: an error that names the session names the conversation", async () => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "say hello");
    // Expires on every session it is sent to, so the one recovery is spent and the error reaches the host.
    const { error } = await host.prompt(id, "fail expired");
    expect(error).not.toBeNull();
    expect(failureOf(error)).toMatchObject({ class: "lost", kept: true });
    expect(agent.sent("fail expired")).toBe(2);
    expect(new Set(agent.everyId()).size).toBeGreaterThan(1);
    expect(bridge.leaks()).toEqual([]);
    expect(sessionIdsIn(host.messages)).toEqual(new Set([id]));
  });

  test("scenario 21: updates and the answer in one piece come and are recorded in the order of the wire", async () => {
    await using bridge = await openBridge({ like });
    const { host } = bridge;
    const id = await host.newSession();
    const words = Array.from({ length: 40 }, (_, index) => `c${index + 1} `).join("");
    expect((await host.prompt(id, "chunks 40")).text).toBe(words);
    expect((await bridge.context(id)).at(-1)).toBe(`assistant: ${words}`);
    expect(bridge.leaks()).toEqual([]);
  });
});

test("the host is told what the bridge can do, whatever the agent can", async () => {
  for (const like of ["claude", "plain"] as const) {
    await using bridge = await openBridge({ like });
    expect(bridge.introduced).toMatchObject({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        sessionCapabilities: { list: {}, resume: {}, fork: {}, close: {}, delete: {} },
      },
    });
    expect(metaOf(bridge.introduced)).toMatchObject({
      version: expect.any(String),
      agents: expect.any(Array),
    });
  }
});

test("the first prompt of a conversation is sent without a word of ours, in a session of its own", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const [one, two] = [await host.newSession(), await host.newSession()];
  await host.prompt(one, "remember color=blue");
  expect((await host.prompt(two, "what is color?")).text).toBe("I do not know color.");
  expect(agent.prompts().join("\n")).not.toContain(PREAMBLE);
  expect(new Set(agent.of("session/prompt").map(({ params }) => params["sessionId"])).size).toBe(2);
});

test("scenario 22: kinds, members, numbers and methods that nobody knows pass as they are, both ways", async () => {
  await using bridge = await openBridge({ like: "plain" });
  const { host, agent } = bridge;
  host.answers.set("_vendor/ask", () => ({ because: [1, { deep: null }] }));
  const id = await host.newSession();
  const said = await host.prompt(id, "unknown");
  expect(said.text).toBe('The vendor heard {"because":[1,{"deep":null}]}.');
  const name = JSON.stringify(id);
  const lines = host.lines.map((line) => line.toString("utf8"));
  expect(lines).toContain(
    `{"jsonrpc":"2.0", "method":"session/update","params":{"sessionId":${name},"update":{"sessionUpdate":"x_future","big":12345678901234567890,"twice":1,"twice":2},"beside":true}}`,
  );
  expect(lines).toContain(
    `{"jsonrpc":"2.0","method":"_vendor/notify","params":{"sessionId":${name},"n":0.10,"u":"\\u0041\\ud800"}}`,
  );
  const asked = host.messages.find((message) => message["method"] === "_vendor/ask");
  expect(asked?.["params"]).toEqual({ sessionId: id, question: "why" });
  const heard = await host.call("_vendor/of_host", { sessionId: id, x: 1 });
  expect(heard).toEqual({ heard: "_vendor/of_host", members: ["sessionId", "x"] });
  expect(agent.of("_vendor/of_host").map(({ params }) => params["sessionId"])).toEqual(agent.ids());
  expect(bridge.leaks()).toEqual([]);
});

test("requests of the agent reach the host under the conversation's id, and the answers come back", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, dir } = bridge;
  const file = join(dir, "inside.txt");
  writeFileSync(file, "what is inside");
  const seen: unknown[] = [];
  const answer = (method: string, result: Fields): void => {
    host.answers.set(method, (params) => {
      seen.push(params["sessionId"]);
      return result;
    });
  };
  answer("fs/read_text_file", { content: "what is inside" });
  answer("terminal/create", { terminalId: "t-1" });
  answer("terminal/wait_for_exit", { exitCode: 0 });
  answer("terminal/output", { output: "listed", truncated: false });
  answer("terminal/release", {});
  const id = await host.newSession();
  expect((await host.prompt(id, `read-file ${file}`)).text).toBe("The file says: what is inside");
  expect((await host.prompt(id, "terminal ls")).text).toBe("The terminal says: listed");
  expect(new Set(seen)).toEqual(new Set([id]));
  expect(seen).toHaveLength(5);
});

test("the blocks of a prompt reach the agent as they were given", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  const prompt = [
    { type: "resource_link", uri: "file:///x", name: "x", size: 3 },
    { type: "image", data: "aGk=", mimeType: "image/png" },
    { type: "resource", resource: { uri: "file:///y", text: "inside" } },
    { type: "text", text: "say seen", annotations: { audience: ["user"] } },
  ];
  await host.call("session/prompt", { sessionId: id, prompt });
  expect(agent.of("session/prompt").map(({ params }) => params["prompt"])).toEqual([prompt]);
  expect(await bridge.context(id)).toContain("assistant: seen");
});

test("an agent that does not know a method says so itself", async () => {
  await using bridge = await openBridge({ like: "plain" });
  const id = await bridge.host.newSession();
  const { error } = await bridge.host.request("session/x_future", { sessionId: id });
  expect(error?.code).toBe(-32601);
});

test("scenario 24: of a retry inside a turn both texts are shown and the second is the answer", async () => {
  for (const like of ["claude", "opencode"] as const) {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    const said = await host.prompt(id, "retry-inside");
    expect(said.text, like).toBe("The first haThe first half and the second.");
    expect((await bridge.context(id)).at(-1), like).toBe("assistant: The first half and the second.");
    expect(agent.sent("retry-inside"), like).toBe(1);
  }
});

test("a turn costs what its session's total grew by, and is its model's, whatever the option is called", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  for (const order of ["usage", "say nothing of it", "usage", "usage"]) await host.prompt(id, order);
  const replies = (await bridge.entries(id, "message"))
    .map((entry) => fieldsOf(entry["message"]))
    .filter(({ role }) => role === "assistant");
  expect(replies.map(({ model, usage }) => [model, fieldsOf(usage)["costMicros"]])).toEqual([
    ["claude-scripted-1", 10_000],
    ["small", undefined],
    ["claude-scripted-1", 10_000],
    ["claude-scripted-1", 10_000],
  ]);
});

test("plans, modes, titles, usage, thoughts and compactions pass and are recorded", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  const orders = ["plan", "mode plan", "title Big plan", "usage", "think deep", "compact"];
  const kinds: unknown[] = [];
  for (const order of orders)
    kinds.push(...(await host.prompt(id, order)).updates.map((update) => update["sessionUpdate"]));
  for (const kind of [
    "plan",
    "current_mode_update",
    "session_info_update",
    "usage_update",
    "agent_thought_chunk",
    "compaction_update",
  ])
    expect(kinds).toContain(kind);
  expect(await bridge.entries(id, "plan")).toHaveLength(1);
  expect((await bridge.entries(id, "title")).at(-1)).toMatchObject({ title: "Big plan" });
  expect(JSON.stringify((await bridge.entries(id, "config_change")).at(-1))).toContain('"plan"');
});
