/** Sessions as a host handles them: load, resume, list, close, delete, whatever the agent can do. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runHere } from "../../cli/cli-here.ts";
import { jsonLines } from "../../cli/cli-run.ts";
import { PREAMBLE } from "../../../support/scripted-agent/agent-folder.ts";
import { metaOf, openBridge, openKillable } from "../bridge.ts";
import type { AcpHost } from "../host.ts";
import { type Fields, fieldsOf, textOf } from "../../../support/scripted-agent/wire.ts";

/** Every session the host can list, page after page. */
async function listAll(host: AcpHost, params: Fields = {}): Promise<readonly Fields[]> {
  const found: Fields[] = [];
  let cursor: unknown;
  do {
    const page = await host.call("session/list", { ...params, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...(page["sessions"] as readonly Fields[]));
    cursor = page["nextCursor"] ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** What a load showed, as `role: words`. */
function shown(updates: readonly Fields[]): readonly string[] {
  return updates.flatMap((update) => {
    const kind = textOf(update["sessionUpdate"]);
    const text = textOf(fieldsOf(update["content"])["text"]);
    if (kind === "user_message_chunk") return [`user: ${text}`];
    return kind === "agent_message_chunk" ? [`agent: ${text}`] : [];
  });
}

test.each(["plain", "gemini", "opencode", "claude"] as const)(
  "scenario 15: a load shows the history from our log, then answers, whatever %s can do",
  async (like) => {
    await using bridge = await openBridge({ like });
    const { host } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const from = host.messages.length;
    const asked = host.ask("session/load", { sessionId: id, cwd: bridge.dir, mcpServers: [] });
    const { updates, error } = await host.finish(id, asked, from);
    expect(error).toBeNull();
    expect(shown(updates)).toEqual(["user: remember color=blue", "agent: Noted color=blue."]);
    const before = host.messages.length;
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(shown(host.updates(id, before))).toEqual(["agent: color is blue"]);
    expect(bridge.leaks()).toEqual([]);
  },
);

test("a load shows tools with what they gave", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, `tool ${join(dir, "side")} one`);
  const from = host.messages.length;
  const { updates } = await host.finish(
    id,
    host.ask("session/load", { sessionId: id, cwd: dir, mcpServers: [] }),
    from,
  );
  const calls = updates.filter((update) => textOf(update["sessionUpdate"]).startsWith("tool_call"));
  expect(calls.map((call) => call["status"])).toContain("completed");
  expect(JSON.stringify(calls)).toContain("wrote one");
});

test("a resume shows nothing", async () => {
  await using bridge = await openBridge({ like: "plain" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const from = host.messages.length;
  const asked = host.ask("session/resume", { sessionId: id, cwd: dir, mcpServers: [] });
  const resumed = await host.finish(id, asked, from);
  expect(resumed.error).toBeNull();
  expect(metaOf(resumed.result)).toMatchObject({ agent: expect.any(String) });
  expect(shown(resumed.updates)).toEqual([]);
});

test("an id that nobody knows is not found, in any way it is asked for", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, dir } = bridge;
  const params = { sessionId: "nobody", cwd: dir, mcpServers: [] };
  for (const method of ["session/load", "session/resume", "session/fork"])
    expect((await host.request(method, params)).error?.code, method).toBe(-32002);
  expect((await host.prompt("nobody", "say hello")).error?.code).toBe(-32002);
  expect(bridge.agent.sent("say hello")).toBe(0);
});

describe("a history that the host brings along", () => {
  const words = (text: string): readonly Fields[] => [{ type: "text", text }];
  const history = [
    { role: "user", content: words("remember color=blue") },
    { role: "assistant", content: words("Noted color=blue.") },
  ];

  test("makes the conversation when nobody knows the id", async () => {
    const plain = history.map(({ role, content }) => ({ role, content: textOf(content[0]?.["text"]) }));
    for (const where of [{ history }, { _meta: { holdfast: { history } } }, { history: plain }]) {
      await using bridge = await openBridge({ like: "codex" });
      const { host, agent } = bridge;
      const loaded = await host.load("brought-1", where);
      expect(loaded.error).toBeNull();
      expect(metaOf(loaded.result)["historyIgnored"]).toBeUndefined();
      expect(await bridge.context("brought-1")).toEqual([
        "user: remember color=blue",
        "assistant: Noted color=blue.",
      ]);
      expect((await host.prompt("brought-1", "what is color?")).text).toBe("color is blue");
      expect(agent.prompts()).toHaveLength(1);
      expect(agent.prompts()[0]).toContain(PREAMBLE);
    }
  });

  test("may be OpenAI's messages; calls and results that do not fit together are mended, and the host is told", async () => {
    await using bridge = await openBridge({ like: "codex" });
    const { host } = bridge;
    const called = (id: string): Fields => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "look", arguments: "{}" } }],
    });
    const given = [
      { role: "system", content: "You are old." },
      { role: "user", content: "look" },
      called("c1"),
      { role: "tool", tool_call_id: "c1", content: "a tree" },
      { role: "tool", tool_call_id: "gone", content: "nobody asked" },
      called("c2"),
      { role: "user", content: "and?" },
    ];
    const loaded = await host.load("brought-2", { history: given });
    expect(loaded.error).toBeNull();
    expect(metaOf(loaded.result)["historyRepaired"]).toMatchObject([
      { kind: "orphan_result", call: "gone" },
      { kind: "missing_result", call: "c2" },
    ]);
    const roles = (await bridge.context("brought-2")).map((line) => line.split(":")[0]);
    expect(roles.join(" ")).toBe("user assistant toolResult assistant toolResult user");
    const bad = [{ role: "assistant", content: null, tool_calls: [{ id: 1 }] }];
    expect((await host.load("brought-3", { history: bad })).error).not.toBeNull();
  });

  test("is ignored when the id is known, and the host is told so", async () => {
    await using bridge = await openBridge({ like: "codex" });
    const { host } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=red");
    const loaded = await host.load(id, { history });
    expect(loaded.error).toBeNull();
    expect(metaOf(loaded.result)["historyIgnored"]).toBe(true);
    expect((await bridge.context(id)).join("\n")).not.toContain("color=blue");
    expect((await host.prompt(id, "what is color?")).text).toBe("color is red");
  });
});

