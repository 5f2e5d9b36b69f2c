/** What a session of a real agent holds, and that it is neither asked nor told anything twice. */
import { expect, test } from "vitest";
import { agentRig, type Talk } from "./agent-rig.ts";
import { bridgeRig } from "./bridge-rig.ts";
import type { FakeModel } from "./fake-model.ts";
import type { AgentName } from "./install.ts";
import { until } from "./until.ts";

const BOTH: readonly AgentName[] = ["claude", "codex"];

/** Stops a turn in the middle of its reply. */
async function stopped(host: Talk, model: FakeModel, words: string): Promise<void> {
  model.next("hang");
  const asked = model.requests().length;
  const since = host.host.lines.length;
  const id = host.begin(words);
  await until("the request", () => (model.requests().length > asked ? true : undefined));
  await until("some words", () => (host.host.updates(since).length > 0 ? true : undefined));
  host.host.notify("session/cancel", { sessionId: host.sessionId });
  await host.host.answered(id);
  model.release();
}

test.each(BOTH)(
  "%s: an answer whose words were read from the cache is asked and shown once, after a stop and when it comes again",
  async (name) => {
    await using rig = await bridgeRig({ agents: [name] });
    const { model } = rig;
    const host = await rig.open();
    model.say(() => ({ text: "Done." }));
    for (const words of ["first", "second"]) expect((await host.prompt(words)).said).toContain("Done.");
    await stopped(host, model, "third");
    const after = model.requests().length;
    const { said } = await host.prompt("a prompt after the stop that is longer than fifty characters");
    expect(said.split("Done.")).toHaveLength(2);
    expect(model.requests()).toHaveLength(after + 1);
    expect(await rig.chain(host.sessionId)).toHaveLength(1);
  },
);

/** How much the model is sent after a long prompt and ten stops. */
async function afterStops(host: Talk, model: FakeModel): Promise<number> {
  await host.prompt(`remember color=blue ${"and so on ".repeat(500)}`);
  for (let at = 0; at < 10; at++) await stopped(host, model, `stop ${at}`);
  expect((await host.prompt("what is color? #last")).said).toContain("color is blue");
  return JSON.stringify(model.requests().at(-1)?.body).length;
}

test.each(BOTH)("%s: after ten stops the model is sent what it is sent without the bridge", async (name) => {
  await using rig = await bridgeRig({ agents: [name] });
  await using alone = await agentRig(name);
  const bridged = await afterStops(await rig.open(), rig.model);
  const direct = await afterStops(await alone.open(), alone.model);
  expect(bridged / direct).toBeLessThanOrEqual(1.1);
});

/** What the models are sent after a compaction, in bytes. */
async function afterCompaction(host: Talk, model: FakeModel, command: readonly string[]): Promise<number> {
  for (const fact of ["color=blue", "shape=round", "size=big"])
    await host.prompt(`remember ${fact} ${"and so on ".repeat(500)}`);
  for (const prompt of [...command, "what is taste? #last"]) await host.prompt(prompt);
  return JSON.stringify(model.requests().at(-1)?.body).length;
}

test.each([
  ["that was asked for", ["/compact"], {}],
  [
    "of its own accord",
    [],
    { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: "3", CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" },
  ],
])(
  "claude: after a compaction %s the model is sent what it is sent without the bridge",
  async (_how, command, env) => {
    await using rig = await bridgeRig({ agents: ["claude"], env });
    await using alone = await agentRig("claude", env);
    const host = await rig.open();
    const bridged = await afterCompaction(host, rig.model, command);
    const direct = await afterCompaction(await alone.open(), alone.model, command);
    expect(bridged / direct).toBeLessThanOrEqual(1.01);
    await host.host.close();
    const again = await rig.reload(host.sessionId);
    await again.prompt("what is taste? #later");
    const sent = JSON.stringify(rig.model.requests().at(-1)?.body);
    expect(sent.length / direct).toBeLessThanOrEqual(1.05);
    expect(sent).not.toContain("restored from its log");
    expect(await rig.effects(host.sessionId)).toEqual([]);
  },
);

test("claude: /cost, /usage and /clear are what they are without the bridge", async () => {
  await using rig = await bridgeRig({ agents: ["claude"] });
  const { model } = rig;
  const host = await rig.open();
  await host.prompt("remember color=blue");
  const asked = model.requests({ side: true }).length;
  for (const command of ["/cost", "/cost"])
    expect((await host.prompt(command)).said).toContain("Total cost:");
  expect((await host.prompt("/usage")).said).toContain("Usage");
  expect(model.requests({ side: true })).toHaveLength(asked);
  expect((await host.prompt("what is color? #kept")).said).toContain("color is blue #kept");
  expect(await rig.chain(host.sessionId)).toHaveLength(1);

  expect(await host.prompt("/clear")).toMatchObject({ stopReason: "end_turn", said: "" });
  expect((await host.prompt("what is color? #cleared")).said).toContain("I do not know color. #cleared");
  await host.host.close();
  const again = await rig.reload(host.sessionId);
  expect((await again.prompt("what is color? #later")).said).toContain("I do not know color. #later");
  expect(JSON.stringify(model.requests().at(-1)?.body)).not.toContain("color=blue");
});

test.each(BOTH)(
  "%s: a session is recognised after a restart that follows a file and a command",
  async (name) => {
    await using rig = await bridgeRig({ agents: [name] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    const resource = { uri: "file:///work/a.ts", text: "const a = 1;\nconst b = 2;" };
    const prompt = [
      { type: "text", text: "remember shape=round" },
      { type: "resource", resource },
    ];
    const { sessionId } = host;
    expect((await host.host.ask("session/prompt", { sessionId, prompt })).error).toBeUndefined();
    await host.prompt(name === "codex" ? "/status" : "/usage");
    await host.host.close();
    const again = await rig.reload(sessionId);
    expect((await again.prompt("what is color? #again")).said).toContain("color is blue #again");
    expect(await rig.chain(sessionId)).toHaveLength(1);
    expect(JSON.stringify(rig.model.requests().at(-1)?.body)).not.toContain("restored from its log");
  },
);
