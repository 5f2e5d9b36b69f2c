/**
 * Goal: nothing acknowledged is lost or written twice, whatever happens to connections and server.
 * Method: a throwaway loopback server whose connections are cut, by itself and by a proxy in front of it, and which is
 * killed, restarted and replaced by an older copy; at the end the log is compared with every answer.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { conv, Rig, texts, user } from "#store/contract/rig";
import { postgresStore } from "#stores/postgres/index";
import { parseSpaceId } from "#log/ids";
import { openHoldfast } from "#index";
import { runProgram } from "../../support/process-life.ts";
import { CuttingProxy } from "../../support/cutting-proxy.ts";
import { HANG_MS } from "../../support/hang.ts";
import { type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const KILLS = process.env["HOLDFAST_SOAK"] === undefined ? 5 : 200;
const writer = join(import.meta.dirname, "../../support/kill-writer.ts");
const SPACE = parseSpaceId("default");

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig(18);
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

/** The backend of an append that waits for the row; asked from outside of the gate's transaction, which would see one moment only. */
async function waitingAppend(): Promise<number> {
  return vi.waitFor(
    async () => {
      const { rows } = await rig.direct.query<{ pid: number }>(WAITING);
      return rows[0]?.pid ?? expect.unreachable("nobody waits yet");
    },
    { timeout: HANG_MS },
  );
}

/** A backend that waits for a row does not notice that its client is gone. */
async function appendsWaiting(count: number): Promise<void> {
  const waiting = async (): Promise<number> => (await rig.direct.query(ROWS_AWAITED)).rows.length;
  await vi.waitFor(async () => expect(await waiting()).toBe(count), { timeout: HANG_MS });
}

const ROWS_AWAITED = "select pid from pg_stat_activity where wait_event_type = 'Lock'";
const WAITING = "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%append_%'";

test("a connection that is killed inside the append leaves nothing of it, and the batch is written once all the same", async () => {
  await using writers = new Rig(await rig.subject());
  const space = await writers.space();
  await writers.create(space, "a");
  for (const turn of upTo(6)) {
    const gate = await rig.direct.connect();
    await gate.query("begin; select from holdfast.conversations where id = 'a' for update");
    const words = [user(`${turn}`), user(`${turn} more`)];
    const writing = writers.append(space, "a", words, turn % 2 === 0 ? { key: `${turn}` } : {});
    try {
      const pid = await waitingAppend();
      await rig.direct.query("select pg_terminate_backend($1)", [pid]);
    } finally {
      await gate.query("commit");
      gate.release();
    }
    expect(await writing).toMatchObject({ fromSeq: turn * 2, toSeq: turn * 2 + 1, deduped: false });
  }
  expect(await texts(space, "a")).toHaveLength(12);
  expect(await space.check({ repair: false })).toEqual([]);
});

test("13: a server that is restarted at once in mid-append has all of the batch or nothing, and the same key finds or writes it once", async () => {
  await using writers = new Rig(await rig.subject());
  const space = await writers.space();
  await writers.create(space, "a", [user("one")]);
  const own = await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 0 });
  const author = { kind: "owner", epoch: own.epoch, expected: own.headSeq, link: own.ownerLink } as const;
  const gate = await rig.direct.connect();
  await gate.query("begin; select from holdfast.conversations where id = 'a' for update");
  const batch = [user("two"), user("three")];
  const append = (): Promise<unknown> => writers.append(space, "a", batch, { key: "k", author });
  const writing = append().catch((error: unknown) => error);
  await waitingAppend();
  await rig.server.kill();
  gate.release(true);
  await rig.server.restart();
  const first = await writing;
  // A server that takes its time is not waited for; what was sent is known by its key.
  if (first instanceof Error) expect(first).toMatchObject({ code: "store_failed", details: { lost: true } });
  expect(await append()).toMatchObject({ fromSeq: own.headSeq + 1, toSeq: own.headSeq + 2, differs: false });
  expect(await texts(space, "a")).toEqual(["one", "two", "three"]);
  expect(await space.check({ repair: false })).toEqual([]);
});

