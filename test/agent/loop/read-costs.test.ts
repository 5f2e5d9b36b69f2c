/** What a turn of the loop reads: counted in entries that leave the store, behind logs of all sizes. */
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { readSteers } from "#conversation/steer-queue";
import type { EntryBody } from "#log/entry";
import { countedStore } from "../../support/counted-store.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { spaceOf } from "#conversation/on-space";

const words = [{ type: "text", text: "faster" }] as const;

/** Turns of the past with all a turn can leave, made shorter for the model by a compaction. */
function* pastTurns(count: number): Generator<EntryBody> {
  for (let n = 0; n < count; n++) {
    const [turn, prompt, call] = [`t${n}`, `p${n}`, `c${n}`];
    yield { type: "message", id: prompt, message: { role: "user", content: words } };
    yield { type: "turn_start", turn, prompt };
    yield { type: "attempt", turn, model: "one" };
    yield { type: "steer", steer: `s${n}`, state: "accepted", content: words };
    yield { type: "steer", steer: `s${n}`, state: "delivered" };
    yield { type: "permission", turn, call, request: `${turn}/1/${call}`, options: [], data: {} };
    yield { type: "permission_answer", request: `${turn}/1/${call}`, outcome: "allowed" };
    yield { type: "tool_intent", turn, call, name: "look", input: {}, step: 1 };
    yield { type: "tool_progress", call, data: { state: "done" } };
    yield { type: "update", turn, data: { events: [] } };
    yield { type: "attempt_end", turn, class: "failed" };
    yield { type: "turn_end", turn, outcome: "completed", class: "completed" };
  }
  yield { type: "compaction", summary: "so far" };
}

interface Rig {
  readonly agent: Agent;
  readonly conversation: Conversation;
  readonly count: () => number;
}

/** A conversation behind so many turns of the past, with a few of our own after them. */
async function behind(turns: number): Promise<Rig> {
  const { store, count } = countedStore();
  const holdfast = new Holdfast(store, "default");
  const conversation = await holdfast.create({ id: "c" });
  await conversation.append([...pastTurns(turns)]);
  const agent = new Agent(holdfast, {
    model: new ScriptedModel([]),
    permission: () => "allow",
    instructions: false,
    isDead: async () => true,
  });
  for (let n = 0; n < 2; n++) {
    await agent.steer("c", "one more thing");
    await agent.send("c", "go on");
  }
  return { agent, conversation, count };
}

const LEFT: readonly EntryBody[] = [
  { type: "message", id: "left", message: { role: "user", content: words } },
  { type: "turn_start", turn: "left", prompt: "left" },
  { type: "permission", turn: "left", call: "c", request: "left/1/c", options: [], data: {} },
];

const READS: { readonly [what: string]: (rig: Rig) => Promise<unknown> } = {
  "a send": ({ agent }) => agent.send("c", "again"),
  "a send with words that wait": async ({ agent, conversation }) => {
    await agent.steer("c", "this too");
    const { prompt } = await agent.send("c", "again");
    const { messages } = await conversation.context();
    const at = messages.findIndex(({ entryId }) => entryId === prompt);
    expect(messages[at - 1]?.content).toEqual([{ type: "text", text: "this too" }]);
  },
  "a send after a turn that was left": async ({ agent, conversation }) => {
    await conversation.append(LEFT);
    await agent.send("c", "again");
  },
  "going on with a turn that was left": async ({ agent, conversation }) => {
    await conversation.append(LEFT);
    expect(await agent.continue("c")).toMatchObject({ turn: "left", outcome: "completed" });
  },
  "a keyed send that is asked again": async ({ agent }) => {
    await agent.send("c", "again", { key: "k" });
    expect((await agent.send("c", "again", { key: "k" })).repeated).toEqual({ differs: false });
  },
  "restoring with words and a question that wait": async ({ agent, conversation }) => {
    await agent.steer("c", "this too", { steer: "x" });
    await conversation.append(LEFT);
    const { queue, waiting } = await agent.restore("c");
    expect([queue.map(({ steer }) => steer), waiting.map(({ request }) => request)]).toEqual([
      ["x"],
      ["left/1/c"],
    ]);
  },
  "going back": async ({ agent, conversation }) => {
    const { messages } = await conversation.context();
    await agent.goBackTo("c", messages.findLast(({ role }) => role === "user")?.entryId ?? "");
  },
};

test.each(Object.keys(READS))("%s reads as much behind 800 turns as behind 300", async (what) => {
  const cost = async (turns: number): Promise<number> => {
    const rig = await behind(turns);
    const before = rig.count();
    await READS[what]?.(rig);
    return rig.count() - before;
  };
  expect(await cost(800)).toBe(await cost(300));
});

test("behind 40 turns since, words that were accepted while a turn began are found still", async () => {
  const { agent, conversation } = await behind(50);
  const { id } = conversation;
  const space = spaceOf(conversation);
  // A turn that had looked for words before these came, and says that all it found were delivered.
  await agent.steer("c", "in between", { steer: "late" });
  await conversation.append([
    { type: "message", id: "p", message: { role: "user", content: words } },
    { type: "turn_start", turn: "raced", prompt: "p", steers: "delivered" },
    { type: "turn_end", turn: "raced", outcome: "completed" },
  ]);
  for (let n = 0; n < 40; n++)
    await conversation.append([
      { type: "turn_start", turn: `f${n}`, prompt: "p" },
      { type: "steer", steer: `f${n}`, state: "accepted", content: words },
      { type: "steer", steer: `f${n}`, state: "delivered" },
      { type: "turn_end", turn: `f${n}`, outcome: "completed" },
    ]);
  expect((await readSteers(space, id)).whole).toBe(false);
  expect((await conversation.queue()).map(({ steer }) => steer)).toEqual(["late"]);
});

test("words that were delivered long ago and come once more without their key are not delivered again", async () => {
  const { agent, conversation } = await behind(50);
  await conversation.appendOutside({ type: "steer", steer: "s0", state: "accepted", content: words });
  expect((await readSteers(spaceOf(conversation), conversation.id)).whole).toBe(false);
  expect(await conversation.queue()).toEqual([]);
  await agent.send("c", "again");
  const { messages } = await conversation.context();
  expect(
    messages.filter(({ content }) => content[0]?.type === "text" && content[0].text === "faster"),
  ).toEqual([]);
});
