/** Models and folders that misbehave: one clear result each, nothing lost, nothing run that should not be. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeConversation, SimWorld } from "#testing/index";
import { type Part, model, streamed } from "../../support/streamed-model.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { agentRig, counter, said } from "../rig.ts";

const call = (id: string, name: string, input: unknown = {}) => ({ id, name, input });

test("a tool-call id that comes twice in one answer, for two things: one clear result, and no act twice", async () => {
  const act = counter("act");
  const at = await agentRig(
    [{ calls: [call("1", "act", { x: 1 }), call("1", "act", { x: 2 })] }, { text: "ok" }],
    {
      tools: [act],
    },
  );
  const result = await at.agent.send("c", "go").catch((error: unknown) => String(error));
  expect(act.runs.length).toBeLessThanOrEqual(2);
  expect(new Set(act.runs.map((run) => JSON.stringify(run))).size).toBe(act.runs.length);
  expect(result).toMatchObject({ outcome: "completed" });
  expect(await judgeConversation(at.conversation)).toEqual([]);
});

test("the same id in every answer is another call each time", async () => {
  const act = counter("act");
  const at = await agentRig(
    Array.from({ length: 3 }, () => ({ calls: [call("same", "act")] })),
    { tools: [act] },
  );
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed", text: "done" });
  expect(act.runs).toHaveLength(3);
  expect(await judgeConversation(at.conversation)).toEqual([]);
});

test("an unknown tool is answered to the model, which goes on", async () => {
  const at = await agentRig([{ calls: [call("1", "gone")] }, { text: "I see." }]);
  expect(await at.agent.send("c", "go", at.host)).toMatchObject({ outcome: "completed", text: "I see." });
  expect((await said(at.conversation))[2]).toContain('there is no tool "gone"');
  const shown = at.events.flatMap((event) => (event.type === "update" ? [event.event] : []));
  expect(shown).toMatchObject([
    { type: "tool", name: "gone", state: "failed" },
    { type: "text", text: "I see." },
  ]);
});

test("a model that reports no usage is answered like any other, and nothing is counted", async () => {
  const at = await agentRig([{ text: "ok", usage: null }]);
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed", usage: {} });
  expect((await at.conversation.usage()).inputTokens ?? 0).toBe(0);
});

test("a model that never stops is stopped, and what it had said is kept", async () => {
  const start: readonly Part[] = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "t" },
  ];
  let at = 0;
  const endless = model(() => {
    const stream = new ReadableStream<Part>({
      pull: (controller) =>
        controller.enqueue(
          start[at++] ?? { type: "text-delta", id: "t", delta: "and so on ".repeat(20_000) },
        ),
    });
    return Promise.resolve({ stream });
  });
  const rig = await agentRig([], { model: endless });
  const result = await rig.agent.send("c", "go");
  expect(result).toMatchObject({ outcome: "failed", class: "failed" });
  expect(result.message).toMatch(/\d+/);
  expect(await rig.conversation.openTurn()).toBeNull();
  expect((await said(rig.conversation))[1]).toContain("and so on");
});

test("garbage in the stream runs no tool; the turn ends, and the next prompt is answered", async () => {
  const act = counter("act");
  const garbage = streamed([
    { type: "stream-start", warnings: [] },
    { type: "error", error: { name: "AI_JSONParseError", message: "half" } },
    { type: "tool-call", toolCallId: "1", toolName: "act", input: "\u0000{" },
    { type: "nothing anybody knows" } as never,
  ]);
  const world = new SimWorld();
  const at = await agentRig([], { model: garbage, tools: [act], clock: world.clock });
  expect((await at.agent.send("c", "go")).outcome).not.toBe("completed");
  expect(act.runs).toEqual([]);
  const next = at.another([{ text: "fine" }]);
  expect(await next.agent.send("c", "again", { model: next.model })).toMatchObject({ text: "fine" });
  expect(await judgeConversation(at.conversation)).toEqual([]);
});

test("an AGENTS.md of 10 MB is cut, and the prompt answered", async () => {
  using folder = tempDir();
  writeFileSync(join(folder.path, "AGENTS.md"), "Use tabs. ".repeat(1_048_576));
  const at = await agentRig([{ text: "ok" }], { instructions: true });
  const { id } = await at.holdfast.create({ id: "there", cwd: folder.path });
  expect(await at.agent.send(id, "go")).toMatchObject({ outcome: "completed" });
  const [asked] = at.model.asked;
  expect(JSON.stringify(asked?.prompt)).toContain("Use tabs.");
  expect(JSON.stringify(asked?.prompt).length).toBeLessThan(1_000_000);
});

test("a crash in the middle of retries does not give the model its tries anew; every attempt is counted", async () => {
  const world = new SimWorld();
  const half = { text: "half", finish: "error", usage: { input: 100, output: 10 } } as const;
  const at = await agentRig(
    Array.from({ length: 9 }, () => half),
    { clock: world.clock },
  );
  const died = Promise.withResolvers<void>();
  let tries = 0;
  void at.agent.send("c", "go", {
    onEvent: (event) => {
      if (event.type !== "backing_off" || ++tries < 3) return;
      world.kill();
      died.resolve();
    },
  });
  await died.promise;
  const next = at.another(
    Array.from({ length: 9 }, () => half),
    { clock: world.clock },
  );
  expect(await next.agent.continue("c")).toMatchObject({ outcome: "failed", class: "overloaded" });
  expect(next.model.asked).toHaveLength(2);
  expect(await at.conversation.usage()).toMatchObject({ inputTokens: 500, outputTokens: 50 });
});

test("a turn that is taken up and ends without a further answer has the answer it had", async () => {
  const at = await agentRig([{ text: "I will ask.", calls: [call("1", "act")] }], {
    tools: [counter("act")],
    permission: () => "ask",
  });
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "waiting", text: "I will ask." });
  const refused = Object.assign(new Error("no"), { statusCode: 400 });
  const next = at.another([{ error: refused }]);
  const [question] = (await next.agent.restore("c")).waiting;
  expect(await next.agent.answer("c", question?.request ?? "", "allowed")).toMatchObject({
    outcome: "failed",
    text: "I will ask.",
  });
});
