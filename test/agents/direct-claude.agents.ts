/** Claude alone, closer: what the bridge makes of its chunks, its limits and its processes rests on this. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spoken, toolStates } from "./acp-host.ts";
import { agentRig, talk as talkOver } from "./agent-rig.ts";
import { at, textAt } from "./json.ts";
import { until } from "./until.ts";

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
  const [last, first] = [updates.lastIndexOf(chunks[1]), updates.indexOf(chunks[2])];
  expect(updates.slice(last + 1, first)).toEqual([]);
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

test("names the messages that count, and each retry, when it is asked for its raw messages", async () => {
  await using rig = await agentRig("claude");
  const host = await rig.start();
  const emitRawSDKMessages = [{ type: "assistant" }, { type: "system", subtype: "api_retry" }];
  const made = await host.ask("session/new", {
    cwd: rig.home.project,
    mcpServers: [],
    _meta: { claudeCode: { emitRawSDKMessages } },
  });
  rig.model.say(() => ({ text: "one two three four" }));
  rig.model.next("cut");
  const { updates } = await talkOver(host, textAt(made.result, "sessionId")).prompt("count");
  const raw = host.lines
    .filter(({ message }) => textAt(message, "method") === "_claude/sdkMessage")
    .map(({ message }) => at(message, "params", "message"));
  expect(raw.map((message) => textAt(message, "subtype") || textAt(message, "type"))).toEqual([
    "api_retry",
    "assistant",
  ]);
  const last = updates.findLast((update) => textAt(update, "messageId") !== "");
  expect(textAt(raw[1], "message", "id")).toBe(textAt(last, "messageId"));
});

test("tells when the limit of a subscription ends, but only after a first answer in this process", async () => {
  await using rig = await agentRig("claude", {
    ANTHROPIC_API_KEY: undefined,
    CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-dummy",
  });
  const talk = await rig.open();
  rig.model.next("limit_with_reset");
  expect(limitsIn((await talk.prompt("hello")).updates)).toEqual([]);
  await talk.prompt("remember color=blue");
  rig.model.next("limit_with_reset");
  const { error, updates } = await talk.prompt("hello");
  expect(at(error?.data, "errorKind")).toBe("rate_limit");
  const limit = { status: "rejected", resetsAt: expect.any(Number), rateLimitType: "five_hour" };
  expect(limitsIn(updates)).toEqual([expect.objectContaining(limit)]);
});

function limitsIn(updates: readonly unknown[]): readonly unknown[] {
  return updates.map((update) => at(update, "_meta", "_claude/rateLimit")).filter(Boolean);
}
