import { join } from "node:path";
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { openHoldfast, openStore } from "#open";
import { inMemoryStore } from "#stores/in-memory/index";
import { tempDir } from "../support/temp-dir.ts";

test("a store that was handed in stays open for whoever opened it", async () => {
  await using store = inMemoryStore();
  for (const open of [
    async (): Promise<Holdfast> => openHoldfast({ store, space: "one" }),
    async (): Promise<Holdfast> => new Holdfast(store, "one"),
  ]) {
    const holdfast = await open();
    const { id } = await holdfast.create();
    await holdfast.close();
    await holdfast[Symbol.asyncDispose]();
    expect((await store.space(holdfast.spaceId).head(id)).headSeq).toBe(1);
  }
});

test("what openHoldfast opened by its address is closed with it", async () => {
  using dir = tempDir();
  for (const address of ["memory:", `sqlite:${join(dir.path, "s.db")}`, `jsonl:${join(dir.path, "logs")}`]) {
    const holdfast = await openHoldfast({ store: address });
    await holdfast.create({ id: "a" });
    const other = holdfast.inSpace("other");
    await holdfast.close();
    for (const handle of [holdfast, other])
      await expect(handle.conversation("a")).rejects.toMatchObject({ code: "store_gone" });
  }
});

test("a tenant's handle is another space of the same store, and closes nothing", async () => {
  using dir = tempDir();
  await using store = await openStore(`sqlite:${join(dir.path, "s.db")}`);
  const server = await openHoldfast({ store, space: "server" });
  const tenants = ["ada", "bob"].map((name) => server.inSpace(name));
  for (const tenant of tenants) {
    await tenant.create({ id: "same", title: tenant.spaceId });
    await tenant.close();
  }
  for (const tenant of tenants)
    expect((await (await tenant.conversation("same")).head()).title).toBe(tenant.spaceId);
  await expect(server.conversation("same")).rejects.toMatchObject({ code: "conversation_not_found" });
  expect((await store.spaces()).toSorted()).toEqual(["ada", "bob"]);
  expect(() => server.inSpace("")).toThrow();
});
