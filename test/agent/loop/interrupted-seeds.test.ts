/** A turn of a run with seeds that was left, failed or was cut off is gone on with by what its run sends. */
import { expect, test } from "vitest";
import { agentRig, counter, inShort, said } from "../rig.ts";
import { asked, EMAIL, SEEDED, SEEDS } from "./seed-rig.ts";

const down = Object.assign(new Error("down"), { statusCode: 400 });
const never = new Promise<never>(() => undefined);
const call = (id: string, name: string) => ({ id, name, input: {} });

test("a turn that was left open in a run with seeds is gone on with by the same request, and so says `restore`", async () => {
  const at = await agentRig(
    [{ text: "Hello." }, { calls: [call("1", "look")] }, { text: "half an", until: never }],
    {
      tools: [counter("look")],
    },
  );
  await at.agent.send("c", "hi");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  const left = Promise.withResolvers<void>();
  void at.agent.carryRun("c", run, {
    onEvent: (event) => event.type === "step" && event.step === 2 && left.resolve(),
  });
  await left.promise;
  at.die();
  const later = at.another([{ text: "Paid." }], { tools: [counter("look")] });
  const restored = await later.agent.restore("c");
  expect(restored).toMatchObject({
    run,
    system: "You answer emails.",
    openTurn: { turn: expect.any(String) },
  });
  const pooled = await later.agent.pool.with("c", async (chat) => chat.restored);
  // How long the lease still counts is less with every look.
  const { remainingMs: _, ...lease } = restored.openTurn?.lease ?? { remainingMs: 0 };
  const openTurn = { ...restored.openTurn, lease: expect.objectContaining(lease) as object };
  expect(pooled).toEqual({ ...restored, openTurn });
  await later.agent.continue("c");
  expect(later.model.asked[0]?.prompt).toEqual(at.model.asked[2]?.prompt);
  expect(restored.messages.map(inShort).slice(0, 3)).toEqual(SEEDED);
  const { context } = await later.holdfast.hydrate(run);
  expect(context.messages.slice(0, -1)).toEqual(restored.messages);
  expect((await later.holdfast.run(run))?.status).toBe("completed");
});

test("seeds that fail to be answered are answered later, without words of nobody's", async () => {
  const at = await agentRig([{ text: "Hello." }, { error: down }, { text: "half", until: never }]);
  await at.agent.send("c", "hi");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  expect(await at.agent.carryRun("c", run)).toMatchObject({ outcome: "failed" });
  const begun = Promise.withResolvers<void>();
  const going = at.agent.continue("c", { onEvent: (event) => event.type === "update" && begun.resolve() });
  await begun.promise;
  at.agent.cancel("c");
  await going;
  expect(at.model.asked[2] && asked(at.model.asked[2])).toEqual(["system: You answer emails.", ...SEEDED]);
  // What had come of the answer is told, and now there is something to go on from.
  const later = at.another([{ text: "Paid." }]);
  expect(await later.agent.continue("c")).toMatchObject({ outcome: "completed", run });
  expect(later.model.asked[0] && asked(later.model.asked[0]).slice(0, 5)).toEqual([
    "system: You answer emails.",
    ...SEEDED,
    "assistant: half",
  ]);
  expect(await at.conversation.runs()).toMatchObject([{}, { run, status: "completed", prompts: 1 }]);
});

test("a turn of seeds that a dead process left is settled where it stands, and what it had said is kept", async () => {
  const at = await agentRig([{ text: "Hello." }, { text: "Sure." }]);
  await at.agent.send("c", "hi");
  await at.conversation.append([
    { type: "seed", id: "seeds", run: "r", messages: [{ role: "user", content: "And now?" }] },
    { type: "run_start", run: "r", trigger: "email", seed: "seeds", seedCount: 1 },
    { type: "model_change", model: "scripted/one", provider: "scripted" },
    { type: "turn_start", turn: "t", prompt: "seeds", run: "r" },
    { type: "attempt", turn: "t", model: "scripted/one" },
    { type: "update", turn: "t", data: { events: [{ type: "text", text: "half an answer" }] } },
  ]);
  await at.agent.send("c", "never mind");
  expect((await said(at.conversation)).slice(-3)).toEqual([
    "assistant: half an answer",
    "user: never mind",
    "assistant: Sure.",
  ]);
  const rows = await at.conversation.runs();
  expect(rows.map(({ status, error }) => [status, error?.code ?? null])).toEqual([
    ["completed", null],
    ["failed", "crashed"],
    ["completed", null],
  ]);
});
