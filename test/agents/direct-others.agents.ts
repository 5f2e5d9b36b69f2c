/** Codex, opencode and Gemini alone, closer: where they do not do what Claude does. */
import { expect, test } from "vitest";
import { spoken, toolStates } from "./acp-host.ts";
import { agentRig } from "./agent-rig.ts";
import { at, textAt } from "./json.ts";

const kindOf = (update: unknown): string => textAt(update, "sessionUpdate");

const messageIds = (updates: readonly unknown[]): readonly string[] => [
  ...new Set(updates.map((update) => textAt(update, "messageId")).filter(Boolean)),
];

test("codex says that it will start a cut reply over, and does so under a new message id", async () => {
  await using rig = await agentRig("codex");
  const talk = await rig.open();
  rig.model.say(() => ({ text: "one two three four" }));
  rig.model.next("cut");
  const { updates } = await talk.prompt("count");
  const warned = updates.findIndex((update) => at(update, "_meta", "codex", "error", "willRetry") === true);
  expect(messageIds(updates)).toHaveLength(2);
  expect(spoken(updates.slice(0, warned))).toMatch(/one two $/);
  expect(spoken(updates.slice(warned))).toBe("one two three four");
});

test("codex ends a failed turn well, and only the state of its thread and the missing usage tell", async () => {
  await using rig = await agentRig("codex");
  const talk = await rig.open();
  rig.model.stick("rate_limit");
  const since = talk.host.lines.length;
  const { result } = await talk.host.answered(talk.begin("hello"));
  expect(result).toMatchObject({ stopReason: "end_turn", usage: null });
  const states = talk.host
    .updates(since)
    .map((update) => at(update, "_meta", "codex", "threadStatus", "type"));
  expect(states.filter(Boolean)).toEqual(["active", "systemError"]);
});

test("codex shows what a command printed only beside the content", async () => {
  await using rig = await agentRig("codex");
  const talk = await rig.open();
  const { updates } = await talk.prompt("run: echo there; exit 3");
  const done = updates.find((update) => textAt(update, "status") === "failed");
  // A command that prints early has its output in an update before the last one.
  const printed = updates.map((update) => textAt(at(update, "_meta", "terminal_output_delta"), "data"));
  expect(printed.join("")).toBe("there\n");
  expect(done).toMatchObject({ _meta: { terminal_exit: { exit_code: 3 } } });
  for (const update of updates.filter((one) => textAt(one, "sessionUpdate") === "tool_call_update"))
    expect(at(update, "content") ?? at(update, "rawOutput")).toBeUndefined();
});

test("codex names its session inside the call that reviews another", async () => {
  await using rig = await agentRig("codex");
  const talk = await rig.open();
  const { updates } = await talk.prompt("run asking: echo there");
  const review = updates.find((update) => textAt(update, "toolCallId").startsWith("guardian_assessment:"));
  expect(at(review, "rawInput", "threadId")).toBe(talk.sessionId);
});

test("opencode starts a cut reply over under the same message id", async () => {
  await using rig = await agentRig("opencode");
  const talk = await rig.open();
  rig.model.say(() => ({ text: "one two three four" }));
  rig.model.next("cut");
  const { said, updates } = await talk.prompt("count");
  // What it has not passed on when the connection breaks is said once.
  expect(said).toMatch(/^(?:one two )?one two three four$/);
  expect(messageIds(updates)).toHaveLength(1);
});

test("opencode is in progress while it asks, and completes what failed", async () => {
  await using rig = await agentRig("opencode");
  const talk = await rig.open("hold");
  const prompt = talk.begin("run: echo there; exit 3");
  const request = await talk.host.until(({ raw }) => raw.includes("session/request_permission"));
  expect([...toolStates(talk.host.updates()).values()]).toEqual(["in_progress"]);
  talk.host.reply(request, { outcome: { outcome: "selected", optionId: "once" } });
  await talk.host.answered(prompt);
  const done = talk.host.updates().find((update) => textAt(update, "status") === "completed");
  expect(at(done, "rawOutput", "metadata", "exit")).toBe(3);
});

test("gemini's first word of a call is its question, and its last says nothing of the output", async () => {
  await using rig = await agentRig("gemini");
  const talk = await rig.open();
  const { updates } = await talk.prompt("run: echo there >> out.txt");
  expect(updates.map(kindOf)).not.toContain("tool_call");
  expect(updates.find((update) => kindOf(update) === "tool_call_update")).toMatchObject({ content: [] });
});

test("gemini goes on replaying after it has answered the load", async () => {
  await using rig = await agentRig("gemini");
  const talk = await rig.open();
  await talk.prompt("remember color=blue");
  await talk.host[Symbol.asyncDispose]();
  rig.home.age();
  const host = await rig.start();
  const { sessionId } = talk;
  const answer = await host.ask("session/load", { sessionId, cwd: rig.home.project, mcpServers: [] });
  const since = answer.line + 1;
  await host.until(({ raw }) => raw.includes("Noted color=blue."), { since, what: "the replay" });
});

test("gemini loses a session that it loads in the minute it was last used", async () => {
  await using rig = await agentRig("gemini");
  // Where a minute ends in between, nothing is lost; the second try is in one minute then.
  const lost = async (): Promise<boolean> => {
    const talk = await rig.open();
    await talk.prompt("remember color=blue");
    await talk.host[Symbol.asyncDispose]();
    const host = await rig.start();
    const { sessionId } = talk;
    const answer = await host.ask("session/load", { sessionId, cwd: rig.home.project, mcpServers: [] });
    return answer.error !== undefined;
  };
  expect((await lost()) || (await lost())).toBe(true);
});
