/** Scenarios 2 to 8: what agents call an error, a success or nothing at all, told apart. */
import { describe, expect, test } from "vitest";
import { PREAMBLE } from "../../../support/scripted-agent/agent-folder.ts";
import { failureOf, holdfastEvents, metaOf, openBridge } from "../bridge.ts";

describe("a limit", () => {
  test("scenario 2: Claude's 429 fails the turn, its text is no answer, and the next prompt has everything", async () => {
    await using bridge = await openBridge({ like: "claude" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ failNext: { kind: "429", times: 1 } });
    const limited = await host.prompt(id, "say something");
    expect(failureOf(limited.error)).toMatchObject({ class: "limit", kept: true });
    expect((await bridge.context(id)).join("\n")).not.toContain("API Error");
    expect((await bridge.entries(id, "turn_end")).at(-1)).toMatchObject({
      outcome: "failed",
      class: "limit",
    });
    expect(agent.sent("say something")).toBe(1);
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(agent.of("session/new")).toHaveLength(1);
    expect(bridge.leaks()).toEqual([]);
  });

  test("scenario 2: Claude's 429 in the result, for a host that wants it there, is a failure all the same", async () => {
    const clientCapabilities = {
      _meta: { jetbrains: { air: { version: 1, capabilities: ["sessionFailure"] } } },
    };
    await using bridge = await openBridge({ like: "claude", clientCapabilities });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ failNext: { kind: "429", times: 1 } });
    await host.prompt(id, "say something");
    expect((await bridge.entries(id, "turn_end")).at(-1)).toMatchObject({
      outcome: "failed",
      class: "limit",
    });
    expect(agent.sent("say something")).toBe(1);
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(bridge.leaks()).toEqual([]);
  });

  test("scenario 4: Codex's 429 that calls itself a success is a failure", async () => {
    await using bridge = await openBridge({ like: "codex" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ failNext: { kind: "429", times: 1 } });
    const limited = await host.prompt(id, "say something");
    expect(limited.result).toBeNull();
    expect(failureOf(limited.error)).toMatchObject({ class: "limit", kept: true });
    expect((await bridge.entries(id, "turn_end")).at(-1)).toMatchObject({ outcome: "failed" });
    expect((await bridge.context(id)).join("\n")).not.toContain("exceeded retry limit");
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  });

  test("scenario 5: Codex's usage limit parks the conversation: one prompt, one session, one process", async () => {
    await using bridge = await openBridge({ like: "codex" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ failNext: { kind: "limit-reset", times: 9 } });
    const parked = await host.prompt(id, "say something");
    expect(failureOf(parked.error)).toMatchObject({ class: "limit", kept: true });
    expect(holdfastEvents(parked.updates).map((ours) => ours["event"])).toContain("parked");
    expect(agent.sent("say something")).toBe(1);
    expect(agent.of("session/new")).toHaveLength(1);
    expect(agent.pids()).toHaveLength(1);
    expect((await host.prompt(id, "say more")).error).not.toBeNull();
    expect(agent.sent("say more")).toBe(0);
    expect(agent.pids()).toHaveLength(1);
    expect(await bridge.chain(id)).toHaveLength(1);
  });

  test.each(["claude", "codex", "opencode", "plain"] as const)(
    "scenario 5: %s is left alone until the reset it named, and asked again after it",
    async (like) => {
      await using bridge = await openBridge({ like });
      const { host, agent } = bridge;
      const id = await host.newSession();
      await host.prompt(id, "remember color=blue");
      // To the minute: Codex says it as a time of day.
      const resetAtMs = Math.ceil(Date.now() / 60_000 + 60) * 60_000;
      agent.control({ resetAtMs, failNext: { kind: "limit-reset", times: 1 } });
      const parked = await host.prompt(id, "say something");
      expect(failureOf(parked.error)).toMatchObject({
        class: "limit",
        kept: true,
        resetAt: new Date(resetAtMs).toISOString(),
      });
      const again = await host.prompt(id, "say more");
      expect(failureOf(again.error)).toMatchObject({ class: "limit", kept: true });
      expect(agent.sent("say more")).toBe(0);
      // It lies beside the branch: nothing there is left unanswered by it.
      expect(await bridge.context(id)).not.toContain("user: say more");
      // Whoever was told and sends again means it: the limit may have been lifted.
      expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    },
  );

  test("scenario 5: a reset that has passed does not hold anything back", async () => {
    await using bridge = await openBridge({ like: "claude" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ resetAtMs: Date.now() - 60_000, failNext: { kind: "limit-reset", times: 1 } });
    expect((await host.prompt(id, "say something")).error).not.toBeNull();
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  });
});

