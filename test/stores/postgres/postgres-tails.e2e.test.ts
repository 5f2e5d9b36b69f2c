/**
 * Goal: tails are woken before they look where a store listens, appends pay nothing for it, and nothing counts on it.
 * Method: a throwaway loopback server; tails that look once an hour, and tails whose hints are lost.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { conv, readTail, Rig, user } from "#store/contract/rig";
import { postgresStore, type PostgresStoreOptions } from "#stores/postgres/index";
import { HANG_MS } from "../../support/hang.ts";
import { type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";
import { rewrittenPool } from "../../support/rewritten-pool.ts";

const HOUR_MS = 3_600_000;
const LISTENERS =
  "select pid from pg_stat_activity where application_name = 'holdfast listen' and datname = current_database()";

let rig: PostgresRig;
let plain: Awaited<ReturnType<PostgresRig["plainPool"]>>;

beforeAll(async () => {
  rig = await postgresRig();
  plain = await rig.plainPool(8);
});

afterAll(async () => {
  await plain?.end();
  await rig?.[Symbol.asyncDispose]();
});

function rigWith(options: PostgresStoreOptions): Rig {
  return new Rig({ open: () => postgresStore({ pool: rig.pool, ...options }) });
}

/** Until a tail has said at which head it waits. */
async function saidAt(schema: string, seq: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await rig.pool.query(`select wake_seq::int from ${schema}.conversations`);
      expect(rows).toEqual([{ wake_seq: seq }]);
    },
    { timeout: HANG_MS },
  );
}

describe.each([
  { name: "by functions", schema: "by_functions" },
  { name: "by statements", schema: "by_statements", functions: false },
  { name: "by functions, with row security", schema: "by_fenced", rowSecurity: true },
  { name: "by statements, with row security", schema: "by_plain", functions: false, rowSecurity: true },
])("a tail that looks once an hour, $name,", ({ name: _, ...options }) => {
  test("is told of what another process has written, each time", async () => {
    await using writers = rigWith({ ...options, pool: plain });
    const space = await writers.space("one");
    await writers.create(space, "a");
    await using readers = rigWith({ ...options, pool: plain, listen: rig.server.direct, pollMs: HOUR_MS });
    const reader = await readers.space("one");
    for (let seq = 1; seq <= 10; seq++) {
      const next = readTail(reader, "a", seq, 1);
      await saidAt(options.schema, seq);
      await writers.append(space, "a", [user(`${seq}`)]);
      expect(await next).toMatchObject([{ seq: seq + 1 }]);
    }
  });
});

test("an append is one round trip as before, and what was told of goes apart, a burst in few", async () => {
  await rig.subject();
  const sent: string[] = [];
  const pool = rewrittenPool(rig.pool, (text) => {
    sent.push(text);
    return text;
  });
  await using writers = rigWith({ pool });
  const space = await writers.space();
  await writers.create(space, "a");
  sent.length = 0;
  for (let turn = 0; turn < 5; turn++) await writers.append(space, "a", [user("unheard")]);
  expect(sent).toHaveLength(5);
  await using readers = rigWith({ listen: rig.server.direct, pollMs: HOUR_MS });
  const reader = await readers.space();
  const next = readTail(reader, "a", 6, 40);
  await saidAt("holdfast", 6);
  sent.length = 0;
  for (let turn = 0; turn < 40; turn++) await writers.append(space, "a", [user("heard")]);
  expect(await next).toHaveLength(40);
  expect(sent.filter((text) => text.includes("append_"))).toHaveLength(40);
  const hints = sent.filter((text) => text.includes("pg_notify")).length;
  expect(hints).toBeGreaterThan(0);
  expect(hints).toBeLessThan(40);
});

describe("hints that are lost", () => {
  test("cost nothing but the time until the next look: behind a pooler nothing is ever heard", async () => {
    await rig.subject();
    await using writers = rigWith({});
    const space = await writers.space();
    await writers.create(space, "a");
    // Another database listens, and hears nothing of this one.
    const deaf = rig.server.url.replace(/postgres$/, "template1");
    for (const listen of [deaf, rig.server.url.replace(/:\d+\//, ":1/")]) {
      await using readers = rigWith({ listen, pollMs: 20 });
      const { headSeq } = await space.head(conv("a"));
      const next = readTail(await readers.space(), "a", headSeq, 1);
      if (listen === deaf) await saidAt("holdfast", headSeq);
      await writers.append(space, "a", [user("one")]);
      expect(await next).toMatchObject([{ seq: headSeq + 1 }]);
    }
  });

  test("come again after their connection was lost, and it is given back in the end", async () => {
    await rig.subject();
    await using writers = rigWith({});
    const space = await writers.space();
    await writers.create(space, "a");
    {
      await using readers = rigWith({ listen: rig.server.direct, pollMs: HOUR_MS });
      const next = readTail(await readers.space(), "a", 1, 1);
      await saidAt("holdfast", 1);
      const [before] = (await rig.pool.query<{ pid: number }>(LISTENERS)).rows;
      await rig.pool.query("update holdfast.conversations set wake_seq = null");
      await rig.pool.query("select pg_terminate_backend($1)", [before?.pid]);
      await saidAt("holdfast", 1); // once more, since nobody knows what was missed
      await writers.append(space, "a", [user("one")]);
      expect(await next).toMatchObject([{ seq: 2 }]);
    }
    await expect.poll(async () => (await rig.pool.query(LISTENERS)).rows).toEqual([]);
  });
});

test("a store over a pool says that it needs an address to listen at", async () => {
  const opening = postgresStore({ pool: rig.pool, listen: true });
  await expect(opening).rejects.toMatchObject({ code: "invalid_request" });
});
