/**
 * Goal: what a store in PostgreSQL costs is bounded: round trips of a verb and of a prompt, rows that a search looks at.
 * Method: a throwaway loopback server behind a pool that notes every statement.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/index";
import { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { postgresStore } from "#stores/postgres/index";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { aRig } from "../../upstream/rig.ts";
import { type CountedPool, countedPool } from "../../support/counted-pool.ts";
import { poolOf, type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";

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

test("a connection of its own keeps the statements of verbs parsed, by a name for each", async () => {
  await rig.subject();
  const pool = poolOf(rig.server.direct, 1);
  const holdfast = new Holdfast(await postgresStore({ pool }), "default");
  const chat = await holdfast.create({ id: "a", entries: [said("one")] });
  const prepared = async (): Promise<readonly unknown[]> =>
    (await pool.query("select name from pg_prepared_statements order by name")).rows;
  const verbs = async (): Promise<void> => {
    await chat.append(said("two"));
    await chat.context();
    await chat.head();
  };
  await verbs();
  const once = await prepared();
  await verbs();
  expect(once).toHaveLength(3);
  expect(await prepared()).toEqual(once);
  await holdfast.close();
  await pool.end();
});

test("a steady prompt of the agent loop is at most eight round trips", async () => {
  await rig.subject();
  await using holdfast = new Holdfast(await postgresStore({ pool: counted.pool }), "default");
  await holdfast.create({ id: "c" });
  await using agent = new Agent(holdfast, { model: new ScriptedModel([]), instructions: false });
  for (const words of ["hello", "and again"]) await agent.send("c", words);
  const sent = await counted.during(() => agent.send("c", "and once more"));
  expect(sent.length, sent.map(({ text }) => text).join("\n")).toBeLessThanOrEqual(8);
  expect((await (await holdfast.conversation("c")).context()).messages).toHaveLength(6);
});

test("a steady prompt to an agent elsewhere is at most eight round trips", async () => {
  await rig.subject();
  const store = await postgresStore({ pool: counted.pool });
  const host = await aRig({ open: () => store });
  await host.say("hello", "and again");
  const sent = await counted.during(() => host.send("and once more"));
  expect(sent.length, sent.map(({ text }) => text).join("\n")).toBeLessThanOrEqual(8);
  await store.close();
});

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows of a table a plan went through. */
function rowsOf(table: string, node: PlanNode): number {
  const { Plans: below = [], "Actual Loops": loops, "Rows Removed by Filter": removed = 0 } = node;
  const own = node["Relation Name"] === table ? (node["Actual Rows"] + removed) * loops : 0;
  return below.reduce((sum, one) => sum + rowsOf(table, one), own);
}

