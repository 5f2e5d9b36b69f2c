/**
 * Goal: an older schema is brought up to date whole or not at all, while nodes of the version before go on writing.
 * Method: version 1 as it was recorded, on a throwaway loopback server; a writer that calls the functions of that version.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { conv, user } from "#store/contract/rig";
import { parseSpaceId } from "#log/ids";
import { type PgPool, postgresStore } from "#stores/postgres/index";
import { poolOf, type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";
import type { Pool } from "pg";
import { entryDigest } from "#log/batch-links";
import { FORMAT_VERSION } from "#log/entry";
import { typeNumber } from "#log/entry-types";
import { summaryAfter } from "#log/plans/head-change";
import { planAppend } from "#log/plans/plan-append";
import { prepare, systemIdsAndTime } from "#store/prepare";
import { sha256 } from "#store/sha256";
import { readState, summaryOut } from "#stores/postgres/tables/pg-rows";

const CALL = `select verdict from older.append_1(${Array.from({ length: 38 }, (_, at) => `$${at + 1}`).join(", ")})`;

/** Appends as a node of schema version 1 does, by the function of that version; says what it was told. */
async function appendAsOlder(pool: Pool, id: string, text: string): Promise<string> {
  const { rows } = await pool.query<{ state: string }>(
    "select row_to_json(c)::text as state from older.conversations c where space = 'default' and id = $1",
    [id],
  );
  const { head, lease, born, summarySeq } = readState(rows[0]?.state ?? "");
  const prepared = prepare([user(text)], systemIdsAndTime);
  const author = { kind: "once" } as const;
  const nothing = { seen: null, known: new Map(), settings: new Map(), kept: new Map() };
  const plan = planAppend({ head, lease, nowMs: 0, ...nothing }, { author, ...prepared });
  if (plan.kind !== "write") throw new Error(`planned as ${plan.kind}`);
  const { entries, basis, change } = plan;
  const { leaf } = change;
  const summary = summaryAfter(head, change);
  const changed = summary !== head.summary;
  const withLength = (part: string): string => `${Buffer.byteLength(part)}:${part}`;
  const linked = entries.flatMap((entry) => [entry.parentId ?? "", entryDigest(sha256, entry)]);
  const columns: readonly unknown[] = [
    entries.map((entry) => entry.id),
    entries.map(({ type }) => type),
    entries.map(({ time }) => time),
    entries.map(({ parentId }) => parentId),
    entries.map(({ place }) => place?.segment ?? null),
    entries.map(({ place }) => place?.depth ?? null),
  ];
  const kinds = entries.map(({ type }) => typeNumber(type));
  const payloads = entries.map(({ payload }) => payload).join("\u001e");
  const batch = [
    "default",
    id,
    null,
    "",
    ...columns,
    kinds,
    payloads,
    FORMAT_VERSION,
    change.byOwner,
    null,
    false,
  ];
  const rests = [
    born,
    basis?.epoch,
    basis?.ownerSeq,
    basis?.ownerLink,
    true,
    changed ? summarySeq : null,
    null,
  ];
  const place = [
    change.epoch,
    leaf?.id,
    null,
    leaf?.segment,
    leaf?.depth,
    leaf?.tip,
    change.segments,
    null,
    null,
  ];
  const words = [change.updatedAt, changed ? summaryOut(summary) : null, withLength(String(FORMAT_VERSION))];
  const end = [["owner", ...linked].map(withLength).join(""), null, head.headSeq];
  const answer = await pool.query<{ verdict: string }>(CALL, [
    ...batch,
    ...rests,
    ...place,
    ...words,
    ...end,
  ]);
  return answer.rows[0]?.verdict ?? "";
}

const FIRST = readFileSync(join(import.meta.dirname, "../../compat/postgres-schema-1.sql"), "utf8");
const VERSION = "select version, oldest, functions from older.holdfast";

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig();
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

