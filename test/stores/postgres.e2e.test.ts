/**
 * Goal: the whole contract holds on a real PostgreSQL, by functions and by statements, with partitions and over one connection.
 * Method: a throwaway loopback server; every case as data.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storeContract } from "#store/contract/index";
import { openHoldfast } from "#index";
import { postgresStore } from "#stores/postgres/index";
import { holdfastHere } from "../edges/cli-here.ts";
import { poolOf, type PostgresRig, postgresRig } from "../support/postgres-subject.ts";

const cases = storeContract.filter((promise) => promise.needsPowerCut !== true);

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig();
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

describe("the postgres store, by its functions", () => {
  test.each(cases)("$group: $name", async (promise) => {
    await promise.run(await rig.subject());
  });
});

describe("the postgres store, by statements alone, in four partitions, over one connection", () => {
  const options = { schema: "statements", functions: false, partitions: 4 };
  // Size is the same question either way, and a third of the time.
  const small = cases.filter(({ group }) => group !== "large");
  let pool: ReturnType<typeof poolOf>;

  beforeAll(() => {
    pool = poolOf(rig.server.url, 1);
  });

  afterAll(() => pool?.end());

  test.each(small)("$group: $name", async (promise) => {
    await promise.run(await rig.subject({ ...options, pool }));
  });
});

test("sets an empty database up once, however many open it at the same time", async () => {
  const options = { url: `${rig.server.url}?schema=many`, connections: 1 };
  const stores = await Promise.all(Array.from({ length: 8 }, () => postgresStore(options)));
  const { rows } = await rig.pool.query("select version, oldest, functions from many.holdfast");
  expect(rows).toEqual([{ version: 1, oldest: 1, functions: true }]);
  await Promise.all(stores.map((store) => store.close()));
});

test("a newer schema is left alone, unless it says that this version may use it", async () => {
  const options = { pool: rig.pool, schema: "newer" };
  await (await postgresStore(options)).close();
  await rig.pool.query("update newer.holdfast set version = 9");
  await (await postgresStore(options)).close();
  await rig.pool.query("update newer.holdfast set oldest = 9");
  await expect(postgresStore(options)).rejects.toMatchObject({ code: "unsupported_version" });
});

test("a store for reading only makes nothing and writes nothing", async () => {
  const options = { pool: rig.pool, schema: "unread", readOnly: true };
  await expect(postgresStore(options)).rejects.toMatchObject({ code: "store_gone" });
  await (await postgresStore({ pool: rig.pool, schema: "unread" })).close();
  await using holdfast = await openHoldfast({ store: await postgresStore(options) });
  await expect(holdfast.create({ id: "a" })).rejects.toMatchObject({ code: "read_only" });
});

test("the command line works on an address, and prints no password", async () => {
  const address = `${rig.server.url}?schema=cli`;
  const printed: string[] = [];
  const run = async (store: string, ...args: readonly string[]): Promise<number | null> => {
    const { status, out, err } = await holdfastHere(store, args);
    printed.push(out, err);
    return status;
  };
  expect(await run(address, "ls")).toBe(0);
  expect(printed.join("")).toContain("No conversations yet");
  expect(await run(address, "new", "--id", "chat")).toBe(0);
  for (const args of [["ls", "--json"], ["log", "chat"], ["doctor"], ["doctor", "--json"]])
    expect(await run(address, ...args)).toBe(0);
  expect(await run(address, "backup", "somewhere")).toBe(2);
  expect(await run(address, "backup", "sqlite:somewhere")).toBe(2);
  expect(await run(`${rig.server.url}x`, "ls")).toBe(5);
  expect(await run(rig.server.url.replace("postgres://", "postgress://"), "ls")).toBe(2);
  expect(await run(`${rig.server.url}?schema=No-Such`, "ls")).toBe(2);
  expect(await run("postgres://me:loopback@127.0.0.1:1/none", "ls")).toBe(5);
  expect(await run("postgres://me:loop/back@127.0.0.1/none:x", "doctor", "--json")).not.toBe(0);
  expect(printed.join("\n")).not.toMatch(/loopback|loop\/back/);
});
