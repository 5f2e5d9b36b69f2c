/**
 * Goal: the tables are created and upgraded whole or not at all, while nodes of the version before go on writing.
 * Method: on a throwaway loopback server, the steps that there are and one more, which adds a column.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { parseSpaceId } from "#log/ids";
import { user } from "#store/contract/rig";
import { Db, SqlTexts } from "#stores/postgres/db";
import { openConnections } from "#stores/postgres/connections";
import { type PgPool, postgresStore } from "#stores/postgres/index";
import { migrateSchema, STEPS } from "#stores/postgres/tables/migrations";
import { poolOf, type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";

const VERSION = "select version, oldest, functions from older.holdfast";
const COLUMN =
  "select column_name from information_schema.columns where table_schema = 'older' and column_name = 'later'";
const NEXT = [...STEPS, () => ["alter table @.conversations add column later int8"]];

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig();
});

beforeEach(async () => {
  await rig.pool.query("drop schema if exists older cascade");
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

/** Upgrades the schema as a node of the next version does. */
async function upgrade(pool: PgPool): Promise<void> {
  const connections = await openConnections(pool, {
    url: "",
    connections: 1,
    connectMs: 9_999,
    queryMs: 9_999,
  });
  const texts = new SqlTexts("older", true);
  const db = new Db(connections, { texts, place: "here", fenced: false, space: null, tries: 1 });
  await migrateSchema(db, { partitions: 0, functions: true, rowSecurity: false }, NEXT);
}

/** What comes before the statement that a text is part of is sent; that one fails. */
function failingAt(text: string): PgPool {
  const pool = poolOf(rig.server.url, 1);
  const fails = <C extends { readonly text: string }, R>(send: (config: C) => Promise<R>) => {
    return async (config: C): Promise<R> => {
      if (config.text.includes(text)) throw Object.assign(new Error("injected"), { code: "57014" });
      return send(config);
    };
  };
  return {
    query: fails((config) => pool.query(config)),
    connect: async () => {
      const client = await pool.connect();
      return {
        query: fails((config) => client.query(config)),
        release: (destroy) => client.release(destroy),
      };
    },
    end: () => pool.end(),
  };
}

test("a store for reading only reads an older schema as it is, without functions that it may lack", async () => {
  const options = { pool: rig.pool, schema: "older" };
  {
    await using holdfast = new Holdfast(await postgresStore(options), "default");
    await holdfast.create({ id: "a", entries: [user("first words")] });
  }
  await rig.pool.query("update older.holdfast set version = 0; drop function older.window_1, older.entry_1");
  await using holdfast = new Holdfast(await postgresStore({ ...options, readOnly: true }), "default");
  const chat = await holdfast.conversation("a");
  expect((await chat.context()).messages).toHaveLength(1);
  expect(await Array.fromAsync(holdfast.list())).toHaveLength(1);
  expect((await rig.pool.query(VERSION)).rows).toMatchObject([{ version: 0 }]);
});

test.each(["insert into older.holdfast", "commit"])(
  "tables whose creation fails at its %s are not there, and the next open creates them",
  async (text) => {
    const pool = failingAt(text);
    await expect(postgresStore({ pool, schema: "older" })).rejects.toMatchObject({
      code: expect.any(String),
    });
    await pool.end();
    const { rows } = await rig.pool.query("select to_regclass('older.conversations') as made");
    expect(rows).toEqual([{ made: null }]);
    await (await postgresStore({ pool: rig.pool, schema: "older" })).close();
    expect((await rig.pool.query(VERSION)).rows).toEqual([
      { version: STEPS.length, oldest: 1, functions: true },
    ]);
  },
);

test.each(["insert into older.holdfast", "commit"])(
  "an upgrade that fails at its %s leaves the schema as it was, and the next one finishes it",
  async (text) => {
    await (await postgresStore({ pool: rig.pool, schema: "older" })).close();
    const pool = failingAt(text);
    await expect(upgrade(pool)).rejects.toMatchObject({ code: "57014" });
    await pool.end();
    expect((await rig.pool.query(VERSION)).rows).toEqual([
      { version: STEPS.length, oldest: 1, functions: true },
    ]);
    expect((await rig.pool.query(COLUMN)).rows).toEqual([]);
    await upgrade(rig.pool);
    expect((await rig.pool.query(VERSION)).rows).toEqual([
      { version: NEXT.length, oldest: 1, functions: true },
    ]);
    expect((await rig.pool.query(COLUMN)).rows).toHaveLength(1);
  },
);

test("nodes of the version before write on while the schema is upgraded, and after", async () => {
  // As behind a pooler: each node has one connection, which others have before and after it.
  const one = poolOf(rig.server.url, 1);
  const store = await postgresStore({ pool: one, schema: "older" });
  const holdfast = new Holdfast(store, parseSpaceId("default"));
  const chat = await holdfast.create({ id: "a" });
  let written = 0;
  const stop = new AbortController();
  const writing = (async () => {
    for (; !stop.signal.aborted || written < 20; written++) await chat.append(user(`words ${written}`));
  })();
  const others = Array.from({ length: 3 }, () => poolOf(rig.server.url, 1));
  await Promise.all(others.map((pool) => upgrade(pool)));
  stop.abort();
  await writing;
  const late = await postgresStore({ pool: rig.pool, schema: "older" });
  const later = new Holdfast(late, parseSpaceId("default"));
  await (await later.conversation("a")).append(user("a needle of after"));
  expect((await chat.context()).messages).toHaveLength(written + 1);
  expect(await holdfast.search("needle")).toHaveLength(1);
  expect(await holdfast.check({ repair: false })).toEqual([]);
  expect((await rig.pool.query(VERSION)).rows).toMatchObject([{ version: NEXT.length }]);
  await Promise.all([store.close(), late.close()]);
  await Promise.all([one, ...others].map((pool) => pool.end()));
});
