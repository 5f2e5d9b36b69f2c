import assert from "node:assert/strict";
import type { EntryBody } from "#log/entry";
import { type ContractCase, conv, entryId, Rig, texts, user } from "./rig.ts";

const group = "fork";
const hide = (target: string): EntryBody => ({ type: "hide", target: target });

export const forkCases: readonly ContractCase[] = [
  {
    group,
    name: "shares the prefix, sees nothing the source adds later, and leaves the source as it was",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("three", "m3")]);
      const before = await space.head(conv("a"));
      const fork = await rig.fork(space, "a", "b", { entry: "m2" });
      assert.deepEqual([fork.leaf.id, fork.headSeq, fork.deduped], ["m2", 1, false]);
      await rig.append(space, "a", [user("four")]);
      await rig.append(space, "a", [{ ...user("beside", "m2b"), parentId: "m2" }]);
      await rig.append(space, "b", [user("mine", "n1")]);
      assert.deepEqual(await texts(await rig.space(), "b", 2), ["one", "two", "mine"]);
      await assert.rejects(space.entry(conv("b"), entryId("m3")), { code: "entry_not_found" });
      await assert.rejects(space.entry(conv("b"), entryId("m2b")), { code: "entry_not_found" });
      assert.equal((await space.entry(conv("b"), entryId("m1"))).id, "m1");
      assert.deepEqual(
        (await space.read({ conversation: conv("b"), limit: 9 })).map((entry) => entry.seq),
        [1, 2],
      );
      assert.deepEqual(await texts(space, "a"), ["one", "two", "beside"]);
      assert.equal(before.headSeq + 2, (await space.head(conv("a"))).headSeq);
    },
  },
  {
    group,
    name: "forks a fork, at its own and at inherited nodes, and branches from inherited nodes",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("a1", "a1"), user("a2", "a2")]);
      await rig.fork(space, "a", "b");
      await rig.append(space, "b", [user("b1", "b1")]);
      await rig.fork(space, "b", "c");
      await rig.append(space, "c", [user("c1", "c1")]);
      await rig.fork(space, "c", "d", { entry: "a1" });
      await rig.append(space, "d", [user("d1", "d1")]);
      await rig.append(space, "c", [{ ...user("c2", "c2"), parentId: "a1" }]);
      const reopened = await rig.space();
      assert.deepEqual(await texts(reopened, "c", 1), ["a1", "c2"]);
      assert.deepEqual(await texts(reopened, "d", 1), ["a1", "d1"]);
      await assert.rejects(space.entry(conv("d"), entryId("a2")), { code: "entry_not_found" });
      await rig.append(reopened, "c", [{ type: "leaf", target: "c1" }]);
      assert.deepEqual(await texts(reopened, "c", 2), ["a1", "a2", "b1", "c1"]);
      await assert.rejects(rig.append(space, "c", [{ ...user("dup"), id: "a2" }]), { code: "duplicate_id" });
      await assert.rejects(rig.append(space, "d", [{ ...user("x"), parentId: "b1" }]), {
        code: "unknown_parent",
      });
    },
  },
  {
    group,
    name: "inherits entries hidden before the fork, not those hidden later",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("three", "m3")]);
      await rig.append(space, "a", [hide("m1")], { author: { kind: "outside" } });
      await rig.fork(space, "a", "b");
      await rig.append(space, "a", [hide("m2")], { author: { kind: "outside" } });
      await rig.append(space, "b", [hide("m3")], { author: { kind: "outside" } });
      const hiddenIn = async (id: string): Promise<readonly string[]> =>
        [...(await space.page({ conversation: conv(id), limit: 9 })).hidden].toSorted();
      assert.deepEqual(await hiddenIn("b"), ["m1", "m3"]);
      assert.deepEqual(await hiddenIn("a"), ["m1", "m2"]);
    },
  },
  {
    group,
    name: "does not inherit keys, and is made once under its own key",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      await rig.append(space, "a", [user("one")], { key: "k" });
      await rig.fork(space, "a", "b", { key: "fork/b" });
      assert.equal(await space.findAppend(conv("b"), "k"), null);
      await rig.append(space, "a", [user("two")]);
      const again = await rig.fork(await rig.space(), "a", "b", { key: "fork/b" });
      assert.equal(again.deduped, true);
      assert.deepEqual(await texts(space, "b"), ["one"]);
      await assert.rejects(rig.fork(space, "a", "b"), { code: "conversation_exists" });
      await assert.rejects(rig.fork(space, "a", "b", { key: "other" }), { code: "conversation_exists" });
    },
  },
  {
    group,
    name: "creates one fork for many concurrent requests with one key, and rejects another place",
    async run(subject) {
      await using rig = new Rig(subject);
      const handles = [await rig.space(), await rig.space(), await rig.space()];
      const [space] = handles;
      assert.ok(space);
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2")]);
      const forks = await Promise.all(handles.map((handle) => rig.fork(handle, "a", "b", { key: "fork/b" })));
      assert.equal(forks.filter((fork) => !fork.deduped).length, 1);
      const elsewhere = rig.fork(space, "a", "b", { key: "fork/b", entry: "m1" });
      await assert.rejects(elsewhere, { code: "conversation_exists" });
      assert.deepEqual(await texts(space, "b"), ["one", "two"]);
      assert.equal((await space.list({ limit: 9 })).conversations.length, 2);
    },
  },
  {
    group,
    name: "sees its source up to the requested entry, like an earlier fork, and never beyond its end",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2")]);
      await rig.append(space, "a", [hide("m1")], { author: { kind: "outside" } });
      await rig.append(space, "a", [user("three", "m3")]);
      const fork = await rig.fork(space, "a", "b", { entry: "m2", head: 3, key: "fork/b" });
      assert.deepEqual([fork.leaf.id, fork.origin?.head, fork.deduped], ["m2", 3, false]);
      await rig.fork(space, "a", "c", { entry: "m2" });
      const reopened = await rig.space();
      const hiddenIn = async (id: string): Promise<readonly string[]> => [
        ...(await reopened.page({ conversation: conv(id), limit: 9 })).hidden,
      ];
      assert.deepEqual([await hiddenIn("b"), await hiddenIn("c")], [[], ["m1"]]);
      assert.equal(
        (await rig.fork(reopened, "a", "b", { entry: "m2", head: 3, key: "fork/b" })).deduped,
        true,
      );
      await assert.rejects(rig.fork(space, "a", "b", { entry: "m2", head: 4, key: "fork/b" }), {
        code: "conversation_exists",
      });
      await assert.rejects(rig.fork(space, "a", "d", { entry: "m3", head: 4 }), { code: "entry_not_found" });
      for (const head of [0, 6, 1.5])
        await assert.rejects(rig.fork(space, "a", "d", { entry: "m1", head }), { code: "invalid_request" });
      await assert.rejects(space.head(conv("d")), { code: "conversation_not_found" });
      await rig.append(space, "b", [user("mine", "n1")]);
      const above = await rig.fork(space, "b", "e", { entry: "m1", head: 1 });
      assert.deepEqual([above.leaf.id, above.origin?.head], ["m1", 1]);
    },
  },
  {
    group,
    name: "rejects a fork from a missing entry",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), { type: "title", id: "t1", title: "T" }]);
      await assert.rejects(rig.fork(space, "zz", "b"), { code: "conversation_not_found" });
      await assert.rejects(rig.fork(space, "a", "b", { entry: "zz" }), { code: "entry_not_found" });
      await assert.rejects(rig.fork(space, "a", "b", { entry: "t1" }), { code: "unknown_target" });
      await assert.rejects(space.head(conv("b")), { code: "conversation_not_found" });
    },
  },
  {
    group,
    name: "keeps annotations of later entries of the source away from a fork's entry with the same id",
    needs: ["search"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("theirs", "m3")]);
      await rig.append(space, "a", [hide("m3")], { author: { kind: "outside" } });
      await rig.fork(space, "a", "b", { entry: "m2" });
      await rig.append(space, "b", [user("mine", "m3")]);
      assert.deepEqual([...(await space.page({ conversation: conv("b"), limit: 9 })).hidden], []);
      const hits = await space.search({ query: "mine", limit: 9 });
      assert.deepEqual(
        hits.map((hit) => hit.entry),
        ["m3"],
      );
    },
  },
  {
    group,
    name: "finds own and inherited entries by the start and the end of their id, and only visible ones",
    needs: ["names"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("three", "n3")]);
      await rig.append(space, "a", [{ type: "label", id: "m-label", target: "m2", label: "here" }], {
        author: { kind: "outside" },
      });
      await rig.fork(space, "a", "b", { entry: "m2" });
      await rig.append(space, "b", [user("mine", "m4")]);
      await rig.create(space, "c", [user("other", "m5")]);
      const ids = async (
        conversation: string,
        prefix: string,
        limit: number = 9,
      ): Promise<readonly string[]> =>
        (await space.ids({ conversation: conv(conversation), prefix, limit })).toSorted();
      assert.deepEqual(await ids("a", "m"), ["m1", "m2"]);
      assert.deepEqual(await ids("a", "n3"), ["n3"]);
      assert.deepEqual(await ids("a", "x"), []);
      assert.deepEqual(await ids("b", "m"), ["m1", "m2", "m4"]);
      assert.deepEqual(await ids("b", "n"), []);
      assert.equal((await ids("b", "m", 2)).length, 2);
      const ending = async (conversation: string, suffix: string): Promise<readonly string[]> =>
        space.ids({ conversation: conv(conversation), prefix: "", suffix, limit: 9 });
      assert.deepEqual(await ending("b", "2"), ["m2"]);
      assert.deepEqual(await ending("b", "3"), []);
      assert.deepEqual(await ending("a", "n3"), ["n3"]);
      assert.deepEqual(await ending("a", "label"), []);
      assert.deepEqual(await space.ids({ conversation: conv("a"), prefix: "m", suffix: "3", limit: 9 }), []);
      await assert.rejects(ids("nobody", "m"), { code: "conversation_not_found" });
    },
  },
  {
    group,
    name: "returns the labels of own and inherited entries",
    needs: ["names"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const label = (id: string, target: string, text: string | null): EntryBody => ({
        type: "label",
        id,
        target,
        label: text,
      });
      const say = (conversation: string, ...facts: readonly EntryBody[]): Promise<unknown> =>
        rig.append(space, conversation, facts, { author: { kind: "outside" } });
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("three", "m3")]);
      await say("a", label("l1", "m1", "x"), label("l2", "m2", "x"), label("l3", "m3", "y"));
      await say("a", label("l4", "m1", null), label("l5", "m1", "z"));
      await rig.fork(space, "a", "b");
      await say("a", label("l6", "m2", "y"));
      await say("b", label("l7", "m2", '\u0000 é 😀 "'), label("l8", "m1", "x"));
      await rig.fork(space, "b", "c");
      await say("c", label("l9", "m3", "x"));
      const facts = async (conversation: string, text: string): Promise<readonly string[] | null> =>
        (await space.labelled({ conversation: conv(conversation), label: text, limit: 9 }))?.map(
          ({ id }) => id,
        ) ?? null;
      const expected: readonly (readonly [string, string, readonly string[]])[] = [
        ["a", "x", ["l1", "l2", "l4", "l5", "l6"]],
        ["a", "y", ["l2", "l3", "l6"]],
        ["a", "nothing", []],
        ["b", "x", ["l1", "l2", "l4", "l5", "l7", "l8"]],
        // What the source said after the fork is not said here.
        ["b", "y", ["l3"]],
        ["b", '\u0000 é 😀 "', ["l2", "l7"]],
        ["c", "x", ["l1", "l2", "l3", "l4", "l5", "l7", "l8", "l9"]],
      ];
      for (const [conversation, text, ids] of expected) {
        const messages = await facts(conversation, text);
        // Whoever cannot tell says so; whoever says something says all of it, and in order.
        if (messages !== null) assert.deepEqual(messages, ids, `${conversation} ${text}`);
      }
      const few = await space.labelled({ conversation: conv("c"), label: "x", limit: 1 });
      assert.equal(few, null);
      await assert.rejects(facts("nobody", "x"), { code: "conversation_not_found" });
    },
  },
  {
    group,
    name: "lists the forks of one conversation alone, page by page, the most recently changed first",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      for (const id of ["a", "b"]) await rig.create(space, id, [user("one", `${id}1`)]);
      for (const id of ["a-1", "a-2", "a-3"]) await rig.fork(space, "a", id);
      await rig.fork(space, "b", "b-1");
      await rig.fork(space, "a-1", "a-1-1");
      await rig.append(space, "a-2", [user("changed last")]);
      const forksOf = async (conversation: string, prefix?: string): Promise<readonly string[]> => {
        const names: string[] = [];
        let after: string | null = null;
        do {
          const page: Awaited<ReturnType<typeof space.list>> = await space.list({
            limit: 2,
            forkOf: conv(conversation),
            ...(prefix === undefined ? {} : { prefix }),
            ...(after === null ? {} : { after }),
          });
          names.push(...page.conversations.map(({ conversation: id }) => id));
          after = page.next;
        } while (after !== null);
        return names;
      };
      const ofA = await forksOf("a");
      assert.equal(ofA[0], "a-2");
      assert.deepEqual(ofA.toSorted(), ["a-1", "a-2", "a-3"]);
      assert.deepEqual(await forksOf("a", "a-1"), ["a-1"]);
      assert.deepEqual(await forksOf("a-1"), ["a-1-1"]);
      assert.deepEqual(await forksOf("a-2"), []);
      assert.deepEqual(await forksOf("nobody"), []);
    },
  },
];
