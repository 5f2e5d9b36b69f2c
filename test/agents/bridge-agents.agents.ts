/** All four agents behind the bridge: a day's work, restarts, forks, kills. The numbers are the project's scenarios. */
import { expect, describe, test } from "vitest";
import { spoken } from "./acp-host.ts";
import { type Talk, talk } from "./agent-rig.ts";
import { agentProcess, AGENTS, type BridgeRig, bridgeRig, eventsIn } from "./bridge-rig.ts";
import { askedIn, recalls } from "./bridge-story.ts";
import { at, textAt } from "./json.ts";
import { until } from "./until.ts";

const UNKNOWN = /outcome (?:is )?unknown/i;

describe.each(AGENTS)("%s behind the bridge", (agent) => {
  test("1, 15, 16, 17: works, is loaded once, goes on, forks at its head", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const first = await rig.open();
    const prompts = ["remember color=blue", "run: echo once >> out.txt; echo there"];
    expect((await first.prompt("remember color=blue")).said).toContain("Noted color=blue.");
    expect((await first.prompt("run: echo once >> out.txt; echo there")).said).toContain("Done: there");
    await recalls(first, rig.model, "alive");
    await first.host.close();

    const loaded = await rig.reload(first.sessionId);
    const replayed = loaded.host.updates();
    expect(askedIn(replayed)).toEqual([...prompts, "what is color? #alive"]);
    expect(spoken(replayed).match(/Noted color=blue\.|Done: there|color is blue #alive/g)).toHaveLength(3);
    await recalls(loaded, rig.model, "loaded");
    expect(askedIn(loaded.host.updates())).toHaveLength(3);
    expect(spoken(loaded.host.updates()).split("Noted color=blue.")).toHaveLength(2);
    expect(rig.linesOf("out.txt")).toEqual(["once"]);

    const fork = await forked(rig, loaded);
    expect(askedIn(loaded.host.updates())).toHaveLength(3);
    await fork.prompt("remember shape=round");
    await recalls(fork, rig.model, "fork");
    await recalls(loaded, rig.model, "source");
    expect((await loaded.prompt("what is shape? #source")).said).toContain("I do not know shape.");
    expect((await fork.prompt("what is shape? #fork")).said).toContain("shape is round");
    expect(await rig.leaks()).toEqual([]);
  });

  test("9: killed in a tool, it runs nothing again, and knows that it does not know", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    const command = "echo on >> started.txt; sleep 3; echo once >> effect.txt; echo there";
    const prompt = host.begin(`run: ${command}`);
    await until("the command", () => (rig.linesOf("started.txt").length > 0 ? true : undefined));
    process.kill(agentProcess(host), "SIGKILL");
    const { error } = await host.host.answered(prompt);
    expect(at(error, "data", "holdfast", "class")).toBe("crashed");
    expect(await rig.context(host.sessionId)).toMatch(UNKNOWN);
    await recalls(host, rig.model, "killed");
    expect(rig.model.requests().at(-1)?.said.join("\n")).toMatch(/sleep 3/);
    await until("the end of the command", () => (isRunning(host, "sleep 3") ? undefined : true));
    expect(rig.linesOf("effect.txt").length).toBeLessThanOrEqual(1);
    expect(rig.linesOf("started.txt")).toEqual(["on"]);
    expect(await rig.leaks()).toEqual([]);
  });

  test("10: the bridge itself is killed in a reply, and a load shows half of it", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    rig.model.next("hang");
    const since = host.host.lines.length;
    host.begin("tell me something long, and take your time");
    const half = ({ raw }: { readonly raw: string }): boolean =>
      raw.includes("agent_message_chunk") && raw.includes("something");
    await host.host.until(half, { since, what: "the first half of the reply" });
    await rig.recorded(host.sessionId, "something");
    await host.host.kill();
    const again = await rig.reload(host.sessionId);
    expect(spoken(again.host.updates())).toContain("You said: tell me something");
    expect(askedIn(again.host.updates())).toContain("tell me something long, and take your time");
    await recalls(again, rig.model, "again");
    await until("the end of the first agent", () => (host.host.running().length === 0 ? true : undefined));
    expect(await rig.leaks()).toEqual([]);
  });

  test("10: the bridge itself is killed in a tool, and what ran is ended before anything else is sent", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    host.begin("run: echo on >> started.txt; sleep 60; echo once >> effect.txt; echo there");
    await until("the command", () => (rig.linesOf("started.txt").length > 0 ? true : undefined));
    await rig.recorded(host.sessionId, "", "tool_intent");
    await host.host.kill();
    const again = await rig.reload(host.sessionId);
    await recalls(again, rig.model, "again");
    expect(host.host.running()).toEqual([]);
    expect(await rig.context(host.sessionId)).toMatch(UNKNOWN);
    expect(rig.linesOf("started.txt")).toEqual(["on"]);
    expect(rig.linesOf("effect.txt")).toEqual([]);
    expect(await rig.leaks()).toEqual([]);
  });

  test("12: a session nobody spoke in is replaced without a word", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.host.close();
    const again = await rig.reload(host.sessionId);
    const turn = await again.prompt("remember color=blue");
    expect(turn.said).toContain("Noted color=blue.");
    expect(eventsIn(again.host.updates())).toEqual([]);
    expect(rig.model.requests().at(-1)?.prompt.trim()).toBe("remember color=blue");
    await recalls(again, rig.model, "again");
    expect(await rig.leaks()).toEqual([]);
  });
});

test("1: codex names its session to the host inside the call that reviews another, and nowhere else", async () => {
  await using rig = await bridgeRig({ agents: ["codex"] });
  const host = await rig.open();
  expect((await host.prompt("run asking: echo there")).said).toContain("Done: there");
  const [upstream = ""] = await rig.leaks();
  expect(upstream).toBe((await rig.chain(host.sessionId))[0]?.id);
  const named = host.host.lines.filter(({ raw }) => raw.includes(upstream));
  const calls = named.map(({ message }) => textAt(message, "params", "update", "toolCallId"));
  expect(calls.map((call) => call.split(":")[0])).toEqual(calls.map(() => "guardian_assessment"));
});

async function forked(rig: BridgeRig, { host, sessionId }: Talk): Promise<Talk> {
  const params = { sessionId, cwd: rig.home.project, mcpServers: [] };
  const answer = await host.ask("session/fork", params);
  expect(answer.error).toBeUndefined();
  return talk(host, textAt(answer.result, "sessionId"));
}

function isRunning({ host }: Talk, words: string): boolean {
  return host.running().some(({ command }) => command === words);
}
