/** One conversation with the real Claude behind the bridge, and everything that may happen to it. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { spoken } from "./acp-host.ts";
import { type Talk, talk } from "./agent-rig.ts";
import { type BridgeRig, bridgeRig } from "./bridge-rig.ts";
import type { FakeModel } from "./fake-model.ts";
import { at, textAt } from "./json.ts";
import { until } from "./until.ts";

test("a conversation outlives limits, kills, lost transcripts, strangers' turns and its agent", async () => {
  await using rig = await bridgeRig();
  const { claude, codex } = rig.models;
  let host = await rig.open();
  expect((await host.prompt("remember color=blue")).said).toContain("Noted color=blue.");
  expect((await host.prompt("run: echo first >> first.txt; echo there")).said).toContain("Done: there");
  await recalls(host, claude, "alive");

  await limited(host, claude);
  await recalls(host, claude, "limited");

  await killedInTool(host);
  await recalls(host, claude, "crashed");
  await until("the end of the command", () => (isRunning(host, "sleep 3") ? undefined : true));
  expect(linesOf(rig, "effect.txt").length).toBeLessThanOrEqual(1);
  expect(linesOf(rig, "started.txt")).toEqual(["on"]);

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

  expect(linesOf(rig, "first.txt")).toEqual(["first"]);
  expect(upstreamIdsShown(rig)).toEqual([]);
});

/** The answer is right, and it is because the model was sent what was said in the first turn. */
async function recalls(host: Talk, model: FakeModel, mark: string): Promise<void> {
  const { said } = await host.prompt(`what is color? #${mark}`);
  expect(said).toContain(`color is blue #${mark}`);
  const sent = model.requests().at(-1);
  expect(sent?.prompt).toContain(`#${mark}`);
  expect(sent?.said.join("\n")).toContain("color=blue");
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
  const agent = host.host.running().find(({ command }) => isAgent(command));
  process.kill(agent?.pid ?? 0, "SIGKILL");
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
  const asked = replayed.filter((update) => at(update, "sessionUpdate") === "user_message_chunk");
  expect(asked.map((update) => textAt(update, "content", "text")).join("\n")).toContain("take your time");
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

/** The agent's own process; the bridge has the same words in its arguments. */
function isAgent(command: string): boolean {
  return /claude-agent-acp\S*$/.test(command) && !command.includes("--agent");
}

function linesOf(rig: BridgeRig, file: string): readonly string[] {
  const path = join(rig.home.project, file);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
}

function upstreamIdsShown(rig: BridgeRig): readonly string[] {
  const requests = Object.values(rig.models).flatMap((model) => model.requests({ side: true }));
  const ids = new Set(requests.flatMap(({ session }) => (session === undefined ? [] : [session])));
  expect(ids.size).toBeGreaterThan(1);
  const wire = rig.hosts.flatMap(({ lines }) => lines.map(({ raw }) => raw)).join("\n");
  return [...ids].filter((id) => wire.includes(id));
}
