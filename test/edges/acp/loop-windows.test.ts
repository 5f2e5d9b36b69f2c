/** Two windows on one conversation that an agent loop carries. */
import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { Tool } from "#turn/effects/tool";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { openLoop } from "./loop-editor.ts";

const cwd = import.meta.dirname;
const read: Tool = { name: "read", effect: "none", run: async () => "contents" };

test("a turn of the one is shown by the other, prompt, tool and answer, once; and so is another model", async () => {
  const backing = inMemoryBacking();
  const space = (): Holdfast => new Holdfast(inMemoryStore({ backing }), "default");
  const model = new ScriptedModel([
    { text: "I read it", calls: [{ id: "r", name: "read", input: { path: "/a.txt" } }] },
    { text: "It says contents" },
  ]);
  await using first = await openLoop(space(), { model, tools: [read] });
  await using other = await openLoop(space(), { model: "sim" });
  const id = await first.begin(cwd);
  await other.load(id, cwd);
  other.updates.length = 0;
  await first.prompt(id, "read it");
  await other.until(() => other.words().endsWith("contents"));
  expect(other.words("user_message_chunk")).toBe("read it");
  expect(other.words()).toBe("I read itIt says contents");
  expect(other.of("tool_call")).toMatchObject([{ toolCallId: "r", title: "read /a.txt", kind: "read" }]);
  expect(other.of("tool_call_update")).toMatchObject([{ toolCallId: "r", status: "completed" }]);
  const value = "sim/two";
  await other.agent.request(methods.agent.session.setConfigOption, {
    sessionId: id,
    configId: "model",
    value,
  });
  await first.until(() => JSON.stringify(first.of("config_option_update")).includes(value));
  expect((await first.prompt(id, "remember a=1")).stopReason).toBe("end_turn");
  await other.until(() => other.words().endsWith("Noted a=1"));
  expect([...first.wrong, ...other.wrong]).toEqual([]);
});
