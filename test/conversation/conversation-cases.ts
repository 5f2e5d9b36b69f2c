/** What the idea of a session log promises a person, on every store and through a restart. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { assistant, contextOf, countingIdsAndTime, user } from "../support/a-log.ts";
import type { Store } from "#store/store";
import type { NamedSubject } from "../support/subjects.ts";
import { spaceOf } from "#conversation/on-space";

export function conversationCases(subject: NamedSubject): void {
  async function setUp(): Promise<AsyncDisposable & { reopen(): Promise<Holdfast> }> {
    const data = subject.make();
    const idsAndTime = countingIdsAndTime();
    const stores: Store[] = [];
    return {
      async reopen() {
        const store = await data.open(Date.now);
        stores.push(store);
        return new Holdfast(store, "default", idsAndTime);
      },
      async [Symbol.asyncDispose]() {
        for (const store of stores) await store.close();
        data[Symbol.dispose]();
      },
    };
  }

  test("what is appended is never overwritten", async () => {
    await using rig = await setUp();
    const conversation = await (await rig.reopen()).create({ id: "c" });
    await conversation.append([user("one"), assistant("two")]);
    const before = await Array.fromAsync(conversation.log());
    await conversation.append([user("three")]);
    await conversation.title("T");
    expect((await Array.fromAsync(conversation.log())).slice(0, before.length)).toEqual(before);
  });

  test("a conversation says which one caused it, and shares nothing with that", async () => {
    await using rig = await setUp();
    const holdfast = await rig.reopen();
    await (await holdfast.create({ id: "asks" })).append(user("one"));
    const byId = await holdfast.create({ parent: "asks" });
    const byCall = await holdfast.create({ parent: { conversation: "asks", call: "c1" } });
    expect((await byId.head()).summary?.parent).toEqual({ conversation: "asks" });
    expect((await byCall.head()).summary?.parent).toEqual({ conversation: "asks", call: "c1" });
    expect((await byId.context()).messages).toEqual([]);
    await expect(holdfast.create({ parent: "" })).rejects.toMatchObject({ code: "invalid_entry" });
  });

  test("a conversation is made with what it begins with, or not at all", async () => {
    await using rig = await setUp();
    const holdfast = await rig.reopen();
    const entries = [user("one"), assistant("two"), { ...user("lost"), parentId: "nowhere" }];
    await expect(holdfast.create({ id: "c", title: "T", entries })).rejects.toMatchObject({
      code: "unknown_parent",
    });
    await expect(holdfast.conversation("c")).rejects.toMatchObject({ code: "conversation_not_found" });
    await holdfast.create({ id: "c", title: "T", entries: entries.slice(0, 2), key: "made" });
    const again = await (
      await rig.reopen()
    ).create({ id: "c", title: "T", entries: entries.slice(0, 2), key: "made" });
    expect(await contextOf(again)).toEqual(["user:one", "assistant:two"]);
    expect((await again.head()).title).toBe("T");
  });

  test("the active branch is there again after a restart", async () => {
    await using rig = await setUp();
    const conversation = await (await rig.reopen()).create({ id: "c" });
    await conversation.append([user("one", "m1"), assistant("two", "m2"), user("three")]);
    await conversation.goTo("m2");
    await conversation.label("m1", "start");
    const again = await (await rig.reopen()).conversation("c");
    expect(await contextOf(again)).toEqual(["user:one", "assistant:two"]);
  });

  test("a model change decides the model after a restart and never enters the messages", async () => {
    await using rig = await setUp();
    const conversation = await (await rig.reopen()).create({ id: "c" });
    await conversation.append([user("one"), { type: "model_change", model: "example-2" }]);
    const again = await (await rig.reopen()).conversation("c");
    expect((await again.context()).model).toBe("example-2");
    expect(await contextOf(again)).toEqual(["user:one"]);
  });

  test("after a fork from history the old branch still reads", async () => {
    await using rig = await setUp();
    const conversation = await (await rig.reopen()).create({ id: "c" });
    await conversation.append([user("one", "m1"), assistant("A", "a"), user("more", "m2")]);
    await conversation.append({ ...assistant("B"), parentId: "m1" });
    const fork = await conversation.fork({ at: "m1", id: "d" });
    await fork.append(assistant("C"));
    const holdfast = await rig.reopen();
    expect(await contextOf(await holdfast.conversation("c"))).toEqual(["user:one", "assistant:B"]);
    expect(await contextOf(await holdfast.conversation("c"), "m2")).toEqual([
      "user:one",
      "assistant:A",
      "user:more",
    ]);
    expect(await contextOf(await holdfast.conversation("d"))).toEqual(["user:one", "assistant:C"]);
  });

  test("a compaction deletes nothing", async () => {
    await using rig = await setUp();
    const conversation = await (await rig.reopen()).create({ id: "c" });
    await conversation.append([user("one", "m1"), assistant("two"), user("three", "m3")]);
    const before = await Array.fromAsync(conversation.log());
    await conversation.append({ type: "compaction", summary: "S", firstKeptEntryId: "m3" });
    const again = await (await rig.reopen()).conversation("c");
    expect((await Array.fromAsync(again.log())).slice(0, -1)).toEqual(before);
    expect((await again.context()).messages).toHaveLength(2);
    await again.goTo("m3");
    expect(await contextOf(again)).toEqual(["user:one", "assistant:two", "user:three"]);
  });

  test("an owner keeps the conversation for its turn and lets it go at the end", async () => {
    await using rig = await setUp();
    const conversation = await (await rig.reopen()).create({ id: "c" });
    {
      await using owner = await conversation.own({ writer: "turn", leaseMs: 60_000 });
      await owner.append(user("one"));
      await conversation.title("from outside");
      await expect(conversation.append(user("busy"))).rejects.toMatchObject({ code: "busy" });
      await owner.append(assistant("two"), { key: "step" });
      expect((await owner.append(assistant("two"), { key: "step" })).deduped).toBe(true);
    }
    await conversation.append(user("three"));
    expect(await contextOf(conversation)).toEqual(["user:one", "assistant:two", "user:three"]);
  });

  test("an id is found by its prefix, and an ambiguous one lists what it matches", async () => {
    await using rig = await setUp();
    const holdfast = await rig.reopen();
    for (const id of ["abc1", "abc2", "abd", "ab"]) await holdfast.create({ id });
    expect([
      (await holdfast.find("abd")).id,
      (await holdfast.find("ab")).id,
      (await holdfast.find("abc1")).id,
    ]).toEqual(["abd", "ab", "abc1"]);
    await expect(holdfast.find("abc")).rejects.toMatchObject({
      code: "ambiguous_id",
      details: { matches: ["abc2", "abc1"] },
    });
    await expect(holdfast.find("zz")).rejects.toMatchObject({ code: "conversation_not_found" });
    await expect(holdfast.conversation("abc")).rejects.toMatchObject({ code: "conversation_not_found" });
    spaceOf(holdfast).list = () => Promise.reject(new Error("listed"));
    expect((await holdfast.find("abc1")).id).toBe("abc1");
  });
}
