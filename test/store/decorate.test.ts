import { describe, expect, test } from "vitest";
import { contractFor, storeContract } from "#store/contract/store-contract";
import { conv, Rig, readTail, user } from "#store/contract/rig";
import { decorateStore } from "#store/decorate";
import { ALL_FACETS, FACET_OF, VERBS } from "#store/facets";
import { parseSpaceId } from "#log/ids";
import { storePort } from "#store/port";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { killableStore } from "#testing/world";
import { SimWorld } from "#testing/index";
import { AppendFaults } from "#testing/faults";

const DEFAULT = parseSpaceId("default");

test("a decoration that changes nothing forwards every verb and every act of the store", async () => {
  const seen = new Set<string>();
  const acts = { around: <T>(call: () => Promise<T>, verb: string): Promise<T> => (seen.add(verb), call()) };
  const store = decorateStore(
    { ...inMemoryStore(), backup: async () => ({ to: "x", bytes: 0, conversations: 0 }) },
    acts,
  );
  const space = store.space(DEFAULT);
  for (const verb of VERBS)
    if (verb !== "tail") await Promise.resolve(Reflect.apply(space[verb], space, [])).catch(() => undefined);
  await store.spaces();
  await store.backup?.({ to: "x" });
  await store.close();
  expect([...seen].toSorted()).toEqual(
    [...VERBS.filter((verb) => verb !== "tail"), "spaces", "backup", "close"].toSorted(),
  );
  expect(store.facets).toEqual(ALL_FACETS);
});

describe.each([
  { name: "a decorated store", wrap: (store: ReturnType<typeof inMemoryStore>) => decorateStore(store, {}) },
  {
    name: "a store whose host may die",
    wrap: (store: ReturnType<typeof inMemoryStore>) =>
      killableStore(store, new SimWorld().timeline, new AbortController().signal),
  },
  {
    name: "a store whose appends may fail",
    wrap: (store: ReturnType<typeof inMemoryStore>) => new AppendFaults().store(store),
  },
])("$name", ({ wrap }) => {
  test("has every verb of what lies behind it", async () => {
    await using rig = new Rig({ open: async () => wrap(inMemoryStore()) });
    const space = await rig.space();
    await rig.create(space, "a", [user("one", "m1")]);
    for (const verb of VERBS) expect(space[verb], verb).toBeTypeOf("function");
    expect((await space.window({ conversation: conv("a"), limit: 1, settings: [] })).head.headSeq).toBe(2);
    expect((await readTail(space, "a", 1, 1))[0]?.id).toBe("m1");
  });
});

test("a verb that a decoration answers itself is the only one it changes", async () => {
  const store = decorateStore(inMemoryStore(), {
    verbs: () => ({ list: async () => ({ conversations: [], next: "mine" }) }),
  });
  await using rig = new Rig({ open: async () => store });
  const space = await rig.space();
  await rig.create(space, "a");
  expect((await space.list({ limit: 1 })).next).toBe("mine");
  expect((await space.head(conv("a"))).headSeq).toBe(1);
});

test("every verb belongs to one facet, and every case of the contract needs facets there are", () => {
  expect(new Set(Object.values(FACET_OF))).toEqual(new Set(ALL_FACETS));
  for (const { needs = [] } of storeContract) for (const facet of needs) expect(ALL_FACETS).toContain(facet);
});

describe("a store that brings the log and nothing else", () => {
  const cases = contractFor(["log"]).filter(({ needsPowerCut }) => needsPowerCut !== true);
  test.each(cases)("$group: $name", async (promise) => {
    const backing = inMemoryBacking();
    await promise.run({
      open: async (nowMs) => storePort({ ...inMemoryStore({ backing, nowMs }), facets: ["log"] }),
    });
  });
});

test("what a store brings without declaring it is not there", async () => {
  const inner = inMemoryStore();
  const store = storePort({ ...inner, facets: ["log"] });
  await using rig = new Rig({ open: async () => store });
  const space = await rig.space();
  await rig.create(space, "a", [user("one")]);
  await expect(space.search({ query: "one", limit: 1 })).rejects.toMatchObject({
    code: "facet_missing",
    details: { facet: "search", verb: "search" },
  });
  await expect(readTail(space, "a", 0, 1)).rejects.toMatchObject({ code: "facet_missing" });
});
