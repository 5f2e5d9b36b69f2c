/** What a host does beyond prompting: forks in the middle, settings, permissions; and what the log keeps of a retry. */
import { describe, expect, test } from "vitest";
import { spoken } from "./acp-host.ts";
import { talk } from "./agent-rig.ts";
import { agentProcess, AGENTS, type BridgeRig, bridgeRig } from "./bridge-rig.ts";
import { forgetAll, recalls } from "./bridge-story.ts";
import { at, listAt, textAt } from "./json.ts";

describe.each(AGENTS)("%s behind the bridge", (agent) => {
  test("18: forks at a message, and the fork knows nothing of what came after", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const source = await rig.open();
    const { host, sessionId } = source;
    await source.prompt("remember color=blue");
    await source.prompt("remember shape=round");
    const params = { sessionId, cwd: rig.home.project, mcpServers: [] };
    const holdfast = { at: await entryOf(rig, sessionId, "Noted color=blue.") };
    const { result, error } = await host.ask("session/fork", { ...params, _meta: { holdfast } });
    expect(error).toBeUndefined();
    const fork = talk(host, textAt(result, "sessionId"));
    await recalls(fork, rig.model, "fork");
    expect(rig.model.requests().at(-1)?.said.join("\n")).not.toContain("shape=round");
    expect((await fork.prompt("what is shape?")).said).toContain("I do not know shape.");
    expect((await source.prompt("what is shape?")).said).toContain("shape is round");
    if (agent === "claude") expect(textAt(result, "_meta", "holdfast", "fidelity")).toBe("transcript");
    expect(await rig.leaks()).toEqual([]);
  });

  test("19: what the host has set is set again on another session", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.start();
    const made = (await host.ask("session/new", { cwd: rig.home.project, mcpServers: [] })).result;
    const sessionId = textAt(made, "sessionId");
    const wanted = choicesIn(made).filter(({ name }) => agent !== "codex" || name !== "model");
    expect(wanted).not.toEqual([]);
    // Codex speaks of its other models in another way, which the fake one does not know.
    for (const { method, params } of wanted)
      expect((await host.ask(method, { sessionId, ...params })).error).toBeUndefined();
    await talk(host, sessionId).prompt("remember color=blue");
    const model = modelOf(rig);
    await host.close();
    forgetAll(rig, agent);
    const again = await rig.start();
    const loaded = await again.ask("session/load", { sessionId, cwd: rig.home.project, mcpServers: [] });
    await recalls(talk(again, sessionId), rig.model, "again");
    for (const { name, value } of wanted)
      expect([name, settingIn(loaded.result, name)]).toEqual([name, value]);
    expect(modelOf(rig)).toBe(model);
    expect((await rig.chain(sessionId)).length).toBeGreaterThan(1);
  });

  test("20: a question that is open at a cancel is over, and nothing ran", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open({ policy: "hold" });
    if (agent === "codex")
      await host.host.ask("session/set_mode", { sessionId: host.sessionId, modeId: "read-only" });
    const prompt = host.begin("run asking: echo once >> out.txt; echo there");
    await host.host.until(({ raw }) => raw.includes("session/request_permission"));
    host.host.notify("session/cancel", { sessionId: host.sessionId });
    const { result } = await host.host.answered(prompt, 20_000);
    expect(textAt(result, "stopReason")).toBe("cancelled");
    expect(rig.linesOf("out.txt")).toEqual([]);
    await host.prompt("remember color=blue");
    await recalls(host, rig.model, "after");
    expect(rig.linesOf("out.txt")).toEqual([]);
  });

  test("20: a question whose agent dies is taken back", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open({ policy: "hold" });
    if (agent === "codex")
      await host.host.ask("session/set_mode", { sessionId: host.sessionId, modeId: "read-only" });
    const prompt = host.begin("run asking: echo once >> out.txt; echo there");
    const asked = await host.host.until(({ raw }) => raw.includes("session/request_permission"));
    const since = host.host.lines.length;
    process.kill(agentProcess(host), "SIGKILL");
    const id = at(asked.message, "id");
    await host.host.until(({ message }) => at(message, "params", "requestId") === id, { since });
    await host.host.answered(prompt);
    await host.prompt("remember color=blue");
    await recalls(host, rig.model, "after");
    expect(rig.linesOf("out.txt")).toEqual([]);
  });
});

