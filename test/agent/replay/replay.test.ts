import { describe, expect, test } from "vitest";
import { replay } from "#agent/replay/replay-models";
import type { ReplayOptions } from "#agent/replay/replay-options";
import { counter, said } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { call, EMAIL, recorded, type ReplayRig, WORK } from "./replay-rig.ts";

describe("what is asked wrongly", () => {
  const refused = async (rig: ReplayRig, more: Partial<ReplayOptions>): Promise<void> => {
    const forks = async (): Promise<number> => (await Array.fromAsync(rig.holdfast.list())).length;
    const before = [await rig.log(), await forks()];
    await expect(rig.replay(WORK, more)).rejects.toMatchObject({ code: "invalid_request" });
    expect([await rig.log(), await forks()]).toEqual(before);
    expect(rig.events).toEqual([]);
  };

  test("is refused before anything is sent or written", async () => {
    const rig = await recorded();
    await refused(rig, { models: ["nobody/knows"] });
    await refused(rig, { models: [new ScriptedModel([]), "nobody/knows"] });
    await refused(rig, { fromMessage: 99 });
    await refused(rig, { fromMessage: 0 });
    await refused(rig, { maxCostMicros: 5 });
    await refused(rig, { tools: "wet" as "live" });
    const two = [counter("same"), counter("same")];
    await refused(rig, { agent: { tools: two } });
    const what = { run: "gone" };
    await expect(replay(rig.holdfast, what, { models: [new ScriptedModel([])] })).rejects.toMatchObject({
      code: "run_not_found",
    });
  });

  test("tools that are not here are reported before anything is sent", async () => {
    const rig = await recorded();
    const sent: boolean[] = [];
    const model = new ScriptedModel([{ text: "Prepared." }, { text: "Sent." }], "two");
    await rig.replay([], {
      models: [model],
      agent: { tools: [counter("search", { effect: "none" })], instructions: false },
      onEvent: (event) => {
        if (event.type === "planned") sent.push(model.asked.length > 0);
        rig.events.push(event);
      },
    });
    expect(rig.events[0]).toMatchObject({
      type: "planned",
      absent: ["ComposeEmail", "read", "write", "edit", "shell"],
    });
    expect(sent).toEqual([false]);
  });
});

test("from a message on, what was said before it is kept and is not paid for again", async () => {
  const rig = await recorded();
  const model = new ScriptedModel([call("9", "ComposeEmail", EMAIL)], "two");
  const result = await rig.replay([], { models: [model], fromMessage: 9 });
  expect(result).toMatchObject({ sent: 1, prompts: 1, steps: 1, divergence: null });
  expect(model.asked.length).toBe(1);
  const fork = await rig.holdfast.conversation(result.conversation);
  expect((await said(fork)).slice(0, 8)).toEqual((await said(rig.original)).slice(0, 8));
  expect((await fork.usage()).byModel).toEqual({ "scripted/two": expect.anything() });
});

test("each model has a fork of its own, which says whose replay it is; what one used is no other's", async () => {
  const rig = await recorded();
  const models = ["two", "three"].map((name) => new ScriptedModel(WORK, name));
  await rig.replay([], { models });
  const ended = rig.events.filter((event) => event.type === "ended");
  expect(ended.map(({ model, steps }) => [model, steps])).toEqual([
    ["scripted/two", 5],
    ["scripted/three", 5],
  ]);
  for (const { conversation, model, run } of ended) {
    const fork = await rig.holdfast.conversation(conversation);
    expect(Object.keys((await fork.usage()).byModel)).toEqual([model]);
    const leaf = (await rig.original.head()).leaf.id;
    expect(await fork.runs()).toMatchObject([
      { run, trigger: { type: "replay", id: `original@${leaf}` }, status: "completed", model },
    ]);
  }
});

test("a limit of steps holds for the whole replay, which says where it stopped", async () => {
  const rig = await recorded();
  const limited = await rig.replay(WORK, { maxSteps: 4 });
  expect(limited).toMatchObject({ outcome: "interrupted", class: "turn_limit", sent: 1, steps: 4 });
  expect(limited.divergence).toBeNull();
  const within = await rig.replay(WORK, { maxSteps: 2 });
  expect(within).toMatchObject({ outcome: "interrupted", class: "turn_limit", sent: 1, steps: 2 });
});

test("a model that answers nothing ends its replay, which says so; others are asked all the same", async () => {
  const rig = await recorded();
  const silent = new ScriptedModel([{}, {}, {}, {}], "silent");
  await rig.replay([], { models: [silent, new ScriptedModel(WORK, "two")] });
  const ended = rig.events.filter((event) => event.type === "ended");
  expect(ended).toMatchObject([
    { model: "scripted/silent", outcome: "failed", class: "empty", sent: 1 },
    { model: "scripted/two", outcome: "completed", sent: 2 },
  ]);
});

test("a patch of the system prompt is what the model is told, and is recorded in the fork", async () => {
  const rig = await recorded();
  const model = new ScriptedModel([{ text: "Arr." }, { text: "Arr." }], "two");
  const { conversation } = await rig.replay([], { models: [model], patchSystem: "You are a pirate." });
  expect(JSON.stringify(model.asked[0]?.prompt[0])).toContain("You are a pirate.");
  const fork = await rig.holdfast.conversation(conversation);
  expect(await fork.facts(["run_start"])).toMatchObject([{ promptPatch: { system: "You are a pirate." } }]);
});

test("whoever stops a replay keeps what came of it", async () => {
  const rig = await recorded();
  const stop = new AbortController();
  const result = await rig.replay(WORK, {
    signal: stop.signal,
    onEvent: (event) => void (event.type === "turn" && stop.abort()),
  });
  expect(result).toMatchObject({ outcome: "interrupted", class: "cancelled", sent: 1 });
});

test("a replay that is stopped while a prompt is on its way to the model does not wait for the answer", async () => {
  const rig = await recorded();
  for (const type of ["forked", "prompt", "accepted"]) {
    const stop = new AbortController();
    const never = Promise.withResolvers<void>();
    const model = new ScriptedModel([{ text: "Begun", until: never.promise }], "two");
    const result = await rig.replay([], {
      models: [model],
      signal: stop.signal,
      onEvent: (event) => void (event.type === type && stop.abort()),
    });
    expect(result).toMatchObject({ outcome: "interrupted", class: "cancelled" });
  }
});
