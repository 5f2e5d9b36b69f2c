/** The agent loop in an editor: what is said, done, asked and chosen, over the protocol's own client. */
import type { Tool } from "#turn/effects/tool";
import { methods } from "@agentclientprotocol/sdk";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TOO_LITTLE_TO_SUMMARIZE } from "#operations/text";
import { codingTools, DEFAULT_POLICY } from "#agent/index";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryStore } from "#stores/in-memory/index";
import { tempDir } from "../../support/temp-dir.ts";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { textOf as blockText } from "../../support/block-text.ts";
import { fieldsOf, textOf } from "../../support/scripted-agent/wire.ts";
import { choose, openLoop } from "./loop-editor.ts";

const { agent: ask } = methods;
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function inMemory(): Holdfast {
  return new Holdfast(inMemoryStore(), "default");
}

const write: Tool = { name: "write", run: async () => "written" };

test("an answer streams with its thinking, its usage is told, and the conversation has a title and a place in the list", async () => {
  const holdfast = inMemory();
  const model = new ScriptedModel([{ thinking: "hm", text: "Hello there, person" }]);
  await using editor = await openLoop(holdfast, { model });
  const cwd = import.meta.dirname;
  const id = await editor.begin(cwd);
  expect(await editor.prompt(id, "hello")).toMatchObject({
    stopReason: "end_turn",
    usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110 },
  });
  expect(editor.words()).toBe("Hello there, person");
  expect(editor.of("agent_message_chunk").length).toBeGreaterThan(1);
  expect(editor.words("agent_thought_chunk")).toBe("hm");
  const commands = editor.of("available_commands_update")[0]?.["availableCommands"];
  expect(commands).toMatchObject([
    { name: "compact" },
    { name: "model" },
    { name: "skill" },
    { name: "continue" },
  ]);
  const { sessions } = await editor.agent.request(ask.session.list, { cwd });
  expect(sessions).toMatchObject([{ sessionId: id, title: "hello", cwd }]);
  expect(editor.wrong).toEqual([]);
});

test("a call waits for the editor's answer: allowed it runs and is shown as what it does", async () => {
  using dir = tempDir();
  const model = new ScriptedModel([
    { calls: [{ id: "w", name: "write", input: { path: "a.txt", content: "one" } }] },
    { text: "written" },
  ]);
  await using editor = await openLoop(inMemory(), {
    model,
    tools: (cwd) => codingTools({ cwd: cwd ?? "/" }),
    permission: DEFAULT_POLICY,
  });
  const id = await editor.begin(dir.path);
  expect((await editor.prompt(id, "write it")).stopReason).toBe("end_turn");
  const path = join(dir.path, "a.txt");
  expect(readFileSync(path, "utf8")).toBe("one");
  const shown = {
    title: "write a.txt",
    kind: "edit",
    locations: [{ path }],
    content: [{ type: "diff", path, newText: "one" }],
  };
  expect(editor.permissions).toMatchObject([{ sessionId: id, toolCall: { toolCallId: "w", ...shown } }]);
  expect(editor.of("tool_call")).toMatchObject([{ toolCallId: "w", status: "pending", ...shown }]);
  expect(editor.of("tool_call_update").map(({ status }) => status)).toEqual(["in_progress", "completed"]);
  expect(editor.wrong).toEqual([]);
});

test("denied it does not run, the model is told, and reading inside the folder asks nobody", async () => {
  using dir = tempDir();
  writeFileSync(join(dir.path, "b.txt"), "in b");
  const model = new ScriptedModel([
    {
      calls: [
        { id: "w", name: "shell", input: { command: "touch a.txt" } },
        { id: "r", name: "read", input: { path: "b.txt" } },
      ],
    },
    { text: "so be it" },
  ]);
  await using editor = await openLoop(inMemory(), {
    model,
    tools: (cwd) => codingTools({ cwd: cwd ?? "/" }),
    permission: DEFAULT_POLICY,
  });
  editor.onPermission = choose("reject_once");
  const id = await editor.begin(dir.path);
  expect((await editor.prompt(id, "try it")).stopReason).toBe("end_turn");
  expect(existsSync(join(dir.path, "a.txt"))).toBe(false);
  expect(editor.permissions.map(({ toolCall }) => toolCall.toolCallId)).toEqual(["w"]);
  const told = JSON.stringify(model.asked[1]?.prompt);
  expect(told).toContain("in b");
  expect(told).toContain("error-text");
  const failed = editor.of("tool_call_update").filter(({ status }) => status === "failed");
  expect(failed).toMatchObject([{ toolCallId: "w", kind: "execute", title: "shell touch a.txt" }]);
});

