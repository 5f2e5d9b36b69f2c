/** Tools that misbehave, in a turn of the loop: one clear result each, the turn goes on, and nothing is lost. */
import { expect, test } from "vitest";
import { judgeConversation, SimWorld } from "#testing/index";
import type { Tool } from "#turn/effects/tool";
import { agentRig, said } from "../rig.ts";

const script = [{ calls: [{ id: "1", name: "act", input: { x: 1 } }] }, { text: "I see." }];
const never = new Promise<never>(() => undefined);

function cycle(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}

const BAD: readonly (readonly [string, Tool["run"], RegExp])[] = [
  ["throws", () => Promise.reject(new Error("no such table")), /no such table/],
  [
    "throws at once, and no error",
    () => {
      throw "boom";
    },
    /boom/,
  ],
  ["gives a cycle", async () => cycle() as never, /./],
  ["gives details with a cycle", async () => ({ content: "done", details: cycle() as never }), /done/],
  ["gives nothing", async () => undefined as never, /./],
  ["gives a number", async () => 7 as never, /a number/],
];

test.each(BAD)("a tool that %s has one result that says so", async (_, run, wanted) => {
  const at = await agentRig(script, { tools: [{ name: "act", run }] });
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed", text: "I see." });
  const [, , result, last] = await said(at.conversation);
  expect(result).toMatch(/^toolResult: /);
  expect(result).toMatch(wanted);
  expect(last).toBe("assistant: I see.");
  expect(JSON.stringify(at.model.asked[1]?.prompt)).toContain("tool-result");
  expect(await judgeConversation(at.conversation)).toEqual([]);
});

test("a tool that hangs is let go of at its limit: the model is told that nobody knows, and it is not run again", async () => {
  let runs = 0;
  const hang: Tool = { name: "act", timeoutMs: 60_000, run: () => (runs++, never) };
  const at = await agentRig(script, { tools: [hang], clock: new SimWorld().clock });
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed", text: "I see." });
  expect((await said(at.conversation))[2]).toMatch(/unknown/i);
  expect(await at.conversation.effects()).toMatchObject([{ name: "act", state: "unknown" }]);
  expect(runs).toBe(1);
  expect(await judgeConversation(at.conversation)).toEqual([]);
});

test("fifty megabytes reach the model by their beginning and end; the whole is kept beside the log", async () => {
  const size = 50 * 1_048_576;
  const big = async (): Promise<string> => `first ${"x".repeat(size)} last`;
  const at = await agentRig(script, { tools: [{ name: "act", run: big }] });
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed", text: "I see." });
  const asked = JSON.stringify(at.model.asked[1]?.prompt);
  expect(asked.length).toBeLessThan(1_000_000);
  expect([asked.includes("first x"), asked.includes("x last")]).toEqual([true, true]);
  const log = JSON.stringify(await Array.fromAsync(at.conversation.log()));
  expect(log.length).toBeLessThan(1_000_000);
  const [, blob = ""] = / blob (\S+)\]/.exec(asked) ?? [];
  expect((await at.conversation.getBlob(blob)).byteLength).toBe(size + 11);
});

test.each([
  ["is no schema", 7],
  ["refers to itself", cycle()],
  ["has a function in it", { type: "object", properties: { x: () => undefined } }],
  ["is no object", { type: "string" }],
])("a tool whose schema %s is the caller's mistake, named before anything is written", async (_, input) => {
  const tool = { name: "act", input, run: async () => "done" } as unknown as Tool;
  const at = await agentRig(script, { tools: [tool] });
  await expect(at.agent.send("c", "go")).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("act") as string,
  });
  expect(at.model.asked).toEqual([]);
  expect(await at.conversation.openTurn()).toBeNull();
  expect(await said(at.conversation)).toEqual([]);
});

test("two tools of one name are the caller's mistake", async () => {
  const one = { name: "act", run: async () => "one" };
  const at = await agentRig(script, { tools: [one, { ...one }] });
  await expect(at.agent.send("c", "go")).rejects.toMatchObject({ code: "invalid_request" });
});

test("a schema that throws when an input is checked is a result for the model, and the tool does not run", async () => {
  let runs = 0;
  const input = {
    "~standard": {
      version: 1,
      vendor: "mine",
      validate: () => {
        throw new Error("broken");
      },
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  };
  const tool = { name: "act", input, run: async () => (runs++, "done") } as unknown as Tool;
  const at = await agentRig(script, { tools: [tool] });
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed", text: "I see." });
  expect(runs).toBe(0);
  expect((await said(at.conversation))[2]).toMatch(/^toolResult: /);
});
