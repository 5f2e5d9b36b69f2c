/** What an agent's session holds: its own commands, files in a prompt, its own compactions, stops. */
import { expect, test } from "vitest";
import { PREAMBLE } from "../../../support/scripted-agent/agent-folder.ts";
import { type Bridge, openKillable } from "../bridge.ts";

/** How often something was told again. */
const retold = ({ agent }: Bridge): number =>
  agent.prompts().filter((prompt) => prompt.includes(PREAMBLE)).length;

async function reloaded(bridge: Bridge, id: string): Promise<void> {
  await bridge.host.restart();
  const cwd = bridge.dir;
  const answer = await bridge.host.request("session/load", { sessionId: id, cwd, mcpServers: [] });
  expect(answer.error).toBeNull();
}

test.each(["claude", "opencode"] as const)(
  "a command that %s answers itself is passed on as it is, once, however often and however little it says",
  async (like) => {
    await using bridge = await openKillable({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    for (const command of ["/cost", "/cost", "/usage", "/mcp"]) {
      const turn = await host.prompt(id, command);
      expect(turn.result).toMatchObject({ stopReason: "end_turn" });
      expect(turn.text).toBe(command === "/mcp" ? "" : "Total cost: $0.10");
    }
    expect([agent.sent("/cost"), agent.sent("/usage"), agent.sent("/mcp")]).toEqual([2, 1, 1]);
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(await bridge.chain(id)).toHaveLength(1);
    expect(retold(bridge)).toBe(0);
  },
);

test("a command that the agent offers is not judged; one that it does not goes to the model like any words", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  expect((await host.prompt(id, "/status")).text).toBe("**Model:** small");
  expect((await host.prompt(id, "/clear")).text).toBe("You said: /clear");
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect([agent.sent("/status"), await bridge.chain(id)]).toMatchObject([1, [{}]]);
});

test.each(["/clear", "/new", "/reset"])("%s begins anew, for good; the history stays", async (command) => {
  await using bridge = await openKillable({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const cleared = await host.prompt(id, command);
  expect([cleared.text, cleared.result]).toMatchObject(["", { stopReason: "end_turn" }]);
  expect((await host.prompt(id, "what is color?")).text).toBe("I do not know color.");
  expect(await bridge.chain(id)).toMatchObject([{ reason: "first" }, { reason: "cleared" }]);
  await reloaded(bridge, id);
  expect((await host.prompt(id, "what is color now?")).text).not.toContain("blue");
  expect(retold(bridge)).toBe(0);
  expect(await bridge.entries(id, "reset")).toHaveLength(1);
  expect(JSON.stringify(await bridge.entries(id, "message"))).toContain("color=blue");
  expect((await bridge.context(id)).join("\n")).not.toContain("color=blue");
});

test("a command in a session that has to be told something first is a command all the same, and the rest is told later", async () => {
  await using bridge = await openKillable({ like: "claude", others: ["codex"] });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "/agent codex");
  await host.prompt(id, "remember color=blue");
  await host.prompt(id, "/agent claude");
  expect((await host.prompt(id, "/cost")).text).toBe("Total cost: $0.10");
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(retold(bridge)).toBe(1);
});

const FILE = { type: "resource", resource: { uri: "file:///work/a.ts", text: "const a = 1;\nconst b = 2;" } };
const LINK = { type: "resource_link", uri: "file:///work/b.ts", name: "b.ts" };

test.each(["claude", "codex", "opencode"] as const)(
  "%s: a session is recognised after a restart that follows a file, a link or a command",
  async (like) => {
    await using bridge = await openKillable({ like });
    const { host } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    for (const prompt of [
      [{ type: "text", text: "say seen" }, FILE],
      [{ type: "text", text: "look at " }, LINK, { type: "text", text: " and say linked" }],
      [FILE, { type: "text", text: "say last" }],
    ])
      expect((await host.request("session/prompt", { sessionId: id, prompt })).error).toBeNull();
    await host.prompt(id, like === "codex" ? "/status" : "/cost");
    await reloaded(bridge, id);
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(await bridge.chain(id)).toHaveLength(1);
    expect(retold(bridge)).toBe(0);
  },
);

test("a session that made a summary of its own history is told nothing again, also after a restart", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  await host.prompt(id, "compact");
  await host.prompt(id, "say one");
  await reloaded(bridge, id);
  await host.prompt(id, "say two");
  expect(retold(bridge)).toBe(0);
  expect(await bridge.chain(id)).toHaveLength(1);
  expect(await bridge.effects(id)).toEqual([]);
});

test("a session that is stopped ten times is told nothing again, also after a restart", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  for (let at = 0; at < 10; at++) {
    const from = host.messages.length;
    const prompt = host.start(id, `partial Half of ${at}`);
    await host.update((update) => JSON.stringify(update).includes(`Half of ${at}`));
    host.notify("session/cancel", { sessionId: id });
    expect((await host.finish(id, prompt, from)).result).toMatchObject({ stopReason: "cancelled" });
  }
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  await reloaded(bridge, id);
  expect((await host.prompt(id, "what is color? again")).error).toBeNull();
  expect(retold(bridge)).toBe(0);
  expect(await bridge.chain(id)).toHaveLength(1);
});