test.each(["claude", "codex", "opencode"] as const)(
  "scenario 6: a 401 of %s is an auth error to the host, and the chain is kept",
  async (like) => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ failNext: { kind: "401", times: 9 } });
    const refused = await host.prompt(id, "say something");
    expect(refused.error?.code).toBe(-32000);
    expect(failureOf(refused.error)).toMatchObject({ class: "auth", kept: true });
    expect(agent.sent("say something")).toBeLessThanOrEqual(3);
    agent.control({ failNext: { kind: "401", times: 0 } });
    await host.call("authenticate", { methodId: "login" });
    expect(agent.of("authenticate")).toHaveLength(1);
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(await bridge.chain(id)).toHaveLength(1);
    expect((await bridge.context(id)).join("\n")).not.toMatch(/api.key/i);
  },
);

test.each(["claude", "codex", "opencode", "gemini"] as const)(
  "scenario 7: an empty end_turn of %s is flagged and retried at most once",
  async (like) => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const empty = await host.prompt(id, "empty");
    expect(agent.sent("empty")).toBe(2);
    expect((await bridge.entries(id, "turn_end")).at(-1)).toMatchObject({ class: "empty" });
    // The host does not see a turn in which simply nothing happened.
    expect(holdfastEvents(empty.updates)).toMatchObject([
      { event: "lost", class: "empty" },
      {},
      { event: "empty" },
    ]);
    expect(metaOf(empty.result)["class"] ?? failureOf(empty.error)["class"]).toBe("empty");
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect((await bridge.context(id)).filter((words) => words === "user: empty")).toHaveLength(1);
    expect(bridge.leaks()).toEqual([]);
  },
);

test("scenario 8: Claude's own process dies in a turn: the same session is resumed, and what it said stays in the log", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  agent.control({ failNext: { kind: "exited", times: 1 } });
  expect((await host.prompt(id, "what is color?")).text).toMatch(/color is blue$/);
  expect(JSON.stringify(await bridge.log(id))).toContain("Partial words");
  expect((await bridge.context(id)).at(-1)).toBe("assistant: color is blue");
  expect(agent.sent("what is color?")).toBe(2);
  expect(agent.of("session/new")).toHaveLength(1);
  expect(await bridge.chain(id)).toHaveLength(1);
  expect(bridge.leaks()).toEqual([]);
});

test.each(["claude", "codex", "plain"] as const)(
  "an overload of %s is waited out on the same session, and the host hears of it",
  async (like) => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    agent.control({ failNext: { kind: "529", times: 1 } });
    const turn = await host.prompt(id, "what is color?");
    expect(turn.text).toMatch(/color is blue$/);
    expect(holdfastEvents(turn.updates).map((ours) => ours["event"])).toContain("backing_off");
    expect(await bridge.chain(id)).toHaveLength(1);
    expect((await bridge.context(id)).at(-1)).toBe("assistant: color is blue");
  },
);

test("a prompt that is too long goes to a new session with less before it, once", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  agent.control({ failNext: { kind: "too-long", times: 1 } });
  expect((await host.prompt(id, "what is color?")).text).toMatch(/color is blue$/);
  expect(agent.prompts().at(-1)).toContain(PREAMBLE);
  expect(await bridge.chain(id)).toHaveLength(2);
  expect((await host.prompt(id, "fail too-long")).error).not.toBeNull();
  expect(agent.sent("fail too-long")).toBe(2);
});

test("no credit parks as a limit does", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  const broke = await host.prompt(id, "fail credit");
  expect(failureOf(broke.error)).toMatchObject({ class: "credit", kept: true });
  expect(agent.sent("fail credit")).toBe(1);
});

test("an old answer that comes again at once is neither shown nor kept", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  // On the session that is used again it is stale; on the new one there is nothing to repeat.
  const turn = await host.prompt(id, "stale");
  expect(turn.text).toBe("A fresh answer.");
  expect((await bridge.context(id)).filter((words) => words.includes("Noted color=blue."))).toHaveLength(1);
  expect(agent.sent("stale")).toBe(2);
});
