/** Scenario 3: an agent that says nothing, does not hear, or never opens; control comes back in bounded time. */
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { holdfastEvents, openKillable } from "../bridge.ts";
import { eventually } from "../eventually.ts";
import { type Fields, fieldsOf } from "../../../support/scripted-agent/wire.ts";

test("scenario 3: silence is noticed and told, and the person decides: a cancel comes back as cancelled", async () => {
  await using bridge = await openKillable({ like: "claude", args: ["--silence", "1"] });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const from = host.messages.length;
  const asked = host.start(id, "silent");
  const event = await host.update((update) => eventIn(update) === "silent", from);
  expect(fieldsOf(event["params"])["sessionId"]).toBe(id);
  expect(agent.sent("silent")).toBe(1);
  host.notify("session/cancel", { sessionId: id });
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(agent.sent("silent")).toBe(1);
  expect(await bridge.chain(id)).toHaveLength(1);
  expect(bridge.leaks()).toEqual([]);
});

function eventIn(update: Fields): unknown {
  return fieldsOf(fieldsOf(update["_meta"])["holdfast"])["event"];
}

test.each(["silent", "silent-deaf", "fail 429"])(
  "scenario 3: a cancel during %s comes back as cancelled, whether the agent hears it or not",
  async (order) => {
    // Gemini is the one that neither speaks nor hears when it is limited.
    await using bridge = await openKillable({ like: "gemini" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const asked = host.start(id, order);
    await eventually("the agent has the prompt", () => agent.sent(order) === 1);
    host.notify("session/cancel", { sessionId: id });
    expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(agent.sent(order)).toBe(1);
    expect(bridge.leaks()).toEqual([]);
  },
);

test("scenario 3: a tool that works without a word is not taken for silence", async () => {
  await using bridge = await openKillable({ like: "codex", args: ["--silence", "1"] });
  const { host, agent, dir } = bridge;
  const id = await host.newSession();
  const file = `${dir}/side`;
  const asked = host.start(id, `tool-slow ${file} alpha`);
  await host.update((update) => update["status"] === "in_progress");
  // Another conversation has been silent for too long since, and that is told; the tool is at work.
  const other = await host.newSession();
  host.start(other, "silent");
  const event = await host.update((update) => eventIn(update) === "silent");
  expect(fieldsOf(event["params"])["sessionId"]).toBe(other);
  writeFileSync(`${file}.go`, "");
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "end_turn" });
  expect(holdfastEvents(host.updates(id))).toEqual([]);
  expect(agent.sent(`tool-slow ${file} alpha`)).toBe(1);
});

test("an agent that does not even introduce a session does not hold the host forever", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say first");
  agent.control({ resume: "hangs" });
  await host.restart();
  const asked = host.start(id, "say hello");
  await eventually("it was asked to come back", () =>
    agent.calls().some((method) => method === "session/resume" || method === "session/load"),
  );
  host.notify("session/cancel", { sessionId: id });
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
});
