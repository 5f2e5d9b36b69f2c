/** Under an engine for durable work a run is the same: started, carried and ended once, whichever attempt does it. */
import { expect, test } from "vitest";
import { engineSteps, type DurableStep } from "#agent/steps/engine-steps";
import type { Json } from "#log/json/json-text";
import { agentRig, counter, said } from "../rig.ts";

const EMAIL = { type: "email", id: "mail-7" } as const;
const SEEDS = [{ role: "user", content: "Is it paid?" }] as const;
const call = (id: string, name: string) => ({ id, name, input: {} });

/** Attempts at one task: what the engine was given stays; an attempt dies before the step it is told to. */
function task(): (diesAt?: string) => DurableStep {
  const kept = new Map<string, Json>();
  return (diesAt = "never") =>
    engineSteps({
      engine: "memory",
      taskId: "t",
      async run(name, body) {
        if (name.endsWith(diesAt)) throw new Error("the worker is gone");
        const known = kept.get(name) ?? (await body());
        kept.set(name, known);
        return known;
      },
    });
}

test("a run with seeds is carried in steps, and by another attempt where the first has died", async () => {
  const at = await agentRig([{ calls: [call("1", "look")] }], { tools: [counter("look")] });
  const attempt = task();
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  await expect(at.agent.carryRun("c", run, { steps: attempt("/2") })).rejects.toThrow("gone");
  const later = at.another([{ text: "Paid." }], { tools: [counter("look")] });
  expect((await later.agent.startRun("c", EMAIL)).repeated).toBe(true);
  const done = await later.agent.carryRun("c", run, { steps: attempt() });
  expect(done).toMatchObject({ outcome: "completed", text: "Paid.", run });
  expect(await later.agent.carryRun("c", run, { steps: attempt() })).toMatchObject({ turn: done.turn, run });
  expect(JSON.stringify(later.model.asked[0]?.prompt)).toContain("Is it paid?");
  expect(later.model.asked).toHaveLength(1);
  expect(await at.conversation.runs()).toMatchObject([
    { run, status: "completed", steps: 2, prompts: 1, usage: { outputTokens: 20 } },
  ]);
});

test("what waited for the end of a turn stays in its run, also where another attempt begins with it", async () => {
  const tools = [
    counter("look", {
      run: async () => {
        await at.agent.steer("c", "and then this", { when: "turn", steer: "s" });
        return "seen";
      },
    }),
  ];
  const at = await agentRig([{ calls: [call("1", "look")] }, { text: "one" }], { tools });
  const attempt = task();
  const asked = { run: { trigger: EMAIL } };
  await expect(at.agent.send("c", "go", { ...asked, steps: attempt("/3") })).rejects.toThrow("gone");
  expect(await at.conversation.runs()).toMatchObject([{ status: "completed", steps: 2, prompts: 1 }]);
  const later = at.another([{ text: "two" }], { tools });
  const { run, text } = await later.agent.send("c", "go", { ...asked, steps: attempt() });
  expect(text).toBe("two");
  expect((await said(at.conversation)).slice(-2)).toEqual(["user: and then this", "assistant: two"]);
  expect(await at.conversation.runs()).toMatchObject([
    { run, status: "completed", steps: 3, prompts: 2, usage: { outputTokens: 30 } },
  ]);
});
