/** What else an editor asks of the agent loop: another model, a conversation without its history, and an end to a summary. */
import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { AgentModel } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryStore } from "#stores/in-memory/index";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { fieldsOf } from "../../support/scripted-agent/wire.ts";
import { openLoop } from "./loop-editor.ts";

const { agent: ask } = methods;
const cwd = import.meta.dirname;
const never = new Promise<never>(() => undefined);

function inMemory(): Holdfast {
  return new Holdfast(inMemoryStore(), "default");
}

test("session/set_model chooses a model for the conversation, and refuses one that cannot be asked", async () => {
  const holdfast = inMemory();
  await using editor = await openLoop(holdfast, { model: "sim" });
  const sessionId = await editor.begin(cwd);
  const set = (modelId: string): Promise<unknown> =>
    editor.agent.request("session/set_model", { sessionId, modelId });
  expect(await set("sim/two")).toEqual({});
  await expect(set("nobody/x")).rejects.toMatchObject({ code: -32_602 });
  await editor.prompt(sessionId, "hello");
  const conversation = await holdfast.conversation(sessionId);
  expect(await conversation.facts(["attempt"])).toMatchObject([{ model: "sim/two" }]);
  expect(await conversation.facts(["model_change"])).toHaveLength(1);
});

test.each([[[]], [[{ type: "text" as const, text: " " }]]])(
  "the empty prompt %j is refused, and nothing is written",
  async (empty) => {
    const holdfast = inMemory();
    await using editor = await openLoop(holdfast, { model: "sim" });
    const sessionId = await editor.begin(cwd);
    await editor.prompt(sessionId, "hello");
    const { headSeq } = await (await holdfast.conversation(sessionId)).head();
    await expect(editor.prompt(sessionId, empty)).rejects.toMatchObject({ code: -32_602 });
    expect((await (await holdfast.conversation(sessionId)).head()).headSeq).toBe(headSeq);
  },
);

test("session/resume gives the state without the history, and goes on", async () => {
  const holdfast = inMemory();
  const model = new ScriptedModel([
    { text: "one" },
    { calls: [{ id: "w", name: "write", input: {} }] },
    { text: "two" },
  ]);
  const options = { model, tools: [{ name: "write", run: async () => "written" }] };
  let sessionId = "";
  {
    await using before = await openLoop(holdfast, options);
    sessionId = await before.begin(cwd);
    await before.prompt(sessionId, "first");
    before.onPermission = () => never;
    void before.prompt(sessionId, "second").catch(() => undefined);
    await before.until(() => before.permissions.length > 0);
  }
  await using editor = await openLoop(holdfast, options);
  const resumed = fieldsOf(
    await editor.agent.request(ask.session.resume, { sessionId, cwd, mcpServers: [] }),
  );
  const { restored } = fieldsOf(fieldsOf(resumed["_meta"])["holdfast"]);
  expect(fieldsOf(restored)).toMatchObject({ model: "scripted/one", openTurn: null, waiting: [] });
  expect(resumed["configOptions"]).toMatchObject([{ id: "model", currentValue: "scripted/one" }]);
  expect(editor.of("user_message_chunk")).toEqual([]);
  expect((await editor.prompt(sessionId, "third")).stopReason).toBe("end_turn");
  expect(editor.words()).toBe("two");
  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain("second");
  expect(editor.wrong).toEqual([]);
});

test("session/resume of a conversation that is not there is refused, and none is made", async () => {
  const holdfast = inMemory();
  await using editor = await openLoop(holdfast, { model: "sim" });
  const params = { sessionId: "gone", cwd, mcpServers: [] };
  await expect(editor.agent.request(ask.session.resume, params)).rejects.toMatchObject({ code: -32_002 });
  expect(await Array.fromAsync(holdfast.listAll())).toEqual([]);
});

test("a model without its key is told when the editor comes, and nothing is begun", async () => {
  const holdfast = inMemory();
  const withoutKeys = (given: unknown): Promise<AgentModel> => openModel(given as string, { env: {} });
  const opening = openLoop(holdfast, { model: "anthropic/claude-sonnet-5-5", openModel: withoutKeys });
  await expect(opening).rejects.toMatchObject({
    message: expect.stringContaining("ANTHROPIC_API_KEY") as string,
  });
  expect(await Array.fromAsync(holdfast.listAll())).toEqual([]);
});

test("a cancel ends a summary that is being written: nothing is changed, and the next prompt is answered", async () => {
  const holdfast = inMemory();
  const asked = Promise.withResolvers<void>();
  const long = "word ".repeat(4_000);
  const model = new ScriptedModel([
    { text: "1" },
    { text: "2" },
    () => {
      asked.resolve();
      return { text: "## Goal", until: never };
    },
    { text: "3" },
  ]);
  await using editor = await openLoop(holdfast, { model, compaction: { keepTokens: 100 } });
  const id = await editor.begin(cwd);
  await editor.prompt(id, `one ${long}`);
  await editor.prompt(id, `two ${long}`);
  const compacting = editor.prompt(id, "/compact");
  await asked.promise;
  await editor.cancel(id);
  expect((await compacting).stopReason).toBe("cancelled");
  const conversation = await holdfast.conversation(id);
  const { compaction, messages } = await conversation.context();
  expect([compaction, messages.length]).toEqual([null, 4]);
  expect(await conversation.openTurn()).toBeNull();
  expect((await editor.prompt(id, "go on")).stopReason).toBe("end_turn");
  expect(editor.words()).toContain("3");
  expect(editor.wrong).toEqual([]);
});
