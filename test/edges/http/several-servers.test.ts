/** Several servers on one store, as several processes would be; those that die are processes in killed-servers.e2e.test.ts. */
import { RealTimeline } from "#testing/timeline";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { Holdfast } from "#conversation/holdfast";
import { simulatedAgent } from "#edges/cli/serve/simulated-agent";
import type { Turns } from "#edges/http/index";
import type { Runtime } from "#upstream/runtime";
import type { Entry } from "#log/entry";
import { SimWorld } from "#testing/index";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { serve } from "./served.ts";

const loop =
  (model: ScriptedModel) =>
  (holdfast: Holdfast): Agent =>
    new Agent(holdfast, { model, instructions: false });

const fastAgent = (holdfast: Holdfast): Runtime =>
  simulatedAgent(holdfast, new SimWorld({ timeline: new RealTimeline(1_000) }));

/** Dies when it has gone back, before it sends. */
function dying(agent: Turns): Turns {
  return {
    send: () => Promise.reject(new Error("The process is gone")),
    edit: async (to, entry) => {
      await agent.goBackTo(to, entry);
      throw new Error("The process is gone");
    },
    continue: (...given) => agent.continue(...given),
    retry: (...given) => agent.retry(...given),
    note: (...given) => agent.note(...given),
    steer: (...given) => agent.steer(...given),
    goBackTo: (...given) => agent.goBackTo(...given),
    cancel: (of) => agent.cancel(of),
    close: () => agent.close(),
  };
}

const all = (events: AsyncIterable<Entry>): Promise<readonly Entry[]> => Array.fromAsync(events);

test("a turn is stopped at any server on the store, and no other turn with it", async () => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  const never = Promise.withResolvers<void>();
  const script = [
    { text: "Begun", until: never.promise },
    { text: "Begun too", until: never.promise },
  ];
  await using carrying = await serve({ store, agents: { loop: { open: loop(new ScriptedModel(script)) } } });
  await using other = await serve({ store });
  const token = await carrying.token("write");
  const [here, there] = [carrying.client(token), other.client(token)];
  for (const id of ["a", "b"]) await carrying.holdfast.create({ id });
  expect(await there.cancel({ conversation: "a" })).toMatchObject({ cancelled: false });
  const turn = await here.send({ conversation: "a", content: "Work" });
  const beside = await here.send({ conversation: "b", content: "Work too" });
  const told = all(there.turnEvents(turn));
  // Two that ask at once ask for the same.
  const answers = await Promise.all([1, 2].map(() => there.cancel({ conversation: "a" })));
  expect(answers.map(({ cancelled }) => cancelled)).toEqual([true, true]);
  expect((await told).at(-1)).toMatchObject({ type: "turn_end", outcome: "interrupted" });
  expect(await there.cancel({ conversation: "a" })).toMatchObject({ cancelled: false });
  expect((await there.getConversation({ conversation: "b" })).openTurn).toMatchObject({
    turn: beside.turn,
    left: false,
  });
  never.resolve();
  expect((await all(there.turnEvents(beside))).at(-1)).toMatchObject({ outcome: "completed" });
});

test.each(["loop", "simulated"])(
  "other words that a dying %s left half done take their place once, at the server that is asked next",
  async (kind) => {
    using folder = tempDir();
    const store = `sqlite:${join(folder.path, "store.db")}`;
    const model = new ScriptedModel([{ text: "Four" }, { text: "Six" }]);
    const open = kind === "loop" ? loop(model) : fastAgent;
    await using before = await serve({ store, agents: { agent: { open } } });
    const client = before.client(await before.token("write"));
    await before.holdfast.create({ id: "c" });
    const first = await client.send({ conversation: "c", content: "Two and two?" });
    await all(client.turnEvents(first));
    const edit = { conversation: "c", entry: first.prompt, content: "Three and three?" };
    {
      const dies = { open: (holdfast: Holdfast) => dying(open(holdfast)) };
      await using dead = await serve({ store, agents: { agent: dies }, log: () => undefined });
      const token = await dead.token("admin");
      await expect(dead.client(token).edit(edit, { key: "e1" })).rejects.toMatchObject({
        code: "unexpected",
      });
    }
    const between = (await client.listEntries({ conversation: "c", limit: 500 })).entries;
    const turn = await client.edit(edit, { key: "e1" });
    const told = await all(client.turnEvents(turn));
    expect(told.at(-1)).toMatchObject({ type: "turn_end", outcome: "completed" });
    expect(await client.edit(edit, { key: "e1" })).toMatchObject({ turn: turn.turn, repeated: true });
    const { messages } = await client.getContext({ conversation: "c" });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const { entries } = await client.listEntries({ conversation: "c", limit: 500 });
    expect(entries.slice(0, between.length)).toEqual(between);
    const words = entries.filter((one) => one.type === "message" && one.message.role === "user");
    expect(words).toHaveLength(2);
  },
);
