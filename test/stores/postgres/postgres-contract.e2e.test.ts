/**
 * Goal: the whole contract holds on a real PostgreSQL, by functions and by statements, with partitions and over one connection.
 * Method: a throwaway loopback server; every case as data.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storeContract } from "#store/contract/store-contract";
import { conv, Rig, texts, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { openHoldfast } from "#index";
import { postgresStore } from "#stores/postgres/index";
import { STEPS } from "#stores/postgres/tables/migrations";
import { LOG_TABLES } from "#stores/postgres/tables/schema";
import { holdfastHere } from "../../edges/cli/cli-here.ts";
import { erasesAsModelled } from "../../support/erase-acts.ts";
import { readsAroundLostEntry } from "../../support/lost-entry.ts";
import { agreesWithModel } from "../../support/store-model.ts";
import { type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig(18);
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

describe("the postgres store, by its functions", () => {
  test.each(storeContract)("$group: $name", async (promise) => {
    await promise.run(await rig.subject());
  });
});

describe("the postgres store, by statements alone, in four partitions, over one connection, with row security", () => {
  const options = { schema: "statements", functions: false, partitions: 4, rowSecurity: true };
  let pool: Awaited<ReturnType<PostgresRig["plainPool"]>>;

  beforeAll(async () => {
    pool = await rig.plainPool(1);
  });

  afterAll(() => pool?.end());

  test.each(storeContract)("$group: $name", async (promise) => {
    await promise.run(await rig.subject({ ...options, pool }));
  });
});

test("what a store remembers of a log that others changed since refuses nothing and overwrites nothing", async () => {
  await using made = new Rig(await rig.subject());
  const [one, two] = [await made.space(), await made.space()];
  const outside = { author: { kind: "outside" } } as const;
  const usage = { inputTokens: 3, outputTokens: 4 };
  const content = [{ type: "text", text: "so" }] as const;
  const reply = { type: "message", message: { role: "assistant", content, usage, model: "m" } } as const;
  await made.create(one, "a", [user("one", "m1")]);
  // The totals that one knows are not those that it adds to.
  await made.append(two, "a", [{ type: "metadata", metadata: { topic: "x" } }], outside);
  await made.append(one, "a", [reply]);
  await made.append(two, "a", [reply, { type: "title", title: "T" }]);
  const { summary, title } = await one.head(conv("a"));
  expect([summary?.metadata, summary?.usage.inputTokens, title]).toEqual([{ topic: "x" }, 6, "T"]);
  // A lease that one does not know of, and one that it knows of and is over.
  const { epoch } = await one.acquire({ conversation: conv("a"), writer: "one", leaseMs: 0 });
  await two.renew({ conversation: conv("a"), writer: "two", epoch, leaseMs: 60_000 });
  await expect(made.append(one, "a", [user("no")])).rejects.toMatchObject({ code: "busy" });
  await two.renew({ conversation: conv("a"), epoch, leaseMs: 0 });
  const { lastId } = await made.append(one, "a", [user("now")]);
  // Another log under the same name.
  await two.erase(conv("a"));
  await made.create(two, "a", [user("anew", "n1")]);
  const about = made.append(one, "a", [{ type: "label", target: lastId, label: "x" }], outside);
  await expect(about).rejects.toMatchObject({ code: "unknown_target" });
  await made.append(one, "a", [{ type: "title", title: "of the new one" }], outside);
  await made.append(one, "a", [user("more")]);
  expect(await texts(two, "a")).toEqual(["anew", "more"]);
  expect(await two.check({ repair: false })).toEqual([]);
});

async function seqsOf(space: SpaceStore, id: string): Promise<readonly number[]> {
  return (await space.read({ conversation: conv(id), limit: 100_000 })).map(({ seq }) => seq);
}

test("16 writers on one conversation leave no gap, and each batch is there once", async () => {
  await using writers = new Rig(await rig.subject());
  const spaces = await Promise.all(upTo(16).map(() => writers.space()));
  const [first] = spaces;
  if (first === undefined) return;
  await writers.create(first, "hot", [user("one", "m1")]);
  const wrote = async (space: SpaceStore, name: number): Promise<void> => {
    for (const turn of upTo(6)) {
      const outside = name % 2 === 0;
      const label = { type: "label", target: "m1", label: `${name}/${turn}` } as const;
      await writers.append(space, "hot", outside ? [label, label] : [user(`${name}/${turn}`)], {
        author: { kind: outside ? "outside" : "once" },
        key: `${name}/${turn}`,
      });
    }
  };
  await Promise.all(spaces.map((space, name) => wrote(space, name)));
  expect(await seqsOf(first, "hot")).toEqual(upTo(2 + 8 * 6 * 2 + 8 * 6));
  expect(new Set(await texts(first, "hot")).size).toBe(1 + 8 * 6);
  expect(await first.check({ repair: false })).toEqual([]);
});

test("16 writers over 1,000 conversations leave no gap", async () => {
  await using writers = new Rig(await rig.subject());
  const spaces = await Promise.all(upTo(16).map(() => writers.space()));
  const names = upTo(1_000).map((n) => `c${n}`);
  await Promise.all(
    spaces.map(async (space, at) => {
      for (const name of names.filter((_, n) => n % 16 === at)) await writers.create(space, name);
    }),
  );
  // Each conversation is written to by two of them, and by what one knows of it the other is overtaken.
  await Promise.all(
    spaces.map(async (space, at) => {
      for (const name of names.filter((_, n) => n % 16 === at || (n + 1) % 16 === at))
        await writers.append(space, name, [user(`of ${at}`)]);
    }),
  );
  const { rows } = await rig.pool.query(
    "select count(*)::int as logs, min(n)::int as fewest, max(n)::int as most, bool_and(n = last) as gapless from (select count(*) as n, max(seq) as last from holdfast.entries group by conversation) l",
  );
  expect(rows).toEqual([{ logs: 1_000, fewest: 3, most: 3, gapless: true }]);
});

test("agrees with the model after any history", async () => {
  await agreesWithModel(12, async (work) => work(await rig.subject()));
});

test("an erase changes nothing for the living and leaves nothing else", async () => {
  await erasesAsModelled(12, async (work) => {
    await using made = new Rig(await rig.subject());
    const visible = await work(made);
    const tables = ["conversations", ...LOG_TABLES].map(
      (name) => `select row_to_json(t)::text as row from holdfast.${name} t`,
    );
    const { rows } = await rig.pool.query<{ row: string }>(tables.join(" union all "));
    const words = rows.flatMap(({ row }) => row.match(/word\d{5}/g) ?? []);
    const blobs = await rig.pool.query<{ bytes: Buffer }>("select bytes from holdfast.blobs");
    words.push(...blobs.rows.map(({ bytes }) => bytes.toString()));
    expect(words.filter((found) => !visible.has(found))).toEqual([]);
  });
});

test("reads on after a lost row, and takes new entries", async () => {
  await using made = new Rig(await rig.subject());
  await readsAroundLostEntry(made, {
    appends: true,
    lose: () => rig.pool.query("delete from holdfast.entries where seq = 3"),
  });
});

test("sets an empty database up once, however many open it at the same time", async () => {
  const options = { url: `${rig.server.url}?schema=many`, connections: 1 };
  const stores = await Promise.all(Array.from({ length: 8 }, () => postgresStore(options)));
  const { rows } = await rig.pool.query("select version, oldest, functions from many.holdfast");
  expect(rows).toEqual([{ version: STEPS.length, oldest: 1, functions: true }]);
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

test("a power cut takes what was relaxed and not flushed yet: the cut is a real one", async () => {
  const lost: boolean[] = [];
  // The server may come to write it just before: then it is tried once more.
  for (let tries = 0; tries < 3 && !lost.includes(true); tries++) {
    await using made = new Rig(await rig.subject());
    const space = await made.space();
    await made.create(space, "a", [user("kept")]);
    await made.append(space, "a", [{ type: "update", data: "…" }]);
    await made.cutPower();
    lost.push((await (await made.space()).head(conv("a"))).headSeq === 2);
  }
  expect(lost).toContain(true);
});
