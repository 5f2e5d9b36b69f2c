/** A history that a host brings, with the protocol's blocks or as a Chat Completions request has it. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { Json } from "#log/json/json-text";
import { inMemoryStore } from "#stores/in-memory/index";
import { inShort } from "../../agent/rig.ts";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { fieldsOf } from "../../support/scripted-agent/wire.ts";
import { openLoop } from "./loop-editor.ts";

async function loaded(history: Json): Promise<{
  readonly told: ReturnType<typeof fieldsOf>;
  readonly messages: readonly string[];
  readonly shown: readonly unknown[];
}> {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  await using editor = await openLoop(holdfast, { model: new ScriptedModel([]) });
  const told = await editor.load("brought", import.meta.dirname, { _meta: { holdfast: { history } } });
  const { messages } = await (await holdfast.conversation("brought")).context();
  return { told, messages: messages.map(inShort), shown: editor.of("tool_call") };
}

const call = (id: string): Json => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "look", arguments: '{"at":"it"}' } }],
});

test("calls and results of a Chat Completions list are calls and results, and its system text is left out and counted", async () => {
  const { told, messages, shown } = await loaded([
    { role: "system", content: "Be brief" },
    { role: "user", content: "look" },
    call("c1"),
    { role: "tool", tool_call_id: "c1", content: "seen" },
    { role: "assistant", content: "I saw it" },
  ]);
  expect(messages).toEqual([
    "user: look",
    'assistant: look({"at":"it"})',
    "toolResult: seen",
    "assistant: I saw it",
  ]);
  expect(shown).toMatchObject([{ toolCallId: "c1", rawInput: { at: "it" }, status: "completed" }]);
  expect(told["historyLeftOut"]).toBe(1);
  expect(fieldsOf(told["restored"])["issues"]).toEqual([]);
});

test("a call without a result is repaired for the model and reported", async () => {
  const { told, messages } = await loaded([{ role: "user", content: "look" }, call("c1")]);
  expect(messages).toHaveLength(3);
  expect(told["historyRepaired"]).toMatchObject([{ kind: "missing_result", call: "c1" }]);
  expect(fieldsOf(told["restored"])["issues"]).toEqual([]);
});

test("the protocol's own blocks are taken as they are", async () => {
  const { messages, told } = await loaded([
    { role: "user", content: [{ type: "text", text: "hello" }] },
    { role: "assistant", content: "hi" },
  ]);
  expect(messages).toEqual(["user: hello", "assistant: hi"]);
  expect(told["historyLeftOut"]).toBeUndefined();
});

test("a role that nobody knows is refused, and nothing is made", async () => {
  await expect(loaded([{ role: "narrator", content: "once" }])).rejects.toMatchObject({ code: -32_602 });
});
