/** The agents alone, without the bridge: what it relies on, seen on the wire of the pinned versions. */
import { existsSync, readFileSync } from "node:fs";
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
}

const WAYS: Readonly<Record<AgentName, Ways>> = {
  claude: { resume: true, asks: true, limit: { code: -32603, said: /429/ } },
  codex: { resume: true, asks: false, limit: { stopReason: "end_turn", said: /429/ } },
  opencode: { resume: true, asks: true },
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
    expect(at((await talk.host.answered(prompt)).result, "stopReason")).toBe("cancelled");
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

describe("claude alone", () => {
  test("starts a cut reply over under a new message id, and says so nowhere", async () => {
    await using rig = await agentRig("claude");
    const talk = await rig.open();
    rig.model.say(() => ({ text: "one two three four" }));
    rig.model.next("cut");
    const { updates } = await talk.prompt("count");
    const chunks = updates.filter((update) => textAt(update, "sessionUpdate") === "agent_message_chunk");
    const ids = [...new Set(chunks.map((chunk) => textAt(chunk, "messageId")))];
    expect(ids).toHaveLength(2);
    expect(spoken(chunks.filter((chunk) => at(chunk, "messageId") === ids[0]))).toBe("one two ");
    expect(spoken(chunks.filter((chunk) => at(chunk, "messageId") === ids[1]))).toBe("one two three four");
    // A message that was finished is followed by its usage; a superseded one is followed by the next message.
    const [last, first] = [updates.lastIndexOf(chunks[1]), updates.indexOf(chunks[2])];
    expect(kinds(updates.slice(last + 1, first))).not.toContain("usage_update");
  });

  test("sends only the rest of a reply that it fetched again in one piece, under a new message id", async () => {
    await using rig = await agentRig("claude");
    const talk = await rig.open();
    rig.model.say(() => ({ text: "one two three four" }));
    rig.model.next("stream_error");
    const { said, updates } = await talk.prompt("count");
    expect(said).toBe("one two three four");
    const ids = new Set(updates.map((update) => textAt(update, "messageId")).filter(Boolean));
    expect(ids.size).toBe(2);
  });

  test("tells of the call, asks, and runs nothing before the answer", async () => {
    await using rig = await agentRig("claude");
    const talk = await rig.open("hold");
    const prompt = talk.begin("run: echo once >> out.txt; echo there");
    const request = await talk.host.until(({ raw }) => raw.includes("session/request_permission"));
    const id = textAt(request.message, "params", "toolCall", "toolCallId");
    expect(toolStates(talk.host.updates()).get(id)).toBe("pending");
    expect(existsSync(join(rig.home.project, "out.txt"))).toBe(false);
    talk.host.reply(request, { outcome: { outcome: "selected", optionId: "allow-once" } });
    await talk.host.answered(prompt);
    expect(toolStates(talk.host.updates()).get(id)).toBe("completed");
  });

  test("runs commands in a session of their own, which the group does not reach but the token does", async () => {
    await using rig = await agentRig("claude");
    const talk = await rig.open();
    // The command waits on a pipe nobody writes to: it is running for as long as we look.
    talk.begin("run: mkfifo gate; echo started > started; read line < gate");
    const shell = await until("the shell", () =>
      talk.host.running().find(({ command }) => command.includes("mkfifo")),
    );
    expect(shell.group).not.toBe(talk.host.pid);
    expect(shell.session).not.toBe(talk.host.pid);
  });
});
