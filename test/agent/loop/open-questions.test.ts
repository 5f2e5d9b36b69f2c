/** A question that was asked stays a person's, also where a process goes on with the turn that can ask nobody. */
import { expect, test } from "vitest";
import { type AgentRig, agentRig, counter } from "../rig.ts";

const ask = { permission: () => "ask" as const };
const headless = { ...ask, whenAsked: "refuse" as const };

async function parked(): Promise<{
  readonly at: AgentRig;
  readonly request: string;
  readonly runs: unknown[];
}> {
  const act = counter("act");
  const at = await agentRig([{ calls: [{ id: "1", name: "act", input: {} }] }], { ...ask, tools: [act] });
  const { waiting } = await at.agent.send("c", "go");
  return { at, request: waiting[0]?.request ?? "", runs: act.runs };
}

test("a question that nobody has answered goes on waiting; it is not refused in a person's name", async () => {
  const { at, request, runs } = await parked();
  const later = at.another([], headless);
  expect(await later.agent.continue("c")).toMatchObject({ outcome: "waiting", waiting: [{ request }] });
  expect(runs).toEqual([]);
  expect((await (await later.holdfast.conversation("c")).effects()).map(({ state }) => state)).not.toContain(
    "failed",
  );
});

test("an answer that was given elsewhere counts", async () => {
  const { at, request, runs } = await parked();
  await at.conversation.answer(request, "allowed", { by: "Ada" });
  const later = at.another([{ text: "done" }], headless);
  expect(await later.agent.continue("c")).toMatchObject({ outcome: "completed", text: "done" });
  expect(runs).toHaveLength(1);
});

test("what was not asked before is refused where nobody can be asked", async () => {
  const act = counter("act");
  const script = [{ calls: [{ id: "1", name: "act", input: {} }] }, { text: "I see" }];
  const at = await agentRig(script, { ...headless, tools: [act] });
  expect(await at.agent.send("c", "go")).toMatchObject({ outcome: "completed" });
  expect(act.runs).toEqual([]);
});
