import { expect, test } from "vitest";
import { openModel } from "#agent/models/open-model";
import { replay } from "#agent/replay/replay-models";
import type { ReplayAgent } from "#agent/replay/replay-options";
import { Holdfast } from "#conversation/holdfast";
import { SIM_MODELS, atPace, simulatedAgent, simulatedEmail } from "#edges/cli/serve/simulated-agent";
import { inMemoryStore } from "#stores/in-memory/index";
import { SimWorld } from "#testing/index";

const FAST = 10_000;

test("what the simulated agent did is replayed without a key: by one model alike, by the other without its calls", async () => {
  const world = new SimWorld();
  const holdfast = new Holdfast(world.store(inMemoryStore()), "default");
  const simulated = simulatedAgent(holdfast, world);
  const { id: conversation } = await holdfast.create({ id: "party" });
  for (const words of ["My guest is Ada", "email baker about the cake", "What is my guest?"])
    await simulated.send(await holdfast.conversation(conversation), words);
  const agent: ReplayAgent = {
    tools: [simulatedEmail],
    openModel: async (given) => atPace(await openModel(given), FAST),
    instructions: false,
  };
  for (const tools of ["dry-run", "recorded"] as const) {
    const results = await replay(holdfast, { conversation }, { models: SIM_MODELS, agent, tools });
    expect(results).toMatchObject([
      { model: "sim", outcome: "completed", sent: 3, calls: 1, divergence: null, missed: [] },
      {
        model: "sim/cautious",
        outcome: "completed",
        sent: 3,
        calls: 0,
        divergence: { kind: "call", a: { name: "send_email", input: { to: "baker", about: "the cake" } } },
      },
    ]);
    for (const { conversation: fork } of results) {
      const { messages } = await (await holdfast.conversation(fork)).context();
      expect(JSON.stringify(messages.at(-1))).toContain("Ada");
    }
  }
  // Nothing was sent again.
  expect(world.outbox.all.length).toBe(1);
});

test("a model at its pace thinks, then says piece by piece, and stops between two of them when it is told to", async () => {
  const stop = new AbortController();
  const slept: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms);
    if (slept.length === 4) stop.abort(new Error("stopped"));
  };
  const { model } = atPace(await openModel("sim"), 2, { sleep });
  const prompt = [{ role: "user", content: [{ type: "text", text: "work 400" }] }];
  const { stream } = (await model.doStream({ prompt, abortSignal: stop.signal } as never)) as {
    readonly stream: ReadableStream<{ readonly type: string }>;
  };
  await expect(Array.fromAsync(stream)).rejects.toThrow("stopped");
  expect(slept.slice(0, 4)).toEqual([150, 20, 20, 20]);
  expect(slept.length).toBeLessThan(10);
});
