/** Sessions made without the bridge, projects that move, and one conversation carried by one agent after the other. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AcpHost } from "./acp-host.ts";
import { type Talk, talk } from "./agent-rig.ts";
import { AGENTS, type BridgeRig, bridgeRig } from "./bridge-rig.ts";
import { askedIn, recalls, storedBy } from "./bridge-story.ts";
import type { AgentName } from "./install.ts";
import { at, listAt, parsed, textAt } from "./json.ts";

describe.each(["claude", "codex", "opencode"] as const)("a session %s made alone", (agent) => {
  test("is listed by the bridge, and goes on there", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const upstream = await madeAlone(rig, agent);
    const host = await rig.start();
    const listed = (await sessionsOf(host)).filter((row) => textAt(row, "sessionId").endsWith(upstream));
    expect(listed).toHaveLength(1);
    const sessionId = textAt(listed[0], "sessionId");
    expect(textAt(listed[0], "cwd")).toBe(rig.home.project);
    const answer = await host.ask("session/load", { sessionId, cwd: rig.home.project, mcpServers: [] });
    expect(answer.error).toBeUndefined();
    expect(askedIn(host.updates())).toEqual(["remember color=blue"]);
    await recalls(talk(host, sessionId), rig.model, "adopted");
    const again = (await sessionsOf(host)).filter((row) => textAt(row, "sessionId").includes(upstream));
    expect(again.map((row) => textAt(row, "sessionId"))).toEqual([sessionId]);
    const chain = await rig.chain(sessionId);
    expect(chain).toMatchObject([{ id: upstream, agent, reason: "adopted" }]);
  });
});

describe.each(["claude", "codex"] as const)("a session only %s has", (agent) => {
  test("opens in two windows at once", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const upstream = await madeAlone(rig, agent);
    const windows = await Promise.all([rig.start(), rig.start()]);
    const sessionId = `${agent}:${upstream}`;
    const load = { sessionId, cwd: rig.home.project, mcpServers: [] };
    const loaded = await Promise.all(windows.map((host) => host.ask("session/load", load)));
    expect(loaded.map(({ error }) => error)).toEqual([undefined, undefined]);
    for (const host of windows) expect(askedIn(host.updates())).toEqual(["remember color=blue"]);
  });
});

test.each(["claude", "codex"] as const)(
  "what %s keeps of a session is recognized by an import",
  async (agent) => {
    await using rig = await bridgeRig({ agents: [agent] });
    await madeAlone(rig, agent);
    const [file = ""] = storedBy(rig, agent);
    const { status, err } = await rig.command("import", file, "--json");
    expect(status).toBe(2);
    expect(at(parsed(err), "error", "details", "kind")).toBe(agent);
  },
);

describe.each(AGENTS)("%s in a project that moved", (agent) => {
  test("goes on in the new folder, and knows what was said in the old one", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    await host.host.close();
    const cwd = join(rig.home.path, "moved");
    mkdirSync(cwd);
    const moved = await rig.reload(host.sessionId, { cwd });
    await recalls(moved, rig.model, "moved");
    expect((await moved.prompt("run: pwd")).said).toContain(`Done: ${cwd}`);
    const chain = await rig.chain(host.sessionId);
    expect(chain).toHaveLength(agent === "claude" ? 1 : 2);
    if (agent === "claude") {
      const files = rig.transcripts().filter((file) => file.includes(chain[0]?.id ?? "none"));
      expect(files.map((file) => file.includes("moved"))).toEqual([true]);
    }
    expect(await rig.leaks()).toEqual([]);
  });
});

test("nobody answers for claude on the command line unless a model is named, and claude is told of none", async () => {
  await using rig = await bridgeRig({ agents: ["claude"] });
  const host = await rig.open();
  await host.prompt("remember color=blue");
  await host.host.close();
  const before = await rig.log(host.sessionId);
  for (const words of [
    ["chat", host.sessionId, "-p", "what is color?"],
    ["continue", host.sessionId],
  ])
    expect((await rig.command(...words)).status).toBe(2);
  expect(await rig.log(host.sessionId)).toEqual(before);
  await recalls(await rig.reload(host.sessionId), rig.model, "after");
});

test("claude, then codex, then claude again: back to its own session, with what codex did told", async () => {
  await using rig = await bridgeRig({ agents: ["claude", "codex"] });
  const { claude, codex } = rig.models;
  const host = await rig.open();
  await host.prompt("remember color=blue");
  const own = claude.requests().at(-1)?.session;
  await choose(host, "codex");
  await recalls(host, codex, "codex");
  await host.prompt("remember secret=owl");
  await host.prompt("run: echo once >> codex.txt; echo there");
  await choose(host, "claude");
  expect((await host.prompt("what is secret? #back")).said).toContain("secret is owl #back");
  const sent = claude.requests().at(-1);
  expect(sent?.session).toBe(own);
  expect(sent?.said.join("\n")).toContain("codex.txt");
  await recalls(host, claude, "claude");
  const before = claude.requests().at(-1)?.said.join("\n") ?? "";
  expect(before.split("remember secret=owl")).toHaveLength(2);
  expect(rig.linesOf("codex.txt")).toEqual(["once"]);
  // Two sessions, of which one has carried it twice.
  expect((await rig.chain(host.sessionId)).map((link) => link.agent)).toEqual(["claude", "codex", "claude"]);
  expect(await rig.leaks()).toEqual([]);
});

async function choose({ host, sessionId }: Talk, value: AgentName): Promise<void> {
  const answer = await host.ask("session/set_config_option", {
    sessionId,
    configId: "holdfast.agent",
    value,
  });
  expect(answer.error).toBeUndefined();
  const own = listAt(answer.result, "configOptions").find((option) => at(option, "id") === "holdfast.agent");
  expect(textAt(own, "currentValue")).toBe(value);
}

async function sessionsOf(host: AcpHost): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  for (let cursor: string | undefined; ;) {
    const { result } = await host.ask("session/list", cursor === undefined ? {} : { cursor });
    rows.push(...listAt(result, "sessions"));
    cursor = textAt(result, "nextCursor") || undefined;
    if (cursor === undefined) return rows;
  }
}

async function madeAlone(rig: BridgeRig, agent: AgentName): Promise<string> {
  const direct = await rig.direct(agent);
  const made = await direct.ask("session/new", { cwd: rig.home.project, mcpServers: [] });
  const upstream = textAt(made.result, "sessionId");
  expect((await talk(direct, upstream).prompt("remember color=blue")).said).toContain("Noted color=blue.");
  await direct.close();
  return upstream;
}
