/** What the agents keep themselves is lost, torn or cut, or their own parts die: the conversation has it all. */
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { agentProcess, AGENTS, bridgeRig, eventsIn } from "./bridge-rig.ts";
import { forgetAll, recalls, storedBy } from "./bridge-story.ts";
import { at } from "./json.ts";
import type { Running } from "./processes.ts";
import { until } from "./until.ts";

describe.each(AGENTS)("%s behind the bridge", (agent) => {
  test("11: has lost everything it kept, and is told anew", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    await host.prompt("run: echo once >> out.txt; echo there");
    await host.host.close();
    forgetAll(rig, agent);
    const again = await rig.reload(host.sessionId);
    await recalls(again, rig.model, "lost");
    expect(rig.model.requests().at(-1)?.said.join("\n")).toContain("out.txt");
    expect(eventsIn(again.host.updates())).toContain("session");
    expect(rig.linesOf("out.txt")).toEqual(["once"]);
    const chain = await rig.chain(host.sessionId);
    expect(chain).toHaveLength(2);
    expect(await rig.leaks()).toEqual([]);
  });

  test("11: dies between two prompts, and is there again for the next", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    const pid = agentProcess(host);
    process.kill(pid, "SIGKILL");
    await until("its end", () => (host.host.running().some((one) => one.pid === pid) ? undefined : true));
    await recalls(host, rig.model, "restarted");
    expect(await rig.leaks()).toEqual([]);
  });
});

describe.each(["claude", "codex"] as const)("%s keeps less than was said", (agent) => {
  test("13: a record cut at 60 % is noticed, and the context is whole", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    for (const fact of ["color=blue", "shape=round", "size=big", "taste=sour", "sound=loud"])
      await host.prompt(`remember ${fact}`);
    await host.host.close();
    for (const file of storedBy(rig, agent)) cutAt(file, 0.6);
    const again = await rig.reload(host.sessionId);
    await recalls(again, rig.model, "cut");
    const sent = rig.model.requests().at(-1)?.said.join("\n") ?? "";
    for (const fact of ["shape=round", "size=big", "taste=sour", "sound=loud"]) expect(sent).toContain(fact);
    expect((await rig.chain(host.sessionId)).length).toBeGreaterThan(1);
    expect(await rig.leaks()).toEqual([]);
  });

  test("14: a record torn in its last line does no harm", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    await host.prompt("remember shape=round");
    await host.host.close();
    for (const file of storedBy(rig, agent)) truncateSync(file, readFileSync(file).length - 40);
    const again = await rig.reload(host.sessionId);
    await recalls(again, rig.model, "torn");
    expect((await again.prompt("what is shape?")).said).toContain("shape is round");
    expect(await rig.leaks()).toEqual([]);
  });
});

test("8: Claude's own process dies in a reply, and the same session goes on", async () => {
  await using rig = await bridgeRig({ agents: ["claude"] });
  const host = await rig.open();
  await host.prompt("remember color=blue");
  rig.model.next("hang");
  const since = host.host.lines.length;
  const prompt = host.begin("tell me something long, and take your time");
  await host.host.until(({ raw }) => raw.includes("agent_message_chunk") && raw.includes("something"), {
    since,
  });
  await rig.recorded(host.sessionId, "something");
  const child = host.host.running().find(({ command }) => command.includes("--output-format stream-json"));
  process.kill(child?.pid ?? 0, "SIGKILL");
  // No tool had begun, so the prompt is sent once more, on the same session.
  const { result } = await host.host.answered(prompt);
  expect(at(result, "stopReason")).toBe("end_turn");
  expect(eventsIn(host.host.updates(since))).toContain("lost");
  const asked = rig.model.requests().filter((request) => request.prompt.includes("take your time"));
  expect(new Set(asked.map(({ session }) => session)).size).toBe(1);
  expect(await rig.chain(host.sessionId)).toHaveLength(1);
  const context = await rig.context(host.sessionId);
  expect(context.split("You said: tell me something long, and take your time")).toHaveLength(2);
  await recalls(host, rig.model, "after");
  expect(await rig.leaks()).toEqual([]);
});

test("9: Claude outlives bridge and adapter for a moment, and the call it could not ask about never ran", async () => {
  await using rig = await bridgeRig({ agents: ["claude"] });
  const host = await rig.open();
  await host.prompt("remember color=blue");
  // The call comes later than the request, so that only Claude lives to see it.
  rig.model.next((usual) => ({ ...usual, pieceMs: 700 }));
  host.begin("run: echo once >> out.txt; echo there");
  await until("the request", () => rig.model.requests().find(({ prompt }) => prompt.includes("run: echo")));
  const adapter = agentProcess(host);
  const left = (): readonly Running[] => host.host.running().filter(({ pid }) => pid !== host.host.pid);
  // At once: an adapter that sees its input end would end Claude first.
  for (const pid of [host.host.pid, adapter]) process.kill(pid, "SIGKILL");
  await host.host.exited();
  const held = (): boolean =>
    rig.transcripts().some((file) => readFileSync(file, "utf8").includes("Tool permission"));
  await until("its last words", () => held() || left().length === 0 || undefined);
  expect(held()).toBe(true);
  const again = await rig.reload(host.sessionId);
  expect(await rig.effects(host.sessionId)).toMatchObject([{ name: "Bash", state: "not_started" }]);
  await recalls(again, rig.model, "after");
  expect(rig.model.requests().at(-1)?.said.join("\n")).not.toContain("Actions already taken");
  expect(rig.linesOf("out.txt")).toEqual([]);
  expect(await rig.leaks()).toEqual([]);
});

/** Cuts a file of lines after the line that reaches into this part of it. */
function cutAt(file: string, part: number): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.slice(0, text.indexOf("\n", text.length * part) + 1));
}
