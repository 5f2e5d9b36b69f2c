import assert from "node:assert/strict";
import type { EntryBody } from "#log/entry";
import { type ContractCase, conv, entryId, Rig, texts, user } from "./rig.ts";

const group = "erase";

function image(blob: string, id: string): EntryBody {
  return {
    type: "message",
    id,
    message: { role: "user", content: [{ type: "image", mediaType: "image/png", blob }] },
  };
}

export const eraseCases: readonly ContractCase[] = [
  {
    group,
    name: "a fork keeps an inherited blob that only its own entries name, for as long as one of its line lives",
    needs: ["erase", "blobs"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1")]);
      const [picture, large, stray] = [
        await space.putBlob(conv("a"), new Uint8Array([1, 2, 3])),
        await space.putBlob(conv("a"), new Uint8Array(50_000).fill(7)),
        await space.putBlob(conv("a"), new Uint8Array([4, 5, 6])),
      ];
      await rig.fork(space, "a", "b");
      await rig.append(space, "b", [image(picture, "b1")]);
      await rig.fork(space, "b", "c", { entry: "m1" });
      await rig.append(space, "c", [image(large, "c1")]);
      await space.erase(conv("a"));
      for (const handle of [space, await rig.space()]) {
        assert.deepEqual([...(await handle.getBlob(conv("b"), picture))], [1, 2, 3]);
        assert.equal((await handle.getBlob(conv("c"), large)).length, 50_000);
        await assert.rejects(handle.getBlob(conv("b"), stray), { code: "blob_not_found" });
      }
      await space.erase(conv("c"));
      await assert.rejects((await rig.space()).getBlob(conv("b"), large), { code: "blob_not_found" });
      assert.deepEqual([...(await space.getBlob(conv("b"), picture))], [1, 2, 3]);
    },
  },
  {
    group,
    name: "a fork of an erased fork keeps its inherited entries, and which of them are hidden",
    needs: ["erase", "check"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("three", "m3")]);
      await rig.fork(space, "a", "b", { cwd: "/somewhere" });
      await rig.append(space, "b", [{ type: "hide", target: "m1" }], { author: { kind: "outside" } });
      await rig.append(space, "b", [user("b1", "b1"), { ...user("side", "b2"), parentId: "m2" }]);
      await rig.fork(space, "b", "c", { entry: "b2" });
      await rig.fork(space, "b", "d", { entry: "m1" });
      await rig.append(space, "b", [{ type: "hide", target: "m2" }], { author: { kind: "outside" } });
      await space.erase(conv("a"));
      await space.erase(conv("b"));
      for (const handle of [space, await rig.space()]) {
        assert.deepEqual(await texts(handle, "c", 1), ["one", "two", "side"]);
        assert.deepEqual(await texts(handle, "d", 1), ["one"]);
        for (const id of ["c", "d"])
          assert.deepEqual([...(await handle.page({ conversation: conv(id), limit: 9 })).hidden], ["m1"]);
        await assert.rejects(handle.entry(conv("c"), entryId("m3")), { code: "entry_not_found" });
        await assert.rejects(handle.entry(conv("d"), entryId("m2")), { code: "entry_not_found" });
      }
      await space.erase(conv("c"));
      const after = await rig.space();
      await rig.append(after, "d", [user("mine")]);
      assert.deepEqual(await texts(after, "d"), ["one", "mine"]);
      assert.deepEqual(await after.check({ repair: false }), []);
      await after.erase(conv("d"));
      for (const id of ["a", "b", "c", "d"]) await rig.create(after, id);
    },
  },
  {
    group,
    name: "the kept part of an erased fork is complete when the entry it was forked at is erased",
    needs: ["erase", "check"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2")]);
      await rig.fork(space, "a", "b", { entry: "a-root" });
      await rig.append(space, "b", [user("gone", "b1")]);
      await rig.fork(space, "b", "c", { entry: "b1" });
      await rig.append(space, "c", [{ ...user("side", "c1"), parentId: "a-root" }]);
      await rig.fork(space, "c", "d", { entry: "c1" });
      await rig.append(space, "d", [user("mine")]);
      for (const id of ["b", "c"]) {
        await space.erase(conv(id));
        for (const handle of [space, await rig.space()]) {
          assert.deepEqual(await handle.check({ repair: false }), []);
          assert.deepEqual(await texts(handle, "d", 1), ["side", "mine"]);
        }
      }
      await space.erase(conv("a"));
      const after = await rig.space();
      assert.deepEqual(await after.check({ repair: false }), []);
      assert.deepEqual(await texts(after, "d", 1), ["side", "mine"]);
      await after.erase(conv("d"));
      for (const id of ["a", "b", "c", "d"]) await rig.create(after, id);
    },
  },
  {
    group,
    name: "a fork keeps an inherited summary of a branch that went with its source",
    needs: ["erase"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("gone", "m2")]);
      await rig.append(space, "a", [
        { type: "branch_summary", id: "s1", parentId: "m1", fromId: "m2", summary: "went astray" },
        user("after", "m3"),
      ]);
      await rig.fork(space, "a", "b");
      await space.erase(conv("a"));
      for (const handle of [space, await rig.space()]) {
        assert.deepEqual(await texts(handle, "b"), ["one", "after"]);
        assert.equal((await handle.entry(conv("b"), entryId("s1"))).type, "branch_summary");
        await assert.rejects(handle.entry(conv("b"), entryId("m2")), { code: "entry_not_found" });
      }
    },
  },
  {
    group,
    name: "a page of a fork can be read on after the source was erased, and shows that fork's own line",
    needs: ["erase"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("gone", "m2")]);
      for (const id of ["x", "y"]) {
        await rig.append(space, "a", [
          { ...user(`${id}1`, `${id}1`), parentId: "m1" },
          user(`${id}2`, `${id}2`),
        ]);
      }
      await rig.fork(space, "a", "b", { entry: "x2" });
      await rig.fork(space, "a", "c", { entry: "y2" });
      const pages = await Promise.all(
        ["b", "c"].map((id) => space.page({ conversation: conv(id), limit: 1 })),
      );
      await space.erase(conv("a"));
      for (const [index, id] of ["b", "c"].entries()) {
        const from = pages[index]?.next;
        assert.ok(from);
        const { entries } = await space.page({ conversation: conv(id), limit: 9, from });
        assert.deepEqual(
          entries.map((entry) => entry.id),
          [id === "b" ? "x1" : "y1", "m1", "a-root"],
        );
      }
    },
  },
];