/** Tables of version 1 with one conversation, of the rows that the store writes today. */
async function makeOlder(): Promise<void> {
  const { pool } = rig;
  await pool.query("drop schema if exists older cascade; create schema older");
  await pool.query(FIRST.replaceAll("@.", "older."));
  await rig.subject();
  await using holdfast = new Holdfast(await postgresStore({ pool }), "default");
  await holdfast.create({ id: "a", entries: [user("first words")] });
  for (const table of ["conversations", "entries", "segments"]) {
    const { rows } = await pool.query<{ names: string }>(
      "select string_agg(column_name, ', ' order by ordinal_position) as names from information_schema.columns where table_schema = 'older' and table_name = $1",
      [table],
    );
    const names = rows[0]?.names ?? "";
    await pool.query(`insert into older.${table} (${names}) select ${names} from holdfast.${table}`);
  }
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

test("a store for reading only reads an older schema as it is", async () => {
  await makeOlder();
  const options = { pool: rig.pool, schema: "older", readOnly: true };
  await using holdfast = new Holdfast(await postgresStore(options), "default");
  const chat = await holdfast.conversation("a");
  expect((await chat.context()).messages).toHaveLength(1);
  expect(await Array.fromAsync(holdfast.list())).toHaveLength(1);
  expect((await rig.pool.query(VERSION)).rows).toMatchObject([{ version: 1 }]);
});

test.each(["insert into older.holdfast", "commit"])(
  "an upgrade that fails at its %s leaves the schema as it was, and the next one finishes it",
  async (text) => {
    await makeOlder();
    const pool = failingAt(text);
    await expect(postgresStore({ pool, schema: "older" })).rejects.toMatchObject({
      code: expect.any(String),
    });
    await pool.end();
    expect((await rig.pool.query(VERSION)).rows).toEqual([{ version: 1, oldest: 1, functions: true }]);
    const { rows } = await rig.pool.query("select to_regproc('older.append_2') as later");
    expect(rows).toEqual([{ later: null }]);
    expect(await appendAsOlder(rig.pool, "a", "still there")).toBe("written");
    await (await postgresStore({ pool: rig.pool, schema: "older" })).close();
    expect((await rig.pool.query(VERSION)).rows).toMatchObject([{ oldest: 1, functions: true }]);
  },
);

test("nodes of the version before write on while the schema is brought up to date, and after", async () => {
  await makeOlder();
  const older = poolOf(rig.server.url, 2);
  const verdicts: string[] = [];
  const stop = new AbortController();
  const writing = (async () => {
    for (let n = 0; !stop.signal.aborted || n < 20; n++)
      verdicts.push(await appendAsOlder(older, "a", `older ${n}`));
  })();
  // As behind a pooler: each node has one connection, which others have before and after it.
  const one = poolOf(rig.server.url, 1);
  const stores = await Promise.all([1, 2, 3].map(() => postgresStore({ pool: one, schema: "older" })));
  const space = parseSpaceId("default");
  const newer = stores.map((store) => new Holdfast(store, space));
  for (let n = 0; n < 10; n++)
    for (const [at, holdfast] of newer.entries())
      await (await holdfast.conversation("a")).append(user(`newer ${at} ${n}`));
  stop.abort();
  await writing;
  const written = verdicts.filter((verdict) => verdict === "written").length;
  expect(new Set(verdicts).difference(new Set(["written", "stale"]))).toEqual(new Set());
  expect(written).toBeGreaterThan(0);
  const [holdfast] = newer;
  if (holdfast === undefined) return;
  const chat = await holdfast.conversation("a");
  expect((await chat.context()).messages).toHaveLength(1 + written + 30);
  expect(await holdfast.space.check({ repair: false })).toEqual([]);
  // What a node of the version before writes is found by a search of this one.
  await holdfast.search("older");
  expect(await appendAsOlder(older, "a", "a needle of before")).toBe("written");
  expect(await holdfast.search("needle")).toHaveLength(1);
  expect((await holdfast.space.head(conv("a"))).headSeq).toBe((await chat.head()).headSeq);
  for (const store of stores) await store.close();
  await Promise.all([older.end(), one.end()]);
});
