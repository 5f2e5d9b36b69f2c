/** Runs replayed: what each model is sent is what the original's run would send, seeds included. */
import { expect, test } from "vitest";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { replay } from "#agent/replay/replay-models";
import type { ReplayOptions, ReplayResult } from "#agent/replay/replay-options";
import type { ReplayTarget } from "#agent/replay/replay-source";
import type { SeedMessage } from "#log/runs/check-seeds";
import { agentRig, type AgentRig } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";

const EMAIL = { type: "email", id: "mail-7" } as const;
const SEEDS: readonly SeedMessage[] = [
  { role: "system", content: "You answer emails." },
  { role: "user", content: "From: ann\nAnd now?", isNew: true },
];
const SEEDED = ["system: You answer emails.", "user: From: ann\nAnd now?"];

/** A request in short, without the reminder behind it. */
function asked({ prompt }: LanguageModelV4CallOptions): readonly string[] {
  return prompt
    .filter((message) => !JSON.stringify(message).includes("<system-reminder>"))
    .map((message) => {
      if (typeof message.content === "string") return `${message.role}: ${message.content}`;
      const parts = message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`));
      return `${message.role}: ${parts.join(" ")}`;
    });
}

interface Replayed extends ReplayResult {
  readonly requests: readonly (readonly string[])[];
}

async function replayed(
  at: AgentRig,
  what: ReplayTarget,
  more: Partial<ReplayOptions> = {},
): Promise<Replayed> {
  const before = (await Array.fromAsync(at.conversation.log())).length;
  const model = new ScriptedModel([{ text: "A." }, { text: "B." }, { text: "C." }], "two");
  const [result] = await replay(at.holdfast, what, {
    models: [model],
    agent: { system: "You chat.", instructions: false },
    ...more,
  });
  expect((await Array.fromAsync(at.conversation.log())).length).toBe(before);
  if (result === undefined) throw new Error("no result");
  return { ...result, requests: model.asked.map(asked) };
}

test("of a run its own prompts are sent again, after what was said before it", async () => {
  const at = await agentRig([{ text: "One." }, { text: "Two." }, { text: "Three." }], {
    system: "You chat.",
  });
  await at.agent.send("c", "first");
  const second = await at.agent.send("c", "second");
  await at.agent.send("c", "third");
  const result = await replayed(at, { run: second.run ?? "" });
  expect(result).toMatchObject({ outcome: "completed", sent: 1, prompts: 1, divergence: null });
  expect(result.requests.map((request) => request.slice(1))).toEqual([
    ["user: first", "assistant: One.", "user: second"],
  ]);
  const fork = await at.holdfast.conversation(result.conversation);
  expect(await fork.runs()).toMatchObject([
    {
      run: result.run,
      trigger: { type: "replay", id: second.run },
      status: "completed",
      prompts: 1,
      steps: 1,
      usage: { outputTokens: 10 },
    },
  ]);
});

test("seeds that were answered are answered again, shared and word for word, then what was said in the run", async () => {
  const at = await agentRig([{ text: "Chat." }, { text: "Yes." }, { text: "By card." }]);
  await at.agent.send("c", "hi");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  await at.agent.carryRun("c", run);
  await at.agent.send("c", "How?", { run, key: "how" });
  const result = await replayed(at, { run });
  expect(result.requests).toEqual([SEEDED, [...SEEDED, "assistant: A.", "user: How?"]]);
  expect(result).toMatchObject({ sent: 2, prompts: 2, outcome: "completed" });
  const fork = await at.holdfast.conversation(result.conversation);
  expect(await fork.facts(["seed"])).toEqual([]);
  const [original] = (await at.conversation.runs()).slice(-1);
  const hydrated = await at.holdfast.hydrate(result.run);
  expect(hydrated.seeds).toEqual(SEEDS);
  expect(hydrated.run).toMatchObject({ seed: original?.seed, seedCount: 2, prompts: 2, steps: 2 });
});

test("from a message of a run on, what it said before is kept", async () => {
  const at = await agentRig([{ text: "Yes." }, { text: "By card." }]);
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  await at.agent.carryRun("c", run);
  await at.agent.send("c", "How?", { run, key: "how" });
  const result = await replayed(at, { run }, { fromMessage: 2 });
  expect(result.requests).toEqual([[...SEEDED, "assistant: Yes.", "user: How?"]]);
});

test("a patch takes the place of the system message among the seeds", async () => {
  const at = await agentRig([{ text: "Yes." }]);
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  await at.agent.carryRun("c", run);
  const result = await replayed(at, { run }, { patchSystem: "You are brief." });
  expect(result.requests).toEqual([["system: You are brief.", ...SEEDED.slice(1)]]);
});

test("of a branch every run with seeds is begun anew with them, and other prompts send what the branch says", async () => {
  const at = await agentRig([{ text: "Chat." }, { text: "Yes." }, { text: "More." }], {
    system: "You chat.",
  });
  await at.agent.send("c", "hi");
  const { run } = await at.agent.startRun("c", EMAIL, { seeds: SEEDS });
  await at.agent.carryRun("c", run);
  await at.agent.send("c", "thanks");
  const result = await replayed(at, { conversation: "c" });
  expect(result).toMatchObject({ sent: 3, prompts: 3, outcome: "completed" });
  const [first, second, third] = result.requests;
  expect(first?.slice(1)).toEqual(["user: hi"]);
  expect(second).toEqual(SEEDED);
  expect(third?.slice(1)).toEqual(["user: hi", "assistant: A.", "assistant: B.", "user: thanks"]);
  const fork = await at.holdfast.conversation(result.conversation);
  expect((await fork.runs()).map(({ trigger, status, steps }) => [trigger.type, status, steps])).toEqual([
    ["replay", "completed", 1],
    ["replay", "completed", 1],
    ["replay", "completed", 1],
  ]);
  expect(result.runs).toEqual((await fork.runs()).map(({ run: id }) => id));
});
