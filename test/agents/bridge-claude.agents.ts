/** One conversation with the real Claude behind the bridge, and everything that may happen to it. */
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { spoken } from "./acp-host.ts";
import { type Talk, talk } from "./agent-rig.ts";
import { agentProcess, type BridgeRig, bridgeRig } from "./bridge-rig.ts";
import { askedIn, recalls } from "./bridge-story.ts";
import type { FakeModel } from "./fake-model.ts";
import { at } from "./json.ts";
import { until } from "./until.ts";

test("a conversation outlives limits, kills, lost transcripts, strangers' turns and its agent", async () => {
  await using rig = await bridgeRig();
  const { claude, codex } = rig.models;
  let host = await rig.open();
  expect((await host.prompt("remember color=blue")).said).toContain("Noted color=blue.");
  expect((await host.prompt("run: echo first >> first.txt; echo there")).said).toContain("Done: there");
  await recalls(host, claude, "alive");
  await counts(rig, host);

  await limited(host, claude);
  await recalls(host, claude, "limited");

  await killedInTool(host);
  await recalls(host, claude, "crashed");
  await until("the end of the command", () => (isRunning(host, "sleep 3") ? undefined : true));
  expect(rig.linesOf("effect.txt").length).toBeLessThanOrEqual(1);
  expect(rig.linesOf("started.txt")).toEqual(["on"]);

  host = await killedInReply(rig, host);
  await recalls(host, claude, "reloaded");

  await host.host.close();
  for (const file of rig.transcripts()) rmSync(file);
  host = await rig.reload(host.sessionId);
  await recalls(host, claude, "lost");

  host = await behindOurBack(rig, host);
  expect((await host.prompt("what is secret?")).said).toContain("secret is owl");
  await recalls(host, claude, "adopted");

  const { sessionId } = host;
  const choice = { sessionId, configId: "holdfast.agent", value: "codex" };
  expect((await host.host.ask("session/set_config_option", choice)).error).toBeUndefined();
  await recalls(host, codex, "switched");

  expect(rig.linesOf("first.txt")).toEqual(["first"]);
  expect(await rig.leaks()).toEqual([]);
});

/** Claude's option may say "default", and its adapter reports the cost of the whole session. */
async function counts(rig: BridgeRig, { sessionId }: Talk): Promise<void> {
  const said = (await rig.log(sessionId)).filter((entry) => at(entry, "message", "role") === "assistant");
  const costs = said.flatMap((entry) => at(entry, "message", "usage", "costMicros") ?? []);
  expect(said.map((entry) => at(entry, "message", "model"))).not.toContain("default");
  const turns = said.filter((entry) => at(entry, "message", "usage") !== undefined);
  expect(turns.length).toBeGreaterThan(1);
  expect(costs).toHaveLength(turns.length);
  expect(costs.every((cost) => typeof cost === "number" && cost > 0)).toBe(true);
}

async function limited(host: Talk, model: FakeModel): Promise<void> {
  model.stick("rate_limit");
  await host.prompt("remember shape=round");
  model.stick(undefined);
  expect((await host.prompt("what is shape?")).said).toContain("shape is round");
}

/** The side effect comes after a delay, so the kill is before it and whatever survives the kill does it. */
async function killedInTool(host: Talk): Promise<void> {
  const prompt = host.begin("run: echo on >> started.txt; sleep 3; echo once >> effect.txt; echo there");
  await until("the command", () => (isRunning(host, "sleep 3") ? true : undefined));
  process.kill(agentProcess(host), "SIGKILL");
  await host.host.answered(prompt);
}

async function killedInReply(rig: BridgeRig, host: Talk): Promise<Talk> {
  rig.models.claude.next("hang");
  const since = host.host.lines.length;
  host.begin("tell me something long, and take your time");
  const half = ({ raw }: { readonly raw: string }): boolean =>
    raw.includes("agent_message_chunk") && raw.includes("something");
  await host.host.until(half, { since, what: "the first half of the reply" });
  await rig.recorded(host.sessionId, "something");
  await host.host.kill();
  const again = await rig.reload(host.sessionId);
  const replayed = again.host.updates();
  expect(spoken(replayed)).toContain("Noted color=blue.");
  expect(spoken(replayed)).toContain("You said:");
  expect(askedIn(replayed).join("\n")).toContain("take your time");
  return again;
}

/** Somebody uses the agent itself on the same session, and then the bridge is there again. */
async function behindOurBack(rig: BridgeRig, host: Talk): Promise<Talk> {
  await host.host.close();
  const upstream = rig.models.claude.requests().at(-1)?.session ?? "";
  expect(rig.transcripts().map((file) => basename(file, ".jsonl"))).toContain(upstream);
  const direct = await rig.direct("claude");
  const params = { sessionId: upstream, cwd: rig.home.project, mcpServers: [] };
  expect((await direct.ask("session/resume", params)).error).toBeUndefined();
  expect((await talk(direct, upstream).prompt("remember secret=owl")).said).toContain("Noted secret=owl.");
  await direct.close();
  return rig.reload(host.sessionId);
}

function isRunning(host: Talk, words: string): boolean {
  return host.host.running().some(({ command }) => command === words);
}
