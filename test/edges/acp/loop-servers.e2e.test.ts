import { methods } from "@agentclientprotocol/sdk";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent, McpServers } from "#agent/index";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { eventually } from "./eventually.ts";
import { runs } from "./mini-agent.ts";
import { openLoop } from "./loop-editor.ts";

function untimed(restored: unknown): unknown {
  return JSON.parse(JSON.stringify(restored, (key, value: unknown) => (key === "openedInMs" ? null : value)));
}

const HOSTILE = join(import.meta.dirname, "../../support/hostile-server.ts");

test("servers of an editor are opened for its session, held with it and ended with it; a log alone opens none", async () => {
  using dir = tempDir();
  const file = join(dir.path, "pids");
  const backing = inMemoryBacking();
  const odd = {
    name: "odd",
    command: process.execPath,
    args: [HOSTILE, "well", file],
    env: [{ name: "KEY", value: "hush-hush" }],
  };
  const model = new ScriptedModel([
    { calls: [{ id: "a", name: "odd__env", input: { name: "KEY" } }] },
    { text: "one" },
    { text: "two" },
  ]);
  const open = () => openLoop(new Holdfast(inMemoryStore({ backing }), "default"), { model });
  const pids = (): readonly number[] =>
    existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
  let id: string;
  {
    await using editor = await open();
    const bad = { ...odd, name: "" };
    const { session } = methods.agent;
    ({ sessionId: id } = await editor.agent.request(session.new, { cwd: dir.path, mcpServers: [odd, bad] }));
    expect((await editor.prompt(id, "go")).stopReason).toBe("end_turn");
    expect(editor.permissions).toMatchObject([{ toolCall: { title: "odd__env" } }]);
    expect(JSON.stringify(editor.of("tool_call_update"))).toContain("hush-hush");
    await editor.prompt(id, "again");
    expect(pids()).toHaveLength(1);
    expect(pids().map((pid) => runs(pid))).toEqual([true]);
    expect(editor.wrong).toEqual([]);
  }
  await eventually("the server ends", () => !pids().some((pid) => runs(pid)));
  await using editor = await open();
  const without = await editor.load(id, dir.path);
  expect(without).toMatchObject({ restored: { servers: [] } });
  expect(pids()).toHaveLength(1);
  await using other = await open();
  const { restored } = await other.load(id, dir.path, { mcpServers: [odd] });
  expect(restored).toMatchObject({ servers: [{ name: "odd", state: "open" }], missing: [] });
  expect(pids()).toHaveLength(2);
  // The library says the same, in every field but how long it took.
  await using servers = new McpServers([{ ...odd, env: { KEY: "hush-hush" } }]);
  await using agent = new Agent(new Holdfast(inMemoryStore({ backing }), "default"), { model, servers });
  const { conversation: _, messages, ...library } = await agent.restore(id);
  expect(untimed(restored)).toEqual(untimed({ ...library, messages: messages.length }));
});
