/** A request that is made twice, because its answer was lost, makes one conversation; on every store. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { NamedSubject } from "../support/subjects.ts";
import { user } from "../support/a-log.ts";

const nowMs = (): number => Date.UTC(2026, 0, 1);

export function keyCases(subject: NamedSubject): void {
  test("the same key is the same conversation, without an id, from another process, and in each space its own", async () => {
    using data = subject.make();
    await using store = await data.open(nowMs);
    const made = await new Holdfast(store, "default").create({ key: "job-7", title: "Seven" });
    await made.append(user("hello"));
    await using again = await data.open(nowMs);
    const holdfast = new Holdfast(again, "default");
    const same = await holdfast.create({ key: "job-7", title: "Seven" });
    expect([same.id, (await same.head()).headSeq]).toEqual([made.id, 3]);
    expect(await Array.fromAsync(holdfast.list())).toHaveLength(1);
    expect([made.deduped, same.deduped, same.differs]).toEqual([false, true, false]);
    const other = await holdfast.create({ key: "job-7", title: "Eight" });
    expect([other.id, other.deduped, other.differs]).toEqual([made.id, true, true]);
    expect((await other.head()).title).toBe("Seven");
    expect((await holdfast.create({ key: "job-8" })).id).not.toBe(made.id);
    const elsewhere = await new Holdfast(again, "other").create({ key: "job-7" });
    expect((await elsewhere.head()).headSeq).toBe(1);
    expect((await holdfast.create({ key: "job-7", id: "mine" })).id).toBe("mine");
  });

  test("the same key is the same fork of a conversation, and another conversation's fork is another", async () => {
    using data = subject.make();
    await using store = await data.open(nowMs);
    const holdfast = new Holdfast(store, "default");
    const [one, two] = [await holdfast.create({ id: "one" }), await holdfast.create({ id: "two" })];
    const fork = await one.fork({ key: "try-1" });
    await one.append(user("later"));
    expect((await one.fork({ key: "try-1" })).id).toBe(fork.id);
    expect((await one.fork({ key: "try-1" })).id).toBe(fork.id);
    expect((await fork.head()).leaf.id).not.toBe((await one.head()).leaf.id);
    expect((await two.fork({ key: "try-1" })).id).not.toBe(fork.id);
    expect(await Array.fromAsync(holdfast.list())).toHaveLength(4);
  });
}