test("a reply that is lost after the commit is found again: one copy, and the answer that was lost", async () => {
  const { port } = new URL(rig.server.url);
  await rig.subject();
  await using proxy = new CuttingProxy(Number(port));
  const url = rig.server.url.replace(port, String(await proxy.listen()));
  for (const functions of [true, false]) {
    await using made = new Rig({ open: () => postgresStore({ url, functions, connections: 2 }) });
    const space = await made.space(functions ? "one" : "two");
    const lost = async <T>(work: () => Promise<T>): Promise<T> => {
      const before = proxy.cuts;
      proxy.cutNextReply();
      const result = await work();
      expect(proxy.cuts).toBe(before + 1);
      return result;
    };
    expect(await lost(() => made.create(space, "a"))).toMatchObject({ fromSeq: 1, deduped: false });
    expect(await lost(() => made.append(space, "a", [user("one", "m1")]))).toMatchObject({
      ids: ["m1"],
      fromSeq: 2,
      deduped: false,
    });
    const keyed = await lost(() => made.append(space, "a", [user("two")], { key: "k" }));
    expect(keyed).toMatchObject({ fromSeq: 3, toSeq: 3, deduped: false, differs: false });
    expect(await lost(() => made.fork(space, "a", "b"))).toMatchObject({ headSeq: 1, deduped: false });
    const own = await lost(() => space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 60_000 }));
    const author = { kind: "owner", epoch: own.epoch, expected: own.headSeq } as const;
    await lost(() => made.append(space, "a", [user("three")], { author }));
    expect(await texts(space, "a")).toEqual(["one", "two", "three"]);
    expect(await space.check({ repair: false })).toEqual([]);
  }
});

test("a batch that is in the database only after its retry began is found, and its owner goes on", async () => {
  const { port } = new URL(rig.server.url);
  await rig.subject();
  await using proxy = new CuttingProxy(Number(port));
  const url = rig.server.url.replace(port, String(await proxy.listen()));
  for (const functions of [true, false]) {
    await using made = new Rig({ open: () => postgresStore({ url, functions, connections: 2 }) });
    const space = await made.space(functions ? "one" : "two");
    await made.create(space, "a");
    const own = await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 60_000 });
    const author = { kind: "owner", epoch: own.epoch, expected: own.headSeq, link: own.ownerLink } as const;
    const gate = await rig.direct.connect();
    await gate.query("begin; select from holdfast.conversations where id = 'a' for update");
    const writing = made.append(space, "a", [user("one"), user("two")], { author });
    try {
      await appendsWaiting(1);
      proxy.pointAt(Number(port));
      await appendsWaiting(2);
    } finally {
      await gate.query("commit");
      gate.release();
    }
    const { ownerLink: link, toSeq: expected } = await writing;
    const next = { ...author, expected, link };
    await made.append(space, "a", [user("three")], { author: next });
    expect(await texts(space, "a")).toEqual(["one", "two", "three"]);
  }
});

test("a refusal to serialise and a deadlock are tried again, at every statement of a write, and end in one copy", async () => {
  await rig.subject();
  let failAt = 0;
  let sent = 0;
  const failing = <Config>(target: { query(config: Config): Promise<unknown> }) => ({
    query: async (config: Config): Promise<unknown> => {
      if (++sent === failAt)
        throw Object.assign(new Error("injected"), { code: failAt % 2 === 0 ? "40001" : "40P01" });
      return target.query(config);
    },
  });
  const pool = {
    ...failing(rig.pool),
    async connect() {
      const client = await rig.pool.connect();
      return { ...failing(client), release: (destroy?: boolean) => client.release(destroy) };
    },
    end: async () => undefined,
  };
  await using made = new Rig({ open: () => postgresStore({ pool: pool as never }) });
  const space = await made.space();
  for (const at of upTo(24)) {
    [failAt, sent] = [at, 0];
    const [one, two] = [`a${at}`, `b${at}`];
    await made.create(space, one, [user("one", "m1")]);
    await made.append(space, one, [{ type: "hide", target: "m1" }, user("two")]);
    await made.fork(space, one, two);
    await space.acquire({ conversation: conv(one), writer: "w", leaseMs: 0 });
    await space.erase(conv(one));
    expect(await texts(space, two)).toEqual(["one", "two"]);
  }
  failAt = 0;
  expect(await space.check({ repair: false })).toEqual([]);
});

test("leases run by the clock of the database, whatever the machines' clocks say", async () => {
  await rig.subject();
  const [ahead, behind] = [await postgresStore({ pool: rig.pool }), await postgresStore({ pool: rig.pool })];
  await using made = new Rig({ open: async () => ahead });
  const [one, two] = [await made.space(), behind.space(SPACE)];
  await made.create(one, "a");
  const held = await one.acquire({ conversation: conv("a"), writer: "one", leaseMs: 60_000 });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 300_000 });
  try {
    const taken = two.acquire({ conversation: conv("a"), writer: "two", leaseMs: 1 });
    await expect(taken).rejects.toMatchObject({ code: "busy" });
  } finally {
    vi.useRealTimers();
  }
  await one.renew({ conversation: conv("a"), epoch: held.epoch, leaseMs: 1 });
  // The lease lapses by itself, and whoever asks often enough is let in.
  const next = await vi.waitFor(
    () => two.acquire({ conversation: conv("a"), writer: "two", leaseMs: 60_000 }),
    {
      timeout: HANG_MS,
    },
  );
  expect(next.epoch).toBe(held.epoch + 1);
  const zombie = { kind: "owner", epoch: held.epoch, expected: held.headSeq } as const;
  await expect(made.append(one, "a", [user("late")], { author: zombie })).rejects.toMatchObject({
    code: "fenced",
  });
  await behind.close();
});

