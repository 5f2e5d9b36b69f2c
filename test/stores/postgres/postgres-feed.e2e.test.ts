/**
 * Goal: whoever follows a log misses nothing and sees nothing that did not happen, whatever writers do with their transactions, and how
 * a server is doing is told. Method: a pool whose transactions commit, or are rolled back, when the test says so; tails beside it.
 */
import type { PgClient } from "#stores/postgres/connections";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { conv, Rig, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { type PgPool, postgresStore } from "#stores/postgres/index";
import { SCHEMA_VERSION } from "#stores/postgres/tables/migrations";
import { holdfastHere } from "../../edges/cli/cli-here.ts";
import { HANG_MS } from "../../support/hang.ts";
import { poolOf, type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig();
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

/** Appends are done in transactions that stay open until they are told how to end. */
function slowPool(): PgPool & { readonly open: ((end: "commit" | "rollback") => void)[] } {
  const open: ((end: "commit" | "rollback") => void)[] = [];
  return {
    open,
    async query(config) {
      if (!config.text.includes("append_")) return (rig.direct as PgPool).query(config);
      const client = await rig.direct.connect();
      try {
        await client.query("begin");
        const result = await (client as PgClient).query(config);
        const end = await new Promise<"commit" | "rollback">((resolve) => void open.push(resolve));
        await client.query(end);
        if (end === "commit") return result;
        throw Object.assign(new Error("rolled back"), { code: "23000" });
      } finally {
        client.release();
      }
    },
    connect: () => rig.direct.connect(),
    end: async () => undefined,
  };
}

/** The seqs that a reader is given, as they come. */
function follow(space: SpaceStore, id: string): { readonly seqs: number[]; stop(): Promise<void> } {
  const [seqs, over] = [[] as number[], new AbortController()];
  const reading = (async () => {
    for await (const { seq } of space.tail({ conversation: conv(id), after: 0, signal: over.signal }))
      seqs.push(seq);
  })();
  return { seqs, stop: () => (over.abort(), reading) };
}

const LOCKED = "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock'";

test("20: a reader beside slow, rolled back and idle writers is given every entry once and in order, and none that was not committed", async () => {
  await using made = new Rig(await rig.subject());
  const pool = slowPool();
  const space = await made.space();
  for (const id of ["a", "b"]) await made.create(space, id, [user("one")]);
  const [onA, onB] = [follow(space, "a"), follow(space, "b")];
  const heard = (seqs: number[], last: number): Promise<void> =>
    vi.waitFor(() => expect(seqs.at(-1)).toBe(last), { timeout: HANG_MS });
  let last = 2;
  for (const end of ["commit", "rollback", "commit"] as const) {
    await Promise.all([heard(onA.seqs, last), heard(onB.seqs, last)]);
    // One that remembers nothing: what is planned from an older head is not written at the first try.
    await using slowly = new Rig({ open: () => postgresStore({ pool }) });
    const slow = await slowly.space();
    const late = made.append(slow, "a", [user("late"), user("later")]).catch((error: unknown) => error);
    await vi.waitFor(() => expect(pool.open).toHaveLength(1), { timeout: HANG_MS });
    // Whoever writes to the same log comes behind it; other logs and their readers do not notice.
    const behind = made.append(space, "a", [user("behind")]);
    await vi.waitFor(async () => expect((await rig.direct.query(LOCKED)).rows).toEqual([{ n: 1 }]), {
      timeout: HANG_MS,
    });
    await made.append(
      space,
      "b",
      Array.from({ length: end === "commit" ? 3 : 1 }, () => user("beside")),
    );
    const [from, beside] = [last, end === "commit" ? last + 3 : last + 1];
    await heard(onB.seqs, beside);
    expect(onA.seqs.at(-1)).toBe(from);
    pool.open.shift()?.(end);
    expect((await late) instanceof Error).toBe(end === "rollback");
    last = (await behind).toSeq;
    expect(last).toBe(beside);
  }
  await Promise.all([heard(onA.seqs, last), heard(onB.seqs, last)]);
  const all = Array.from({ length: last }, (_, at) => at + 1);
  expect([onA.seqs, onB.seqs]).toEqual([all, all]);
  await Promise.all([onA.stop(), onB.stop()]);
});

test("20: a writer that goes idle in its transaction is told of: those behind it are told busy where the server sets a limit, and health says for how long", async () => {
  await using made = new Rig(await rig.subject());
  const space = await made.space();
  await made.create(space, "a", [user("one")]);
  const gate = await rig.direct.connect();
  await gate.query("begin; select from holdfast.conversations where id = 'a' for update");
  const hurried = new pg.Pool({ connectionString: `${rig.server.direct}?options=-c%20lock_timeout%3D50ms` });
  const store = await postgresStore({ pool: hurried });
  await using behind = new Rig({ open: async () => store });
  const late = await behind.space();
  const waiting = made.append(late, "a", [user("two")]);
  await expect(waiting).rejects.toMatchObject({ code: "busy" });
  const health = await store.health?.();
  expect(health).toMatchObject({ reachable: true, problem: null, role: "primary" });
  expect(health?.idleTransactionMs).toBeGreaterThan(100);
  await gate.query("rollback");
  gate.release();
  expect((await store.health?.())?.idleTransactionMs).toBe(0);
  await made.append(late, "a", [user("two")]);
  await store.close();
  await hurried.end();
});

test("health tells version, clock and connections, and answers also where the server does not", async () => {
  const pool = poolOf(rig.server.url, 2);
  const store = await postgresStore({ pool });
  const health = await store.health?.();
  expect(health).toMatchObject({
    server: expect.stringMatching(/^PostgreSQL 1\d/),
    schemaVersion: SCHEMA_VERSION,
  });
  expect(Math.abs(health?.clockAheadMs ?? Infinity)).toBeLessThan(HANG_MS);
  const held = await pool.connect();
  expect((await store.health?.())?.connections).toMatchObject({ inUse: 1, waiting: 0, most: 2 });
  held.release();
  const { status, out } = await holdfastHere(rig.server.url, ["doctor", "--json"]);
  expect([status, JSON.parse(out)]).toMatchObject([
    0,
    { ok: true, health: { reachable: true, role: "primary" } },
  ]);
  expect((await holdfastHere(rig.server.url, ["doctor"])).out).toMatch(/primary, schema \d/);
  await rig.server.kill();
  expect(await store.health?.()).toMatchObject({ reachable: false, problem: expect.any(String) });
  expect(JSON.stringify(await store.health?.())).not.toContain("loopback@");
  await rig.server.restart();
  await vi.waitFor(async () => expect(await store.health?.()).toMatchObject({ reachable: true }), {
    timeout: HANG_MS,
  });
  await store.close();
  await pool.end();
});
