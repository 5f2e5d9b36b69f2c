/** The agents alone, without the bridge: what it relies on, seen on the wire of the pinned versions. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { spoken, toolStates } from "./acp-host.ts";
import { agentRig } from "./agent-rig.ts";
import type { AgentName } from "./install.ts";
import { at, textAt } from "./json.ts";
import { until } from "./until.ts";

/** Where the agents differ. */
interface Ways {
  readonly resume: boolean;
  /** The agent asks before it runs a command that writes. */
  readonly asks: boolean;
  /** Undefined: it tries again without end and without a word, and only a cancel ends the turn. */
  readonly limit?: { readonly code?: number; readonly stopReason?: string; readonly said: RegExp };
  /** What a cancel is answered while the agent waits to try again. */
  readonly cancelled?: string;
}

const WAYS: Readonly<Record<AgentName, Ways>> = {
  claude: { resume: true, asks: true, limit: { code: -32603, said: /429/ } },
  codex: { resume: true, asks: false, limit: { stopReason: "end_turn", said: /429/ } },
  opencode: { resume: true, asks: true, cancelled: "end_turn" },
  gemini: { resume: false, asks: true },
};

const agents = Object.entries(WAYS) as readonly (readonly [AgentName, Ways])[];

const kinds = (updates: readonly unknown[]): readonly string[] =>
  updates.map((update) => textAt(update, "sessionUpdate"));

describe.each(agents)("%s alone", (agent, ways) => {
  test("remembers over a tool, and in a new process", async () => {
    await using rig = await agentRig(agent);
    const first = await rig.open();
    expect((await first.prompt("remember color=blue")).said).toContain("Noted color=blue.");
    const turn = await first.prompt("run: echo once >> out.txt; echo there");
    expect(turn.said).toContain("Done: there");
    expect([...toolStates(turn.updates).values()]).toContain("completed");
    expect(first.host.lines.some(({ raw }) => raw.includes("session/request_permission"))).toBe(ways.asks);
    expect((await first.prompt("what is color?")).said).toContain("color is blue");
    // The end of input is enough for most; gemini stays, and what is written by then has to do.
    await first.host[Symbol.asyncDispose]();

    const loaded = await rig.reopen(first.sessionId, "session/load");
    const asked = await loaded.prompt("what is color?");
    expect(asked.said).toContain("color is blue");
    expect(kinds(loaded.host.updates())).toContain("user_message_chunk");
    await loaded.host[Symbol.asyncDispose]();

    if (ways.resume) {
      const resumed = await rig.reopen(first.sessionId, "session/resume");
      expect(kinds(resumed.host.updates())).not.toContain("user_message_chunk");
      expect((await resumed.prompt("what is color?")).said).toContain("color is blue");
    }
    expect(readFileSync(join(rig.home.project, "out.txt"), "utf8")).toBe("once\n");
  });

  test.skipIf(ways.limit === undefined)("shows a limit, and goes on when it is over", async () => {
    await using rig = await agentRig(agent);
    const talk = await rig.open();
    await talk.prompt("remember color=blue");
    rig.model.stick("rate_limit");
    const turn = await talk.prompt("what is color?");
    expect(turn.error?.code).toBe(ways.limit?.code);
    expect(turn.stopReason).toBe(ways.limit?.stopReason ?? "");
    expect(turn.said).toMatch(ways.limit?.said ?? /^/);
    rig.model.stick(undefined);
    expect((await talk.prompt("what is color?")).said).toContain("color is blue");
  });

  test.skipIf(ways.limit !== undefined)("says nothing of a limit, and goes on after a cancel", async () => {
    await using rig = await agentRig(agent);
    const talk = await rig.open();
    await talk.prompt("remember color=blue");
    const before = rig.model.requests().length;
    rig.model.stick("rate_limit");
    const since = talk.host.lines.length;
    const prompt = talk.begin("tell me");
    await until("a second attempt", () => (rig.model.requests().length > before + 1 ? true : undefined));
    expect(spoken(talk.host.updates(since))).toBe("");
    talk.host.notify("session/cancel", { sessionId: talk.sessionId });
    expect(at((await talk.host.answered(prompt)).result, "stopReason")).toBe(ways.cancelled ?? "cancelled");
    rig.model.stick(undefined);
    expect((await talk.prompt("what is color?")).said).toContain("color is blue");
  });

  test("ends an empty reply without a word of an answer", async () => {
    await using rig = await agentRig(agent);
    const talk = await rig.open();
    await talk.prompt("remember color=blue");
    rig.model.stick("empty");
    const turn = await talk.prompt("what is color?");
    expect(turn.said).not.toContain("blue");
    expect(turn.stopReason).toBe("end_turn");
  });

  test("keeps what it had answered when all of it is killed in the middle of a reply", async () => {
    await using rig = await agentRig(agent);
    const talk = await rig.open();
    await talk.prompt("remember color=blue");
    rig.model.next("hang");
    const since = talk.host.lines.length;
    talk.begin("tell me something long, and take your time");
    await talk.host.until(({ raw }) => raw.includes("agent_message_chunk") && raw.includes("said"), {
      since,
    });
    await talk.host[Symbol.asyncDispose]();
    const again = await rig.reopen(talk.sessionId, "session/load");
    expect((await again.prompt("what is color?")).said).toContain("color is blue");
  });

  test("passes its environment down to the commands it runs", async () => {
    await using rig = await agentRig(agent);
    const talk = await rig.open();
    const prompt = talk.begin("run: echo $AGENT_TEST_TOKEN > token.txt; echo there");
    await talk.host.answered(prompt);
    expect(readFileSync(join(rig.home.project, "token.txt"), "utf8")).toMatch(/^holdfast-test-/);
  });
});
