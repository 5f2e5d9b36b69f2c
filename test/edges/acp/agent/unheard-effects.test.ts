/** What an agent did and nobody heard is in its own record: it is in the log before anything else is sent. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Bridge, openBridge, openKillable } from "../bridge.ts";
import { eventually } from "../eventually.ts";

async function effects(bridge: Bridge, id: string): Promise<readonly unknown[]> {
  return (await bridge.entries(id, "tool_intent")).map((intent) => intent["name"]);
}

function recordHolds(bridge: Bridge, text: string): boolean {
  const [session] = bridge.agent.ids();
  const path = bridge.agent.transcript(session ?? "");
  return path !== null && readFileSync(path, "utf8").includes(text);
}

describe.each(["claude", "codex"] as const)("%s", (like) => {
  test("an effect it was not let to tell of is in the log once the cancel is answered", async () => {
    await using bridge = await openBridge({ like });
    const { host, dir } = bridge;
    const id = await host.newSession();
    const file = join(dir, "out");
    const asked = host.start(id, `tool-untold ${file} x`);
    await eventually("it has acted", () => existsSync(`${file}.acted`));
    host.notify("session/cancel", { sessionId: id });
    expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
    expect(await effects(bridge, id)).toEqual(["Write x"]);
    expect(JSON.stringify(await bridge.entries(id, "message"))).toContain("wrote x");
    await host.prompt(id, "say hello");
    expect(await effects(bridge, id)).toEqual(["Write x"]);
  });

  test("an effect it wrote down only after the cancel is in the log before the next prompt is", async () => {
    await using bridge = await openBridge({ like });
    const { host, dir } = bridge;
    const id = await host.newSession();
    const file = join(dir, "out");
    const asked = host.start(id, `tool-unwritten ${file} x`);
    await eventually("it has acted", () => existsSync(`${file}.acted`));
    host.notify("session/cancel", { sessionId: id });
    await host.answerTo(asked);
    writeFileSync(`${file}.record`, "");
    await eventually("it has written it down", () => recordHolds(bridge, "wrote x"));
    expect((await host.prompt(id, "say hello")).text).toBe("hello");
    expect(await effects(bridge, id)).toEqual(["Write x"]);
    const log = await bridge.log(id);
    const at = (fits: (text: string) => boolean): number =>
      log.findIndex((entry) => fits(JSON.stringify(entry)));
    expect(at((text) => text.includes("tool_intent"))).toBeLessThan(at((text) => text.includes("say hello")));
    expect((await bridge.context(id)).join("\n")).toContain("wrote x");
  });

  test("an effect of which a killed bridge had heard nothing is in the log after the restart", async () => {
    await using bridge = await openKillable({ like });
    const { host, dir } = bridge;
    const id = await host.newSession();
    const file = join(dir, "out");
    host.start(id, `tool-untold ${file} x`);
    await eventually("it has acted", () => existsSync(`${file}.acted`));
    await host.restart();
    expect((await host.load(id)).error).toBeNull();
    expect(await effects(bridge, id)).toEqual(["Write x"]);
    expect((await host.prompt(id, "say hello")).text).toBe("hello");
    expect(await effects(bridge, id)).toEqual(["Write x"]);
    expect(readFileSync(file, "utf8")).toBe("x\n");
  });
});

test("a call that never ran, of which a killed bridge had heard nothing, is no action of anybody's", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  const file = join(dir, "out");
  host.start(id, `tool-refused ${file} x`);
  await eventually("it has written it down", () => existsSync(`${file}.refused`));
  await host.restart();
  expect((await host.load(id)).error).toBeNull();
  const said = JSON.stringify(await bridge.entries(id, "message"));
  expect(said).toContain("Tool permission request failed");
  expect(await bridge.effects(id)).toMatchObject([{ name: "Write x", state: "not_started" }]);
});