test("an editor that answers that it is cancelled ends the turn; nothing ran, and nothing waits", async () => {
  const holdfast = inMemory();
  const model = new ScriptedModel([{ calls: [{ id: "w", name: "write", input: {} }] }]);
  await using editor = await openLoop(holdfast, { model, tools: [write] });
  editor.onPermission = () => ({ outcome: "cancelled" });
  const id = await editor.begin(import.meta.dirname);
  expect((await editor.prompt(id, "go")).stopReason).toBe("cancelled");
  expect(await (await holdfast.conversation(id)).openTurn()).toBeNull();
});

test("a cancel in the middle of an answer keeps what came, and the question of a cancelled turn is withdrawn", async () => {
  const never = new Promise<never>(() => undefined);
  const model = new ScriptedModel([
    { text: "Half of it", until: never },
    { calls: [{ id: "w", name: "write", input: {} }] },
  ]);
  await using editor = await openLoop(inMemory(), { model, tools: [write] });
  const id = await editor.begin(import.meta.dirname);
  const running = editor.prompt(id, "tell");
  await editor.until(() => editor.words() === "Half of it");
  await editor.cancel(id);
  expect((await running).stopReason).toBe("cancelled");
  editor.onPermission = () => never;
  const asking = editor.prompt(id, "do");
  await editor.until(() => editor.permissions.length === 1);
  await editor.cancel(id);
  expect((await asking).stopReason).toBe("cancelled");
  editor.updates.length = 0;
  await editor.load(id, import.meta.dirname);
  expect(editor.words()).toContain("Half of it");
});

test("an answer that comes from another process is taken, and the editor's dialog is closed", async () => {
  const holdfast = inMemory();
  const never = new Promise<never>(() => undefined);
  const model = new ScriptedModel([{ calls: [{ id: "w", name: "write", input: {} }] }, { text: "so" }]);
  await using editor = await openLoop(holdfast, { model, tools: [write] });
  editor.onPermission = () => never;
  const id = await editor.begin(import.meta.dirname);
  const running = editor.prompt(id, "do");
  await editor.until(() => editor.permissions.length === 1);
  const told = fieldsOf(fieldsOf(editor.permissions[0]?._meta)["holdfast"]);
  await (await holdfast.conversation(id)).answer(textOf(told["request"]), "allowed", { by: "Ada" });
  expect((await running).stopReason).toBe("end_turn");
  expect(editor.words()).toBe("so");
  expect(editor.methods).toContain("$/cancel_request");
});

test("stop reasons: the output's end, a refusal, the maximum of steps with how to go on", async () => {
  const call = { calls: [{ id: "r", name: "look", input: {} }] };
  const model = new ScriptedModel([
    { text: "cut", finish: "length" },
    { text: "no", finish: "content-filter" },
    call,
    call,
    { text: "at last" },
  ]);
  const look: Tool = { name: "look", effect: "none", run: async () => "seen" };
  await using editor = await openLoop(inMemory(), { model, tools: [look], maxSteps: 2 });
  const id = await editor.begin(import.meta.dirname);
  expect((await editor.prompt(id, "one")).stopReason).toBe("max_tokens");
  expect((await editor.prompt(id, "two")).stopReason).toBe("refusal");
  editor.updates.length = 0;
  expect((await editor.prompt(id, "three")).stopReason).toBe("max_turn_requests");
  expect(editor.words()).toContain("/continue");
  expect((await editor.prompt(id, "/continue")).stopReason).toBe("end_turn");
  expect(editor.words()).toContain("at last");
  expect(editor.wrong).toEqual([]);
});

test("what a provider refuses is an error in the bridge's words, and the prompt is kept", async () => {
  const model = new ScriptedModel([{ error: new Error("boom") }]);
  const holdfast = inMemory();
  await using editor = await openLoop(holdfast, { model });
  const id = await editor.begin(import.meta.dirname);
  const refused = await editor.prompt(id, "go").catch((error: unknown) => error);
  expect(refused).toMatchObject({ data: { holdfast: { class: expect.any(String), kept: true } } });
  expect((await (await holdfast.conversation(id)).context()).messages).toHaveLength(1);
});

