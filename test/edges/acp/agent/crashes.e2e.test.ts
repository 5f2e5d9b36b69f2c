/** Scenarios 9, 10 and 20: processes die in the middle of a tool. What they did is done at most once. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKillable, type Bridge } from "../bridge.ts";
import { eventually } from "../eventually.ts";
import { runs } from "../mini-agent.ts";
import { fieldsOf } from "../../../support/scripted-agent/wire.ts";

/** Whether the process that a tool started runs, by the number it wrote down. */
const childRuns = (file: string): boolean => runs(Number(readFileSync(`${file}.pid`, "utf8")));

async function startChild(
  bridge: Bridge,
  id: string,
  order: string,
): Promise<{ file: string; prompt: number }> {
  const file = join(bridge.dir, "side");
  const prompt = bridge.host.start(id, `${order} ${file} alpha`);
  await bridge.host.update((update) => update["title"] === "Child is running");
  expect(childRuns(file)).toBe(true);
  return { file, prompt };
}

const lines = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];

describe.each(["tool-child", "tool-daemon"])("a tool that runs in a process of its own: %s", (order) => {
  test("scenario 9: the agent is killed: its children are ended before anything else, and the tool is not run again", async () => {
    await using bridge = await openKillable({ like: "claude" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const { file, prompt } = await startChild(bridge, id, order);
    process.kill(agent.pid(), "SIGKILL");
    const outcome = await host.answerTo(prompt);
    expect(outcome.result?.["stopReason"]).not.toBe("end_turn");
    expect(childRuns(file)).toBe(false);
    writeFileSync(`${file}.go`, "");
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(lines(file)).toEqual([]);
    expect(agent.sent(`${order} ${file} alpha`)).toBe(1);
    expect((await bridge.entries(id, "turn_end"))[1]).toMatchObject({
      outcome: "interrupted",
      class: "crashed",
    });
    expect(agent.prompts().at(-1)).toContain("outcome unknown");
    expect(bridge.leaks()).toEqual([]);
  });

  test("scenario 10: the bridge is killed: whoever comes next ends the children before it sends anything", async () => {
    await using bridge = await openKillable({ like: "claude" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const { file } = await startChild(bridge, id, order);
    await host.kill();
    await host.restart();
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(childRuns(file)).toBe(false);
    writeFileSync(`${file}.go`, "");
    await host.prompt(id, "say on");
    expect(lines(file)).toEqual([]);
    expect(agent.sent(`${order} ${file} alpha`)).toBe(1);
    expect(bridge.leaks()).toEqual([]);
  });
});

test.each(["claude", "codex", "plain"] as const)(
  "scenario 9: %s dies right after its tool had written: the line is there once, and the outcome is called unknown",
  async (like) => {
    await using bridge = await openKillable({ like });
    const { host, agent, dir } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const file = join(dir, "side");
    const outcome = await host.prompt(id, `die-in-tool ${file}`);
    expect(outcome.result?.["stopReason"]).not.toBe("end_turn");
    expect(lines(file)).toEqual(["died"]);
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(lines(file)).toEqual(["died"]);
    expect(agent.sent(`die-in-tool ${file}`)).toBe(1);
    expect(agent.prompts().at(-1)).toContain("outcome unknown");
    expect(bridge.leaks()).toEqual([]);
  },
);

test.each(["claude", "codex", "plain"] as const)(
  "%s dies before any tool: it is started again, the prompt goes out once more, and the answer is whole",
  async (like) => {
    await using bridge = await openKillable({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const asked = await host.prompt(id, "die");
    // It dies each time, so the one recovery is spent; what it had said is kept, and the next prompt works.
    expect(asked.result?.["stopReason"]).not.toBe("end_turn");
    expect(agent.sent("die")).toBe(2);
    expect(agent.pids().length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(await bridge.log(id))).toContain("I was about to ");
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(bridge.leaks()).toEqual([]);
  },
);

test("an agent that is killed between two prompts is started again without a word of it", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const pid = agent.pid();
  process.kill(pid, "SIGKILL");
  await eventually("it is gone", () => !agent.runs(pid));
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(await bridge.chain(id)).toHaveLength(1);
  expect(agent.sent("what is color?")).toBe(1);
});

test("scenario 20: a permission that is open when the agent dies is taken back, and the turn ends", async () => {
  await using bridge = await openKillable({ like: "codex", ask: true });
  const { host, agent, dir } = bridge;
  host.policy = "hold";
  const id = await host.newSession();
  const prompt = host.start(id, `tool ${join(dir, "side")} one`);
  const isAsked = (method: unknown): boolean => method === "session/request_permission";
  const asked = await host.message("a permission", (message) => isAsked(message["method"]));
  process.kill(agent.pid(), "SIGKILL");
  const taken = await host.message("it is taken back", (message) => message["method"] === "$/cancel_request");
  expect(fieldsOf(taken["params"])["requestId"]).toBe(asked["id"]);
  await host.answerTo(prompt);
  // An answer that comes all the same is for nobody: it must not reach the agent that was started since.
  host.respond(asked["id"], { outcome: { outcome: "selected", optionId: "allow" } });
  expect((await host.prompt(id, "say on")).text).toBe("on");
  expect(existsSync(join(dir, "side"))).toBe(false);
  const answers = agent.received().filter(({ message }) => message["method"] === undefined);
  expect(JSON.stringify(answers.map(({ message }) => message["result"]))).not.toContain("allow");
  expect(bridge.leaks()).toEqual([]);
});

test("a slow tool is not cut short by the bridge that is restarted over it: it never ran, and is not run later", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host, agent, dir } = bridge;
  const id = await host.newSession();
  const file = join(dir, "side");
  host.start(id, `tool-slow ${file} alpha`);
  await host.update((update) => update["status"] === "in_progress");
  const pid = agent.pid();
  await host.kill();
  await eventually("the agent leaves with its host", () => !agent.runs(pid));
  writeFileSync(`${file}.go`, "");
  await host.restart();
  expect((await host.prompt(id, "say on")).text).toBe("on");
  expect(lines(file)).toEqual([]);
  expect(agent.sent(`tool-slow ${file} alpha`)).toBe(1);
});
