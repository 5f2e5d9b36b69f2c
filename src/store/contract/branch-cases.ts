import assert from "node:assert/strict";
import type { EntryBody } from "#log/entry";
import { assistant, branch, type ContractCase, conv, entryId, Rig, texts, user } from "./rig.ts";

const group = "branch";

export const branchCases: readonly ContractCase[] = [
  {
    group,
    name: "reads a branch backwards in pages of any size, past interleaved branches and facts",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("root", "m0")]);
      const tips: Record<string, string> = { left: "m0", right: "m0" };
      for (let n = 1; n <= 12; n++) {
        for (const side of ["left", "right"]) {
          const id = `${side}${n}`;
          await rig.append(space, "a", [
            { ...user(id, id), parentId: tips[side] ?? "m0" },
            { type: "update", data: n },
          ]);
          tips[side] = id;
        }
      }
      await rig.append(space, "a", [{ type: "leaf", target: "left12" }]);
      const expected = ["root", ...Array.from({ length: 12 }, (_, n) => `left${n + 1}`)];
      for (const size of [1, 2, 5, 13, 100]) assert.deepEqual(await texts(space, "a", size), expected);
      await rig.append(space, "a", [{ ...user("aside", "s1"), parentId: "left5" }]);
      assert.deepEqual(await texts(await rig.space(), "a", 3), [...expected.slice(0, 6), "aside"]);
    },
  },
  {
    group,
    name: "starts a page at any node of the tree",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("three", "m3")]);
      const { place } = await space.entry(conv("a"), entryId("m2"));
      assert.ok(place);
      const page = await space.page({ conversation: conv("a"), from: place, limit: 2 });
      assert.deepEqual(
        page.entries.map((entry) => entry.id),
        ["m2", "m1"],
      );
      assert.ok(page.next);
    },
  },
  {
    group,
    name: "finds the latest setting of each kind on the path, not beside it",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const model = (name: string, id: string, parentId?: string): EntryBody => ({
        type: "model_change",
        id,
        model: name,
        ...(parentId ? { parentId } : {}),
      });
      await rig.create(space, "a", [
        model("one", "c1"),
        user("x", "m1"),
        model("two", "c2"),
        user("y", "m2"),
      ]);
      await rig.append(space, "a", [model("three", "c3", "m1"), user("z", "m3")]);
      await rig.append(space, "a", [{ type: "leaf", target: "m1" }, user("w", "m4")]);
      const entryAt = async (id: string): Promise<string | undefined> => {
        const { place } = await space.entry(conv("a"), entryId(id));
        const { settings } = await space.window({
          conversation: conv("a"),
          limit: 0,
          settings: ["model_change", "compaction"],
          ...(place ? { from: place } : {}),
        });
        assert.equal(settings.get("compaction"), undefined);
        return settings.get("model_change")?.id;
      };
      assert.deepEqual(
        [await entryAt("m1"), await entryAt("m2"), await entryAt("m3"), await entryAt("m4")],
        ["c1", "c2", "c3", "c1"],
      );
      const leaf = await space.window({ conversation: conv("a"), limit: 0, settings: ["model_change"] });
      assert.equal(leaf.settings.get("model_change")?.id, "c1");
    },
  },
  {
    group,
    name: "says which entries of a page are hidden, and no longer are",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("three", "m3")]);
      const hide = (target: string, hidden?: boolean): EntryBody => ({
        type: "hide",
        target: target,
        ...(hidden === undefined ? {} : { hidden }),
      });
      await rig.append(space, "a", [hide("m1"), hide("m2")], { author: { kind: "outside" } });
      await rig.append(space, "a", [hide("m2", false)], { author: { kind: "outside" } });
      const page = await (await rig.space()).page({ conversation: conv("a"), limit: 10 });
      assert.deepEqual([...page.hidden], ["m1"]);
      assert.equal(page.entries.length, 4);
    },
  },
  {
    group,
    name: "rejects a compaction boundary that is off the path, inside a tool pair or before an earlier one",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const call: EntryBody = {
        type: "message",
        id: "call",
        message: { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "ls", input: {} }] },
      };
      const result: EntryBody = {
        type: "message",
        id: "res",
        message: { role: "toolResult", toolCallId: "c1", content: [] },
      };
      await rig.create(space, "a", [user("one", "m1"), call, result, user("two", "m2")]);
      await rig.append(space, "a", [
        { ...user("side", "side"), parentId: "m1" },
        { type: "leaf", target: "m2" },
      ]);
      const compact = (firstKeptEntryId: string, id?: string): EntryBody => ({
        type: "compaction",
        summary: "s",
        firstKeptEntryId: firstKeptEntryId,
        ...(id ? { id } : {}),
      });
      for (const bad of ["side", "res", "nowhere"]) {
        await assert.rejects(rig.append(space, "a", [compact(bad)]), { code: "invalid_boundary" });
      }
      await rig.append(space, "a", [compact("m2", "k1"), user("three", "m3")]);
      await assert.rejects(rig.append(space, "a", [compact("call")]), { code: "invalid_boundary" });
      await rig.append(space, "a", [user("four", "m4"), compact("m3", "k2")]);
      const entries = await branch(space, "a");
      assert.deepEqual(
        entries.map((entry) => entry.id),
        ["a-root", "m1", "call", "res", "m2", "k1", "m3", "m4", "k2"],
      );
    },
  },
  {
    group,
    name: "grows two branches from one node within a single batch",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("root", "m0")]);
      await rig.append(space, "a", [
        user("left", "l1"),
        { ...user("right", "r1"), parentId: "m0" },
        user("right again", "r2"),
        { ...user("left again", "l2"), parentId: "l1" },
      ]);
      assert.deepEqual(await texts(space, "a", 1), ["root", "left", "left again"]);
      await rig.append(space, "a", [{ type: "leaf", target: "r2" }, user("end")]);
      assert.deepEqual(await texts(await rig.space(), "a", 2), ["root", "right", "right again", "end"]);
    },
  },
  {
    group,
    name: "rejects a compaction that reaches across a reset, or to an entry that does not exist",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("old", "m1"), { type: "reset" }, user("new", "m2")]);
      const compact = (firstKeptEntryId: string): EntryBody => ({
        type: "compaction",
        summary: "s",
        firstKeptEntryId,
      });
      await assert.rejects(rig.append(space, "a", [compact("m1")]), { code: "invalid_boundary" });
      await assert.rejects(rig.append(space, "a", [user("x", "x1"), { ...compact("x1"), parentId: "m2" }]), {
        code: "invalid_boundary",
      });
      await rig.append(space, "a", [user("x", "x2"), compact("x2")]);
      await rig.append(space, "a", [user("y", "y1"), compact("y1")]);
    },
  },
  {
    group,
    name: "takes several compactions in one batch, each judged by its own path",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("1", "m1"), user("2", "m2"), user("3", "m3")]);
      const compact = (firstKeptEntryId: string): EntryBody => ({
        type: "compaction",
        summary: "s",
        firstKeptEntryId,
      });
      await rig.append(space, "a", [
        compact("m2"),
        user("4", "m4"),
        compact("m3"),
        user("5", "m5"),
        compact("m5"),
      ]);
      await assert.rejects(rig.append(space, "a", [compact("m5"), user("6"), compact("m4")]), {
        code: "invalid_boundary",
      });
      assert.equal((await branch(space, "a")).length, 9);
    },
  },
  {
    group,
    name: "refuses to summarise a tool call away while its result may still come",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const content = [{ type: "toolCall", id: "c1", name: "ls", input: {} }] as const;
      const call: EntryBody = { type: "message", id: "call", message: { role: "assistant", content } };
      await rig.create(space, "a", [user("one", "m1"), call, user("wait", "m2")]);
      const compact = (firstKept?: string): EntryBody => ({
        type: "compaction",
        summary: "s",
        ...(firstKept ? { firstKeptEntryId: firstKept } : {}),
      });
      await assert.rejects(rig.append(space, "a", [compact("m2")]), { code: "invalid_boundary" });
      await assert.rejects(rig.append(space, "a", [compact()]), { code: "invalid_boundary" });
      await rig.append(space, "a", [compact("call")]);
      await rig.append(space, "a", [
        assistant("gave up on it", "m3"),
        compact("m3"),
        user("two", "m4"),
        compact(),
      ]);
      assert.equal((await space.head(conv("a"))).headSeq, 9);
    },
  },
  {
    group,
    name: "starts a page at any depth of a branch, across segments and forks",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("left", "m3")]);
      await rig.append(space, "a", [{ ...user("three", "n3"), parentId: "m2" }, user("four", "n4")]);
      await rig.fork(space, "a", "b", { entry: "n3" });
      await rig.append(space, "b", [user("five", "o4"), user("six", "o5")]);
      const ids = async (conversation: string, depth: number): Promise<readonly string[]> => {
        const page = await space.page({ conversation: conv(conversation), depth, limit: 2 });
        return page.entries.map((entry) => entry.id);
      };
      assert.deepEqual(await ids("a", 4), ["n4", "n3"]);
      assert.deepEqual(await ids("a", 3), ["n3", "m2"]);
      assert.deepEqual(await ids("a", 2), ["m2", "m1"]);
      assert.deepEqual(await ids("a", 99), ["n4", "n3"]);
      assert.deepEqual(await ids("b", 5), ["o5", "o4"]);
      assert.deepEqual(await ids("b", 4), ["o4", "n3"]);
      assert.deepEqual(await ids("b", 3), ["n3", "m2"]);
      assert.deepEqual(await ids("b", 1), (await ids("a", 1)).slice(0, 2));
      assert.equal((await ids("b", 0)).length, 1);
    },
  },
];