test("the list has every conversation once, by page, by directory, with its title", async () => {
  await using bridge = await openBridge({ like: "plain" });
  const { host, dir } = bridge;
  const other = join(dir, "other");
  mkdirSync(other);
  const ids: string[] = [];
  for (let index = 0; index < 60; index++) {
    const id = await host.newSession(index % 10 === 0 ? { cwd: other } : {});
    await host.prompt(id, `say ${index}`);
    ids.push(id);
  }
  await host.prompt(ids[3] ?? "", "title The fourth one");
  const all = await listAll(host);
  expect(all).toHaveLength(ids.length);
  expect(new Set(all.map((session) => session["sessionId"]))).toEqual(new Set(ids));
  expect(all.find((session) => session["sessionId"] === ids[3])).toMatchObject({
    title: "The fourth one",
    cwd: dir,
  });
  const there = await listAll(host, { cwd: other });
  expect(there).toHaveLength(6);
  expect(new Set(there.map((session) => session["sessionId"]))).toEqual(
    new Set(ids.filter((_, index) => index % 10 === 0)),
  );
  expect(bridge.leaks()).toEqual([]);
});

test("a session that was closed is prompted again as if it had not been", async () => {
  for (const like of ["claude", "plain"] as const) {
    await using bridge = await openBridge({ like });
    const { host } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await host.call("session/close", { sessionId: id });
    expect((await host.prompt(id, "what is color?")).text, like).toBe("color is blue");
    expect((await listAll(host)).map((session) => session["sessionId"])).toEqual([id]);
  }
});

test("a session that was deleted is gone: from the list, from the log, for a load", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, dir } = bridge;
  const [id, other] = [await host.newSession(), await host.newSession()];
  await host.prompt(id, "remember secret=xyzzy");
  await host.prompt(other, "say hello");
  await host.call("session/delete", { sessionId: id });
  expect((await listAll(host)).map((session) => session["sessionId"])).toEqual([other]);
  expect((await host.load(id)).error?.code).toBe(-32002);
  expect((await host.prompt(id, "what is secret?")).error?.code).toBe(-32002);
  expect((await runHere(bridge.store, ["log", id, "--json"])).status).not.toBe(0);
  expect((await host.request("session/fork", { sessionId: id, cwd: dir })).error?.code).toBe(-32002);
});

test("closing or deleting what nobody knows changes nothing, and is at most not found", async () => {
  await using bridge = await openBridge({ like: "plain" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say hello");
  for (const method of ["session/close", "session/delete"])
    expect([undefined, -32002]).toContain((await host.request(method, { sessionId: "nobody" })).error?.code);
  expect((await listAll(host)).map((session) => session["sessionId"])).toEqual([id]);
});

test("a load into a folder that is not there is refused, and the conversation stays where it was", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host, dir, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  await host.restart();
  const started = agent.received().length;
  const { error } = await host.load(id, { cwd: join(dir, "gone") });
  expect(error?.code).toBe(-32602);
  expect(
    agent
      .received()
      .slice(started)
      .map(({ method }) => method),
  ).not.toContain("session/resume");
  expect((await bridge.entries(id, "config_change")).filter((entry) => "cwd" in entry)).toEqual([]);
  expect((await host.load(id)).error).toBeNull();
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
});

test("a conversation that has moved is listed in its new folder, also by a bridge that has not opened it", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say hello");
  const moved = join(dir, "moved");
  mkdirSync(moved);
  expect((await host.load(id, { cwd: moved })).error).toBeNull();
  await host.restart();
  const listed = async (cwd: string): Promise<unknown> =>
    (await host.call("session/list", { cwd }))["sessions"];
  expect(await listed(moved)).toMatchObject([{ sessionId: id, cwd: moved }]);
  expect(await listed(dir)).toEqual([]);
});

test("a session that cannot be had erases nothing, is not listed, and leaves nothing of an agent that never began", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  agent.control({ newFails: true });
  expect((await host.request("session/new", { cwd: bridge.dir, mcpServers: [] })).error).not.toBeNull();
  expect((await host.call("session/list", {}))["sessions"]).toEqual([]);
  const [kept] = jsonLines((await runHere(bridge.store, ["ls", "--json"])).out);
  agent.control({ newFails: false });
  expect((await host.load(textOf(kept?.["conversation"]))).error).toBeNull();
  expect((await host.prompt(textOf(kept?.["conversation"]), "say here")).text).toBe("here");
});
