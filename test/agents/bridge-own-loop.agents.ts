/** What a killed bridge leaves running is over when an editor loads the conversation: real agents, and our own loop. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AcpHost, startHost } from "./acp-host.ts";
import { agentHome, WIRES } from "./agent-home.ts";
import { PLAIN_HOST, talk } from "./agent-rig.ts";
import { AGENTS, bridgeRig } from "./bridge-rig.ts";
import { fakeModel } from "./fake-model.ts";
import { textAt } from "./json.ts";
import { until } from "./until.ts";

const MAIN = join(import.meta.dirname, "..", "..", "src", "edges", "cli", "main.ts");
const COMMAND = "echo on >> started.txt; sleep 60; echo once >> effect.txt";

describe.each(AGENTS)("%s behind the bridge", (agent) => {
  test("killed in a tool with its bridge: nothing runs once the conversation is loaded", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const begun = await rig.open();
    const { host, sessionId } = begun;
    begun.begin(`run: ${COMMAND}`);
    await until("the command", () => (rig.linesOf("started.txt").length > 0 ? true : undefined));
    await rig.recorded(sessionId, "", "tool_intent");
    await host.kill();
    await rig.reload(sessionId);
    expect(host.running()).toEqual([]);
  });
});

test("acp --model killed in a tool: nothing runs once the conversation is loaded, and the model is told of it", async () => {
  await using model = await fakeModel(WIRES.claude);
  using home = agentHome({ claude: model.url });
  const store = `sqlite:${join(home.path, "log.db")}`;
  const command = [
    process.execPath,
    MAIN,
    "acp",
    "--store",
    store,
    "--model",
    "anthropic/claude-fake",
  ] as const;
  const start = async (): Promise<AcpHost> => {
    const host = startHost({ command, env: home.env, cwd: home.project });
    await host.ask("initialize", PLAIN_HOST);
    return host;
  };
  const project = { cwd: home.project, mcpServers: [] };
  await using first = await start();
  const sessionId = textAt((await first.ask("session/new", project)).result, "sessionId");
  expect((await talk(first, sessionId).prompt("remember color=blue")).said).toContain("Noted color=blue.");
  talk(first, sessionId).begin(`run: trap '' TERM; ${COMMAND}`);
  await until("the command", () => (existsSync(join(home.project, "started.txt")) ? true : undefined));
  await first.kill();
  expect(first.running().map((one) => one.command)).toContain("sleep 60");
  await using second = await start();
  const loaded = await second.ask("session/load", { sessionId, ...project });
  expect(loaded.error).toBeUndefined();
  expect(first.running()).toEqual([]);
  const asked = model.requests().length;
  expect((await talk(second, sessionId).prompt("what is color? #after")).said).toContain(
    "color is blue #after",
  );
  expect(model.requests().length).toBeGreaterThan(asked);
  expect(model.requests().at(-1)?.said.join("\n")).toMatch(/unknown/i);
  expect(existsSync(join(home.project, "effect.txt"))).toBe(false);
});