describe.each(["claude", "codex"] as const)("%s behind the bridge", (agent) => {
  test("24: a reply that was cut and begun again is kept once", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    rig.model.say(() => ({ text: "one two three four" }));
    rig.model.next("cut");
    const { updates } = await host.prompt("count");
    expect(spoken(updates)).toContain("one two one two three four");
    expect(await saidIn(rig, host.sessionId)).toEqual(["one two three four"]);
  });
});

test("24: a reply that Claude fetched again for its rest is kept whole", async () => {
  await using rig = await bridgeRig({ agents: ["claude"] });
  const host = await rig.open();
  rig.model.say(() => ({ text: "one two three four" }));
  rig.model.next("stream_error");
  await host.prompt("count");
  expect((await saidIn(rig, host.sessionId)).join("")).toBe("one two three four");
});

/** The texts of the agent's messages in what a model would be told. */
async function saidIn(rig: BridgeRig, sessionId: string): Promise<readonly string[]> {
  const [context] = JSON.parse(await rig.context(sessionId)) as readonly unknown[];
  const messages = listAt(context, "messages").filter((message) => at(message, "role") === "assistant");
  return messages.map((message) =>
    listAt(message, "content")
      .map((block) => textAt(block, "text"))
      .join(""),
  );
}

/** The id of the log's entry with these words. */
async function entryOf(rig: BridgeRig, sessionId: string, words: string): Promise<string> {
  const log = await rig.log(sessionId);
  const found = log.find((entry) => at(entry, "type") === "message" && JSON.stringify(entry).includes(words));
  return textAt(found, "id");
}

/** The model the agent asked last, as far as it says so. */
function modelOf(rig: BridgeRig): string {
  const last = rig.model.requests().at(-1);
  return textAt(last?.body, "model") || (/models\/([^:]+):/.exec(last?.path ?? "")?.[1] ?? "");
}

interface Choice {
  readonly name: string;
  readonly value: string;
  readonly method: string;
  readonly params: object;
}

/** An option that puts words of its own after the prompt, and one that comes and goes with the model. */
const LEFT_OUT: ReadonlySet<string> = new Set(["ultracode", "fast"]);

/** What is surely not the same thing under another name, and lets the agent go on talking as it does. */
const PREFERRED: ReadonlySet<string> = new Set(["plan", "read-only", "sonnet", "low"]);

/** Something other than what holds, for every setting there is. */
function choicesIn(made: unknown): readonly Choice[] {
  const options = listAt(made, "configOptions").flatMap((option): readonly Choice[] => {
    const [name, now] = [textAt(option, "id"), textAt(option, "currentValue")];
    const others = flat(listAt(option, "options")).filter((one) => one !== now);
    const value = others.find((one) => PREFERRED.has(one)) ?? others[0];
    const params = { configId: name, value };
    return value === undefined || LEFT_OUT.has(name)
      ? []
      : [{ name, value, method: "session/set_config_option", params }];
  });
  if (options.some(({ name }) => name === "mode")) return options;
  const now = textAt(made, "modes", "currentModeId");
  const modes = listAt(made, "modes", "availableModes").map((one) => textAt(one, "id"));
  const value = modes.find((one) => one !== now && PREFERRED.has(one)) ?? "";
  if (value === "") return options;
  return [...options, { name: "mode", value, method: "session/set_mode", params: { modeId: value } }];
}

/** Values, in groups or not. */
function flat(options: readonly unknown[]): readonly string[] {
  return options.flatMap((one) =>
    listAt(one, "options").length > 0 ? flat(listAt(one, "options")) : [textAt(one, "value")],
  );
}

function settingIn(opened: unknown, name: string): string {
  const option = listAt(opened, "configOptions").find((one) => at(one, "id") === name);
  return option === undefined ? textAt(opened, "modes", "currentModeId") : textAt(option, "currentValue");
}