/** Rows of a table that are looked at by all statements that a piece of work sends, each asked once more for how it was done. */
async function rowsReadBy(table: string, work: () => Promise<unknown>): Promise<number> {
  let rows = 0;
  for (const { text, values } of await counted.during(work)) {
    const { rows: plans } = await rig.pool.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) ${text}`,
      values,
    );
    rows += rowsOf(table, plans[0]?.["QUERY PLAN"][0].Plan ?? expect.unreachable());
  }
  return rows;
}

test("a context reads its window, however much there is besides, also once the server has counted its rows", async () => {
  await rig.subject({ schema: "counted", functions: false });
  const options = { pool: counted.pool, schema: "counted", functions: false };
  await using holdfast = new Holdfast(await postgresStore(options), "default");
  const reads = async (): Promise<readonly number[]> => {
    await rig.pool.query("vacuum analyze counted.entries");
    const chat = await holdfast.conversation("small");
    return [
      await rowsReadBy("entries", () => chat.context()),
      await rowsReadBy("entries", () => chat.history({ limit: 20 })),
    ];
  };
  const many = (count: number): readonly EntryBody[] => Array.from({ length: count }, (_, n) => said(`${n}`));
  await holdfast.create({ id: "small", entries: [...many(40), { type: "reset" }, ...many(9)] });
  await reads();
  for (const id of ["one", "other"]) await holdfast.create({ id, entries: many(6_000) });
  const [context = 0, history = 0] = await reads();
  expect([context < 200, history < 100], `${context} and ${history} rows`).toEqual([true, true]);
});

test("a search looks at what changed since the last one, however many conversations there are", async () => {
  await rig.subject();
  const store = await postgresStore({ pool: counted.pool });
  const holdfast = new Holdfast(store, "default");
  const find = (): Promise<unknown> => holdfast.search("needle");
  const chat = await holdfast.create({ id: "a", entries: [said("a needle in it")] });
  for (let n = 0; n < 30; n++) await holdfast.create({ id: `b${n}`, entries: [said("hay")] });
  expect(await find()).toHaveLength(1);
  const reads = async (): Promise<readonly number[]> => {
    await rig.pool.query("vacuum analyze holdfast.conversations");
    const unchanged = await rowsReadBy("conversations", find);
    await chat.append(said("another needle"));
    return [unchanged, await tripsOf(find)];
  };
  const [fewRows = 0, fewTrips = 0] = await reads();
  // As many more as a space has in years, all of them known to the index.
  const { rows } = await rig.pool.query<{ names: string }>(
    "select string_agg(column_name, ', ') as names from information_schema.columns where table_schema = 'holdfast' and table_name = 'conversations' and column_name <> 'id'",
  );
  const names = rows[0]?.names ?? "";
  await rig.pool.query(
    `insert into holdfast.conversations (id, ${names}) select 'c' || n, ${names} from holdfast.conversations, generate_series(1, 5000) n where id = 'b1'`,
  );
  const [rowsRead = 0, trips = 0] = await reads();
  expect(rowsRead, `rows of 5,031 heads, of 31 ${fewRows}`).toBeLessThanOrEqual(fewRows);
  expect(trips).toBe(fewTrips);
  expect(await find()).toHaveLength(3);
  await holdfast.close();
});

test("a search in one conversation takes in its words alone, and searches at once take in those of a space once", async () => {
  await rig.subject();
  const holdfast = new Holdfast(await postgresStore({ pool: counted.pool }), "default");
  for (let n = 0; n < 30; n++) await holdfast.create({ id: `c${n}`, entries: [said("a needle")] });
  const find = (conversation?: string): Promise<readonly unknown[]> =>
    holdfast.search("needle", { limit: 100, ...(conversation === undefined ? {} : { conversation }) });
  const inOne = await counted.during(async () => expect(await find("c7")).toHaveLength(1));
  expect(inOne.length, inOne.map(({ text }) => text).join("\n")).toBeLessThanOrEqual(7);
  const atOnce = await counted.during(async () => {
    for (const found of await Promise.all(Array.from({ length: 5 }, () => find())))
      expect(found).toHaveLength(30);
  });
  expect(atOnce.filter(({ text }) => text.includes("insert into holdfast.search "))).toHaveLength(29);
  await holdfast.close();
});

test("a search waits for no writer, and no writer waits for it", async () => {
  await rig.subject();
  const holdfast = new Holdfast(await postgresStore({ pool: rig.pool }), "default");
  const chat = await holdfast.create({ id: "a", entries: [said("a needle")] });
  const gate = await rig.direct.connect();
  await gate.query("begin; update holdfast.conversations set title = 'held' where id = 'a'");
  expect(await holdfast.search("needle")).toHaveLength(1);
  await gate.query("commit");
  gate.release();
  const { rows } = await rig.pool.query("select indexed_seq from holdfast.conversations");
  expect(rows).toEqual([{ indexed_seq: null }]);
  await chat.append(said("a second needle"));
  expect(await holdfast.search("needle")).toHaveLength(2);
  await holdfast.close();
});

test("twenty tails cost an append of their store nothing, and each has every entry", async () => {
  await rig.subject();
  const holdfast = new Holdfast(await postgresStore({ pool: counted.pool, pollMs: 3_600_000 }), "default");
  const chat = await holdfast.create({ id: "a" });
  const stop = new AbortController();
  const heard = Array.from({ length: 20 }, () => 0);
  let wake = (): void => undefined;
  const tails = heard.map(async (_, nth) => {
    for await (const { seq } of chat.tail({ signal: stop.signal })) {
      heard[nth] = seq;
      wake();
    }
  });
  const allHave = async (seq: number): Promise<void> => {
    while (heard.some((one) => one < seq)) await new Promise<void>((resolve) => (wake = resolve));
  };
  await chat.append(said("first"));
  await allHave(2);
  const trips = await tripsOf(async () => {
    for (let seq = 3; seq <= 12; seq++) {
      await chat.append(said("more"));
      await allHave(seq);
    }
  });
  expect(trips).toBe(10);
  stop.abort();
  await Promise.all(tails);
  await holdfast.close();
});
