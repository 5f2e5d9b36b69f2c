/** Whoever owns a conversation keeps it for as long as it is held, however long a step takes. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { runEffects } from "#turn/effects/run-effects";
import type { Tool } from "#turn/effects/tool";
import { SimWorld } from "#testing/index";
import { inMemoryStore } from "#stores/in-memory/index";
import { decorateStore } from "#store/decorate";
import { user } from "#log/message";
import { assistant } from "../support/a-log.ts";

test("a tool that takes longer than the lease keeps its result: the owner renews it", async () => {
  const world = new SimWorld();
  const holdfast = new Holdfast(inMemoryStore({ nowMs: () => world.nowMs() }), "default");
  const chat = await holdfast.create();
  await chat.append(assistant("", "m1", "c1"));
  const slow: Tool = {
    name: "build",
    run: async () => {
      await world.timeline.pass(10 * 60_000);
      await expect(chat.own({ writer: "other", leaseMs: 1_000 })).rejects.toMatchObject({ code: "busy" });
      return "built";
    },
  };
  const { clock } = world;
  {
    await using owner = await chat.own({ writer: "host", leaseMs: 30_000, clock });
    const given = { calls: [{ id: "c1", input: {}, tool: slow }], signal: new AbortController().signal };
    expect(await runEffects(owner, "t1", given)).toMatchObject([{ state: "done", output: "built" }]);
  }
  expect((await chat.effects()).map((effect) => effect.state)).toEqual(["done"]);
  expect((await chat.head()).lease).toBeNull();
  await world.timeline.pass(60_000);
  expect((await chat.head()).lease).toBeNull();
});

test("an owner whose renewal fails once tries again, and one that was fenced off stops", async () => {
  const world = new SimWorld();
  const store = inMemoryStore({ nowMs: () => world.nowMs() });
  let failures = 1;
  let renewals = 0;
  const inner = store.space.bind(store);
  const flaky = {
    ...store,
    space: (id: Parameters<typeof inner>[0]) => ({
      ...inner(id),
      renew: async (request: Parameters<ReturnType<typeof inner>["renew"]>[0]) => {
        renewals++;
        if (failures-- > 0) throw new Error("the disk is busy");
        return inner(id).renew(request);
      },
    }),
  };
  const holdfast = new Holdfast(flaky, "default");
  const chat = await holdfast.create();
  const owner = await chat.own({ writer: "host", leaseMs: 30_000, clock: world.clock });
  await world.timeline.pass(45_000);
  await expect(chat.own({ writer: "other", leaseMs: 1_000 })).rejects.toMatchObject({ code: "busy" });
  const heir = await chat.own({ writer: "host", leaseMs: 3_600_000, clock: world.clock });
  await world.timeline.pass(100_000);
  const before = renewals;
  await world.timeline.pass(100_000);
  expect(renewals).toBe(before);
  await expect(owner.append({ type: "model_change", model: "m" })).rejects.toMatchObject({ code: "fenced" });
  await heir[Symbol.asyncDispose]();
});

test.each([
  ["refuses", (): Promise<never> => Promise.reject(new Error("no connection is free"))],
  ["does not answer", (): Promise<never> => new Promise<never>(() => undefined)],
] as const)(
  "where the store %s until the lease is over, the owner is told, and writes nothing more",
  async (_, renew) => {
    const world = new SimWorld();
    const store = inMemoryStore({ nowMs: () => world.nowMs() });
    let isAway = false;
    const away = decorateStore(store, {
      verbs: (space) => ({ renew: (request) => (isAway ? renew() : space.renew(request)) }),
    });
    const chat = await new Holdfast(away, "default").create();
    const owner = await chat.own({ writer: "host", leaseMs: 30_000, clock: world.clock });
    const lost: unknown[] = [];
    owner.onLost = (why) => void lost.push(why);
    await world.timeline.pass(60_000);
    await owner.append(user("in time"));
    isAway = true;
    await world.timeline.pass(19_000);
    expect(lost).toEqual([]);
    await world.timeline.pass(20_000);
    expect(lost).toMatchObject([{ code: "fenced" }]);
    await expect(owner.append(user("late"))).rejects.toBe(lost[0]);
    isAway = false;
    await using other = await chat.own({ writer: "other", leaseMs: 1_000 });
    expect(other.epoch).toBeGreaterThan(owner.epoch);
    await world.timeline.pass(100_000);
    expect(lost).toHaveLength(1);
  },
);
