/** What people find afterwards: titles, models, lists, and agents that are of no use. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runHere } from "../../cli/cli-here.ts";
import { jsonLines } from "../../cli/cli-run.ts";
import { openBridge } from "../bridge.ts";
import { AcpHost, type Command } from "../host.ts";
import { miniBridge } from "../mini-agent.ts";

/** The same bridge with another command behind it. */
function behind(command: Command, ...agent: readonly string[]): AcpHost {
  const at = command.args.indexOf("--agent");
  return new AcpHost({ ...command, args: [...command.args.slice(0, at), "--", ...agent] });
}

test.each([["false"], ["sh", "-c", "exit 7"], ["ls"], ["no-such-agent"]])(
  "an agent that leaves instead of introducing itself is told of, each time it is asked: %s",
  async (...agent) => {
    await using bridge = miniBridge("");
    const host = behind(bridge.command, ...agent);
    try {
      for (const method of ["initialize", "initialize"])
        expect((await host.request(method, { protocolVersion: 1 })).error?.code).toBe(-32603);
      const made = await host.request("session/new", { cwd: bridge.dir, mcpServers: [] });
      expect(made.error?.data).toMatchObject({ holdfast: { class: "failed" } });
      expect((await host.request("session/list", {})).result?.["sessions"]).toEqual([]);
    } finally {
      await host.hangUp();
    }
  },
);

test("what was asked before the host closed its end is answered", async () => {
  await using bridge = miniBridge("");
  const { host } = bridge;
  const asked = host.ask("initialize", { protocolVersion: 1 });
  const over = host.hangUp();
  expect((await host.answerTo(asked)).error).toBeNull();
  await over;
});

test("a title that a person gave stays, whatever the agent calls the session", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, store } = bridge;
  const id = await host.newSession();
  const title = async (): Promise<unknown> =>
    jsonLines((await runHere(store, ["ls", "--json"])).out).find((row) => row["conversation"] === id)?.[
      "title"
    ];
  await host.prompt(id, "title The agent's word");
  expect(await title()).toBe("The agent's word");
  expect((await runHere(store, ["title", id, "My own word"])).status).toBe(0);
  await host.prompt(id, "title Another word");
  expect(await title()).toBe("My own word");
});

test("an agent that names a session by our own words names nothing", async () => {
  await using bridge = miniBridge(`
    const { method, params } = message;
    if (method === "session/prompt")
      say(JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: params.sessionId,
        update: { sessionUpdate: "session_info_update", title: params.prompt[0].text.slice(0, 60) } } }));
  `);
  const { host } = bridge;
  await host.initialize();
  const history = [
    { role: "user", content: "What is the plan?" },
    { role: "assistant", content: "Wait." },
  ];
  const loaded = await host.request("session/load", {
    sessionId: "kept",
    cwd: bridge.dir,
    mcpServers: [],
    history,
  });
  expect(loaded.error).toBeNull();
  const { updates } = await host.prompt("kept", "And now?");
  const titles = updates.flatMap((update) => ("title" in update ? [update["title"]] : []));
  expect(titles).toEqual([null]);
  expect((await bridge.entries("kept", "title")).map(({ title }) => title)).toEqual(["And now?"]);
});

test("a reply names the model of the agent that gave it, also after going back", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say one");
  await host.prompt(id, "/agent codex");
  await host.prompt(id, "say two");
  await host.prompt(id, "/agent claude");
  await host.prompt(id, "say three");
  const replies = (await bridge.entries(id, "message")).flatMap((entry) => {
    const message = entry["message"] as { readonly role: string; readonly model?: string };
    return message.role === "assistant" ? [message.model ?? null] : [];
  });
  expect(replies[2]).toBe(replies[0]);
  const models = (await bridge.entries(id, "model_change")).map(({ provider }) => provider);
  expect(models).toEqual(["claude", "codex", "claude"]);
});

test("a conversation that was deleted comes back from nowhere", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const [upstream = ""] = agent.ids();
  const folder = join(dir, ".claude", "projects");
  expect(existsSync(folder)).toBe(true);
  expect((await host.request("session/delete", { sessionId: id })).error).toBeNull();
  const { result } = await host.request("session/list", {});
  expect(JSON.stringify(result)).not.toContain(upstream);
  const again = await host.request("session/load", { sessionId: id, cwd: dir, mcpServers: [] });
  expect(again.error?.code).toBe(-32002);
});

test("a session that was never prompted is listed for a day, and then no more", async () => {
  await using bridge = await openBridge({ like: "codex", jumps: true });
  const { host } = bridge;
  const unused = await host.newSession();
  const used = await host.newSession();
  await host.prompt(used, "say hello");
  const listed = async (): Promise<readonly unknown[]> => {
    const { sessions } = await host.call("session/list", {});
    return (sessions as readonly Record<string, unknown>[]).map((row) => row["sessionId"]);
  };
  expect(await listed()).toEqual([used, unused]);
  bridge.jump(2 * 86_400_000);
  expect(await listed()).toEqual([used]);
});

test("a person who reads the conversation sees why a prompt has no answer", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent, store } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  agent.control({ failNext: { kind: "429", times: 1 } });
  await host.prompt(id, "say something");
  const { out } = await runHere(store, ["show", id]);
  const lines = out.split("\n").map((line) => line.trim());
  expect(lines[lines.indexOf("say something") + 1]).toMatch(/^— failed: /);
  expect(lines.filter((line) => line.startsWith("—"))).toHaveLength(1);
});

test("the log tells in a line what an agent said, did and was allowed", async () => {
  await using bridge = await openBridge({ like: "claude", ask: true });
  const { host, store, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, `tool ${join(dir, "side.txt")} once`);
  const { out } = await runHere(store, ["log", id, "--all"]);
  const kinds = (kind: string): readonly string[] =>
    out.split("\n").filter((line) => new RegExp(`\\b${kind}\\b`).test(line));
  expect(kinds("permission").map((line) => /asked|answered/.exec(line)?.[0])).toEqual(["asked", "answered"]);
  expect(kinds("turn_end")[0]).toContain("completed");
  expect(kinds("update").every((line) => !line.includes('{"turn"'))).toBe(true);
});
