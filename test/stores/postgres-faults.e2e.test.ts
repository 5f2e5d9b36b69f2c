/**
 * Goal: nothing acknowledged is lost or written twice, whatever happens to connections and server; races leave no gap.
 * Method: a throwaway loopback server whose connections are cut, by itself and by a proxy in front of it, and which is
 * killed, restarted and replaced by an older copy; at the end the log is compared with every answer.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { AppendResult } from "#log/batch";
import { conv, Rig, texts, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { postgresStore } from "#stores/postgres/index";
import { parseSpaceId } from "#log/ids";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { poolOf, type PostgresRig, postgresRig } from "../support/postgres-subject.ts";

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const SPACE = parseSpaceId("default");

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig(18);
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
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

test("connections that are killed again and again lose nothing and repeat nothing, with keys and without", async () => {
  await using writers = new Rig(await rig.subject());
  const space = await writers.space();
  await writers.create(space, "a", [user("one", "m1")]);
  const over = new AbortController();
  const killer = poolOf(rig.server.url, 1);
  const killing = (async (): Promise<void> => {
    while (!over.signal.aborted)
      await killer.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = '' and pid <> pg_backend_pid() and query like '%append%' and state = 'active' limit 1",
      );
  })();
  const results: AppendResult[] = [];
  const write = async (lane: number): Promise<void> => {
    for (const turn of upTo(40)) {
      const words = [user(`${lane}/${turn}`), user(`${lane}/${turn} more`)];
      const how = lane === 0 ? { key: `${turn}` } : {};
      for (;;) {
        try {
          results.push(await writers.append(space, "a", words, how));
          break;
        } catch (error) {
          // Told that nobody knows: only with a key may it be sent again.
          expect(error).toMatchObject({ code: "store_failed" });
          if (lane !== 0) break;
        }
      }
    }
  };
  await Promise.all([write(0), write(1)]);
  over.abort();
  await killing;
  await killer.end();
  const said = await texts(space, "a");
  expect(new Set(said).size).toBe(said.length);
  for (const result of results)
    expect(result.ids).toEqual(
      (
        await space.read({
          conversation: conv("a"),
          after: result.fromSeq - 1,
          until: result.toSeq,
          limit: 9,
        })
      ).map(({ id }) => id),
    );
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
      timeout: 10_000,
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
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(turn - 40), { timeout: 10_000 });
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

test("a standby that had not heard of an acknowledged batch is told apart, never silently gone on with", async () => {
  await using writers = new Rig(await rig.subject());
  const space = await writers.space();
  await writers.create(space, "a", [user("one")]);
  const { epoch, headSeq } = await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 0 });
  const before = await writers.append(space, "a", [user("two")], {
    author: { kind: "owner", epoch, expected: headSeq },
  });
  await rig.server.copy();
  const known = await writers.append(space, "a", [user("three")], {
    author: { kind: "owner", epoch, expected: before.toSeq },
  });
  await rig.server.becomeCopy();
  // The place of the lost batch is taken by another one of the same epoch.
  await writers.append(space, "a", [user("other")], {
    author: { kind: "owner", epoch, expected: before.toSeq, link: before.ownerLink },
  });
  const on = { kind: "owner", epoch, expected: known.toSeq, link: known.ownerLink } as const;
  await expect(writers.append(space, "a", [user("four")], { author: on })).rejects.toMatchObject({
    code: "diverged",
  });
  expect(await texts(space, "a")).toEqual(["one", "two", "other"]);
});
