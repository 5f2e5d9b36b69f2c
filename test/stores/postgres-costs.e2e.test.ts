/**
 * Goal: what a store in PostgreSQL costs is bounded: round trips of a verb and of a prompt, rows that a search looks at.
 * Method: a throwaway loopback server behind a pool that notes every statement.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/index";
import { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { postgresStore } from "#stores/postgres/index";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { aRig } from "../sending/rig.ts";
import { type CountedPool, countedPool } from "../support/counted-pool.ts";
import { type PostgresRig, postgresRig } from "../support/postgres-subject.ts";

let rig: PostgresRig;
let counted: CountedPool;

beforeAll(async () => {
  rig = await postgresRig();
  counted = countedPool(rig.pool);
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

const said = (text: string): EntryBody => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }] },
});

const tripsOf = async (work: () => Promise<unknown>): Promise<number> => (await counted.during(work)).length;

test("a context is one round trip, and so is every other verb that names its place; a fork is two", async () => {
  await rig.subject();
  const holdfast = new Holdfast(await postgresStore({ pool: counted.pool }), "default");
  const chat = await holdfast.create({ id: "a", entries: [said("one"), said("two")] });
  const { id } = (await chat.head()).leaf;
  const trips = {
    create: await tripsOf(() => holdfast.create({ id: "b", entries: [said("one")] })),
    append: await tripsOf(() => chat.append([said("three"), said("four")])),
    "append with a key": await tripsOf(() => chat.append(said("five"), { key: "k" })),
    "append from outside": await tripsOf(() => chat.title("T")),
    context: await tripsOf(() => chat.context()),
    "context at a node": await tripsOf(() => chat.context({ at: id })),
    head: await tripsOf(() => chat.head()),
    history: await tripsOf(() => chat.history()),
    fork: await tripsOf(() => chat.fork({ id: "f" })),
    list: await tripsOf(() => Array.fromAsync(holdfast.list())),
    runs: await tripsOf(() => chat.runs()),
  };
  expect(trips).toEqual({
    create: 1,
    append: 1,
    "append with a key": 1,
    "append from outside": 1,
    context: 1,
    "context at a node": 2,
    head: 1,
    history: 1,
    fork: 2,
    list: 1,
    runs: 1,
  });
  await holdfast.close();
});

test("a steady prompt of the agent loop is at most eight round trips", async () => {
  await rig.subject();
  await using holdfast = new Holdfast(await postgresStore({ pool: counted.pool }), "default");
  await holdfast.create({ id: "c" });
  await using agent = new Agent(holdfast, { model: new ScriptedModel([]), instructions: false });
  for (const words of ["hello", "and again"]) await agent.send("c", words);
  const sent = await counted.during(() => agent.send("c", "and once more"));
  expect(sent.length, sent.join("\n")).toBeLessThanOrEqual(8);
  expect((await (await holdfast.conversation("c")).context()).messages).toHaveLength(6);
});

test("a steady prompt to an agent elsewhere is at most eight round trips", async () => {
  await rig.subject();
  const store = await postgresStore({ pool: counted.pool });
  const host = await aRig({ open: () => store });
  await host.say("hello", "and again");
  const sent = await counted.during(() => host.send("and once more"));
  expect(sent.length, sent.join("\n")).toBeLessThanOrEqual(8);
  await store.close();
});
