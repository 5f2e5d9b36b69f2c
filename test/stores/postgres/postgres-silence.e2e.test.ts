/**
 * Goal: a database that says nothing is given up after a while; nothing acknowledged is lost, nothing is written twice, and the
 * store goes on by itself.
 * Method: a proxy in front of a loopback server keeps back what goes one way, and lets it through late, also what clients had
 * sent that have gone since.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { conv, Rig, texts, user } from "#store/contract/rig";
import { postgresStore } from "#stores/postgres/index";
import { CuttingProxy } from "../../support/cutting-proxy.ts";
import { HANG_MS } from "../../support/hang.ts";
import { type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";

const WAYS = ["statements", "answers"] as const;
const UNHEARD = { code: "store_failed", details: { lost: true } };

let rig: PostgresRig;
let proxy: CuttingProxy;
let url: string;

beforeAll(async () => {
  rig = await postgresRig();
  const { port } = new URL(rig.server.url);
  proxy = new CuttingProxy(Number(port));
  url = rig.server.url.replace(port, String(await proxy.listen()));
});

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await rig?.[Symbol.asyncDispose]();
});

test.each(WAYS)("a connection whose %s are lost is replaced, and its batch is written once", async (way) => {
  await rig.subject();
  for (const functions of [true, false]) {
    await using made = new Rig({
      open: () => postgresStore({ url, functions, connections: 2, queryMs: 1_000 }),
    });
    const space = await made.space(functions ? "one" : "two");
    await made.create(space, "a");
    proxy.silence(way, { alsoNew: false });
    const own = await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 60_000 });
    const author = { kind: "owner", epoch: own.epoch, expected: own.headSeq } as const;
    proxy.silence(way, { alsoNew: false });
    const one = await made.append(space, "a", [user("one")], { author });
    expect(one).toMatchObject({ fromSeq: 2, toSeq: 2, deduped: false });
    await space.renew({ conversation: conv("a"), epoch: own.epoch, leaseMs: 0 });
    proxy.silence(way, { alsoNew: false });
    expect(await made.append(space, "a", [user("two")])).toMatchObject({ fromSeq: 3, deduped: false });
    // What was given up arrives now.
    await proxy.speak();
    expect(await texts(space, "a")).toEqual(["one", "two"]);
    expect(await space.check({ repair: false })).toEqual([]);
  }
});

test.each(WAYS)(
  "while all %s are lost every verb ends, and then the store goes on by itself",
  async (way) => {
    const subject = await rig.subject();
    await using beside = new Rig(subject);
    const store = await postgresStore({ url, connections: 2, connectMs: 1_000, queryMs: 500 });
    await using made = new Rig({ open: async () => store });
    const [space, seen] = [await made.space(), await beside.space()];
    await beside.create(seen, "a", [user("one")]);
    proxy.silence(way);
    const waiting = [
      made.append(space, "a", [user("keyed")], { key: "k" }),
      made.append(space, "a", [user("plain")]),
      space.head(conv("a")),
      space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 60_000 }),
    ].map((verb) => expect(verb).rejects.toMatchObject({ code: expect.stringMatching(/store_failed|busy/) }));
    await Promise.all(waiting);
    await expect(space.head(conv("a"))).rejects.toMatchObject(UNHEARD);
    expect(await store.health?.()).toMatchObject({ reachable: false });
    await proxy.speak();
    await vi.waitFor(() => made.append(space, "a", [user("keyed")], { key: "k" }), { timeout: HANG_MS });
    const said = await texts(seen, "a");
    expect(said.filter((text) => text === "keyed")).toEqual(["keyed"]);
    expect(said.filter((text) => text === "plain").length).toBeLessThanOrEqual(1);
    expect(await seen.check({ repair: false })).toEqual([]);
    const counts = async (): Promise<unknown> => (await store.health?.())?.connections;
    await vi.waitFor(async () => expect(await counts()).toMatchObject({ inUse: 0, waiting: 0 }), {
      timeout: HANG_MS,
    });
  },
);
