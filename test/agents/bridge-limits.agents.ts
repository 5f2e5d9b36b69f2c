/** Limits, refusals and empty replies of the real agents, as a host behind the bridge sees them. */
import { describe, expect, test } from "vitest";
import { agentProcess, AGENTS, bridgeRig, eventsIn } from "./bridge-rig.ts";
import { recalls } from "./bridge-story.ts";
import { at, textAt } from "./json.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A turn that is cancelled comes back within this, whatever the agent does. */
const CANCEL_MS = 15_000;

describe.each(["claude", "codex"] as const)("%s at its limit", (agent) => {
  test("2, 4: fails the turn, keeps the prompt, and stores no error as an answer", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    rig.model.stick("rate_limit");
    const { error, stopReason, updates } = await host.prompt("remember shape=round");
    expect(stopReason).toBe("");
    expect(at(error?.data, "holdfast")).toMatchObject({ class: "limit", kept: true, agent });
    expect(eventsIn(updates)).toContain("parked");
    const context = await rig.context(host.sessionId);
    expect(context).not.toMatch(/429|rate limit|retry limit/i);
    expect(context).toContain("remember shape=round");
    rig.model.stick(undefined);
    await recalls(host, rig.model, "after");
    expect((await host.prompt("what is shape?")).said).toContain("shape is round");
    expect(await rig.chain(host.sessionId)).toHaveLength(1);
    expect(await rig.leaks()).toEqual([]);
  });
});

const SUBSCRIPTION = { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-dummy" };

describe.each([
  ["claude", "after an answer", SUBSCRIPTION],
  ["claude", "as its first words", SUBSCRIPTION],
  ["codex", "after an answer", {}],
] as const)("%s limited %s until a time it names", (agent, when, env) => {
  test("5: is parked until then, and not asked again", async () => {
    await using rig = await bridgeRig({ agents: [agent], env });
    const host = await rig.open();
    if (when === "after an answer") await host.prompt("remember color=blue");
    rig.model.stick("usage_limit_reached");
    const { error, updates } = await host.prompt("remember shape=round");
    const word = at(error?.data, "holdfast");
    expect(word).toMatchObject({ class: "limit", kept: true, agent });
    const resetAtMs = Date.parse(textAt(word, "resetAt"));
    expect(Math.abs(resetAtMs - Date.now() - HOUR_MS)).toBeLessThan(2 * MINUTE_MS);
    expect(eventsIn(updates)).toContain("parked");

    rig.model.stick(undefined);
    const [asked, process] = [rig.model.requests().length, agentProcess(host)];
    const again = await host.prompt("remember size=big");
    expect(at(again.error?.data, "holdfast")).toMatchObject({ class: "limit", kept: true });
    expect(rig.model.requests()).toHaveLength(asked);
    expect(agentProcess(host)).toBe(process);
    expect(await rig.chain(host.sessionId)).toHaveLength(1);
    const context = await rig.context(host.sessionId);
    // What was turned away lies beside the branch.
    expect(context).not.toContain("remember size=big");
    expect(context).not.toMatch(/hit your/i);
    expect(await rig.leaks()).toEqual([]);
  });
});

describe.each(["claude", "opencode", "gemini"] as const)(
  "%s that waits for a limit without a word",
  (agent) => {
    test("3: is told to be silent, and a cancel comes back", async () => {
      const env = { CLAUDE_CODE_MAX_RETRIES: undefined };
      await using rig = await bridgeRig({ agents: [agent], args: ["--silence", "2"], env });
      const host = await rig.open();
      await host.prompt("remember color=blue");
      rig.model.stick("rate_limit");
      const since = host.host.lines.length;
      const prompt = host.begin("tell me");
      const silent = await host.host.until(({ raw }) => raw.includes(`"event":"silent"`), { since });
      expect(textAt(silent.message, "params", "sessionId")).toBe(host.sessionId);
      host.host.notify("session/cancel", { sessionId: host.sessionId });
      const { result } = await host.host.answered(prompt, CANCEL_MS);
      expect(textAt(result, "stopReason")).toBe("cancelled");
      rig.model.stick(undefined);
      await recalls(host, rig.model, "after");
      expect(await rig.leaks()).toEqual([]);
    });
  },
);

describe.each(AGENTS)("%s without a valid key", (agent) => {
  test("6: is an authentication error, once, and the chain is kept", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    const before = rig.model.requests().length;
    rig.model.stick("unauthorized");
    const { error } = await host.prompt("remember shape=round");
    expect(error?.code).toBe(-32000);
    expect(at(error?.data, "holdfast")).toMatchObject({ class: "auth", kept: true });
    expect(rig.model.requests().length - before).toBeLessThanOrEqual(3);
    expect(await rig.context(host.sessionId)).not.toMatch(/api.key/i);
    rig.model.stick(undefined);
    await recalls(host, rig.model, "after");
    expect(await rig.chain(host.sessionId)).toHaveLength(1);
    expect(await rig.leaks()).toEqual([]);
  });
});

describe.each(AGENTS)("%s that answers nothing", (agent) => {
  test("7: is asked once more, then called empty, and the conversation goes on", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    rig.model.stick("empty");
    const { result, updates } = await host.prompt("remember shape=round");
    expect(at(result, "_meta", "holdfast")).toMatchObject({ class: "empty" });
    expect(eventsIn(updates).filter((event) => event === "lost")).toHaveLength(1);
    rig.model.stick(undefined);
    await recalls(host, rig.model, "after");
    const context = await rig.context(host.sessionId);
    expect(context.split("remember shape=round")).toHaveLength(2);
    expect(await rig.leaks()).toEqual([]);
  });
});

describe.each(["codex", "opencode"] as const)("from claude to %s", (other) => {
  test("25: limited, the conversation goes on with the other, which knows all", async () => {
    await using rig = await bridgeRig({ agents: ["claude", other], args: ["--on-limit", "switch"] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    await host.prompt("run: echo once >> out.txt; echo there");
    rig.models.claude.stick("usage_limit_reached");
    const events = eventsIn(await recalls(host, rig.models[other], "switched"));
    expect(events).toContain("switched");
    expect((await rig.chain(host.sessionId)).map((link) => link.agent)).toEqual(["claude", other]);
    const told = rig.models[other].requests().at(-1)?.said.join("\n") ?? "";
    expect(told).toContain("out.txt");
    await recalls(host, rig.models[other], "again");
    expect(await rig.context(host.sessionId)).not.toMatch(/API Error|hit your|\b429\b/);
    expect(rig.linesOf("out.txt")).toEqual(["once"]);
    expect(await rig.leaks()).toEqual([]);
  });
});