test("the model is chosen by option or command, written into the log, and an unknown one is refused", async () => {
  const holdfast = inMemory();
  await using editor = await openLoop(holdfast, { model: "sim" });
  const id = await editor.begin(import.meta.dirname);
  const set = (value: string): Promise<unknown> =>
    editor.agent.request(ask.session.setConfigOption, { sessionId: id, configId: "model", value });
  expect(await set("sim/two")).toMatchObject({ configOptions: [{ id: "model", currentValue: "sim/two" }] });
  const conversation = await holdfast.conversation(id);
  expect((await conversation.settings()).model).toBe("sim/two");
  await expect(set("nobody/x")).rejects.toMatchObject({ code: -32_602 });
  expect((await conversation.settings()).model).toBe("sim/two");
  await editor.prompt(id, "/model sim/three");
  expect((await conversation.settings()).model).toBe("sim/three");
  expect(editor.of("config_option_update").at(-1)).toMatchObject({
    configOptions: [{ currentValue: "sim/three" }],
  });
  await editor.prompt(id, "hello");
  const [attempt] = await conversation.facts(["attempt"]);
  expect(attempt).toMatchObject({ model: "sim/three" });
  expect(await conversation.context()).toMatchObject({ model: "sim/three" });
  expect(editor.wrong).toEqual([]);
});

test("an image reaches the model, and is shown again at load", async () => {
  const model = new ScriptedModel([{ text: "a dot" }]);
  await using editor = await openLoop(inMemory(), { model });
  const id = await editor.begin(import.meta.dirname);
  await editor.prompt(id, [
    { type: "text", text: "what is it?" },
    { type: "image", data: PIXEL, mimeType: "image/png" },
  ]);
  expect(JSON.stringify(model.asked[0]?.prompt)).toContain("image/png");
  editor.updates.length = 0;
  await editor.load(id, import.meta.dirname);
  expect(editor.of("user_message_chunk").map(({ content }) => content)).toEqual([
    { type: "text", text: "what is it?" },
    { type: "image", data: PIXEL, mimeType: "image/png" },
  ]);
  expect(editor.wrong).toEqual([]);
});

test("a message is edited, and a fork goes its own way", async () => {
  const holdfast = inMemory();
  const model = new ScriptedModel([{ text: "one" }, { text: "two" }, { text: "two b" }, { text: "three" }]);
  await using editor = await openLoop(holdfast, { model });
  const id = await editor.begin(import.meta.dirname);
  await editor.prompt(id, "first");
  await editor.prompt(id, "second");
  await editor.prompt(id, "second, differently", { edit: 1 });
  const said = async (of: string): Promise<readonly string[]> =>
    (await (await holdfast.conversation(of)).context()).messages.map(({ content }) => blockText(content));
  expect(await said(id)).toEqual(["first", "one", "second, differently", "two b"]);
  const params = { sessionId: id, cwd: import.meta.dirname, mcpServers: [] };
  const { sessionId: fork } = await editor.agent.request<{ sessionId: string }>("session/fork", params);
  await editor.prompt(fork, "third");
  expect(await said(fork)).toEqual(["first", "one", "second, differently", "two b", "third", "three"]);
  expect(await said(id)).toHaveLength(4);
  expect(editor.wrong).toEqual([]);
});

test("/compact makes the context shorter where there is enough, and says so where there is not", async () => {
  const holdfast = inMemory();
  const long = "word ".repeat(4_000);
  const summary = { text: "## Goal\nIn short: words." };
  const model = new ScriptedModel([{ text: "1" }, { text: "2" }, summary, summary]);
  await using editor = await openLoop(holdfast, { model, compaction: { keepTokens: 100 } });
  const id = await editor.begin(import.meta.dirname);
  expect((await editor.prompt(id, "/compact")).stopReason).toBe("end_turn");
  expect(editor.words()).toContain(TOO_LITTLE_TO_SUMMARIZE);
  await editor.prompt(id, `one ${long}`);
  await editor.prompt(id, `two ${long}`);
  expect((await editor.prompt(id, "/compact the words")).stopReason).toBe("end_turn");
  expect(JSON.stringify(model.asked[2]?.prompt)).toContain("the words");
  expect((await (await holdfast.conversation(id)).context()).compaction).not.toBeNull();
  const { sessions } = await editor.agent.request(ask.session.list, {});
  expect(sessions[0]?.title).toMatch(/^one /);
});