test("a server that is killed in the middle of appends keeps all of a batch or nothing, and goes on", async () => {
  await using writers = new Rig(await rig.subject());
  const space = await writers.space();
  await writers.create(space, "a");
  const acknowledged: string[] = [];
  let turn = 0;
  const write = async (lane: string): Promise<void> => {
    for (const until = turn + 40; turn < until;) {
      const name = `${lane}${++turn}`;
      const words = [1, 2, 3].map((part) => user(`${name}/${part}`));
      const done = await writers.append(space, "a", words, { key: name }).then(
        () => true,
        () => false,
      );
      if (done) acknowledged.push(name);
    }
  };
  for (const round of ["x", "y", "z"]) {
    const writing = Promise.all([write(round), write(round.toUpperCase())]);
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(turn - 40), { timeout: HANG_MS });
    await rig.server.kill();
    await rig.server.restart();
    await writing;
  }
  const said = await texts(space, "a");
  for (const name of acknowledged)
    expect(said.filter((text) => text.startsWith(`${name}/`)).toSorted()).toEqual(
      [1, 2, 3].map((part) => `${name}/${part}`),
    );
  expect(said.length % 3).toBe(0);
  expect(new Set(said).size).toBe(said.length);
  expect(await space.check({ repair: false })).toEqual([]);
});

test("a process that is killed in mid-append leaves all of a batch or nothing, and what it acknowledged", async () => {
  const address = `${rig.server.url}?schema=kills`;
  await using holdfast = await openHoldfast({ store: address });
  for (const n of [0, 1]) await holdfast.create({ id: `kill-${n}` });
  const acknowledged: string[] = [];
  for (const seed of upTo(KILLS)) {
    const died = await runProgram(writer, address, String(seed), "2");
    expect([died.signal, died.stderr]).toEqual(["SIGKILL", ""]);
    acknowledged.push(...died.stdout.split("\n").filter(Boolean));
  }
  const parts = new Map<string, number>();
  for (const n of [0, 1]) {
    let seq = 0;
    for await (const stored of (await holdfast.conversation(`kill-${n}`)).log()) {
      expect(stored.seq).toBe(++seq);
      const name = /"name":"([^"]+)"/.exec(stored.payload)?.[1];
      if (name !== undefined) parts.set(name, (parts.get(name) ?? 0) + 1);
    }
  }
  expect([...parts].filter(([, count]) => count !== 3)).toEqual([]);
  expect(acknowledged.filter((name) => !parts.has(name))).toEqual([]);
  expect(await holdfast.check({ repair: false })).toEqual([]);
});

test("a standby that had not heard of an acknowledged batch is told apart, never silently gone on with", async () => {
  await using writers = new Rig(await rig.subject());
  const [space, other] = [await writers.space(), await writers.space()];
  await writers.create(space, "a", [user("one")]);
  const { epoch, headSeq } = await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 0 });
  const author = { kind: "owner", epoch } as const;
  const before = await writers.append(space, "a", [user("two")], {
    author: { ...author, expected: headSeq },
  });
  await rig.server.copy();
  const lost = { author: { ...author, expected: before.toSeq, link: before.ownerLink } };
  const known = await writers.append(space, "a", [user("three")], lost);
  await rig.server.becomeCopy();
  // The place of the lost batch is taken by another one of the same epoch: only its link tells them apart.
  const taken = await writers.append(other, "a", [user("other")], lost);
  expect([taken.toSeq, taken.deduped]).toEqual([known.toSeq, false]);
  const on = { ...author, expected: known.toSeq, link: known.ownerLink };
  // Whether it remembers the batch it wrote, or looks first.
  for (const handle of [space, space, await writers.space()])
    await expect(writers.append(handle, "a", [user("four")], { author: on })).rejects.toMatchObject({
      code: "diverged",
    });
  expect(await texts(space, "a")).toEqual(["one", "two", "other"]);
});
