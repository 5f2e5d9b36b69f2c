import assert from "node:assert/strict";
import type { EntryBody } from "#log/entry";
import { type ContractCase, conv, entryId, Rig, texts, user } from "./rig.ts";

const group = "append";

export const appendCases: readonly ContractCase[] = [
  {
    group,
    name: "keeps entries in order with gapless seqs, and finds them again through another handle",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      const first = await rig.append(space, "a", [user("one"), user("two")]);
      const second = await rig.append(space, "a", [user("three")]);
      assert.deepEqual([first.fromSeq, first.toSeq, second.fromSeq, second.toSeq], [2, 3, 4, 4]);
      const other = await rig.space();
      assert.deepEqual(await texts(other, "a"), ["one", "two", "three"]);
      const seqs = (await other.read({ conversation: conv("a"), limit: 100 })).map((entry) => entry.seq);
      assert.deepEqual(seqs, [1, 2, 3, 4]);
    },
  },
  {
    group,
    name: "refuses a batch with one bad entry as a whole",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("before", "m1")]);
      const orphan: EntryBody = { ...user("lost"), parentId: "nowhere" };
      await assert.rejects(rig.append(space, "a", [user("fine"), orphan]), { code: "unknown_parent" });
      await assert.rejects(rig.append(space, "a", [user("fine"), user("twice", "m1")]), {
        code: "duplicate_id",
      });
      await assert.rejects(rig.append(space, "a", [user("x", "new1"), user("y", "new1")]), {
        code: "duplicate_id",
      });
      await assert.rejects(rig.append(space, "a", [{ ...user("own"), id: "self", parentId: "self" }]), {
        code: "unknown_parent",
      });
      await assert.rejects(rig.append(space, "a", []), { code: "invalid_request" });
      assert.deepEqual(await texts(space, "a"), ["before"]);
      assert.equal((await space.head(conv("a"))).headSeq, 2);
    },
  },
  {
    group,
    name: "writes nothing twice under one key, and says when the body differs",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      const first = await rig.append(space, "a", [user("once")], { key: "task/step" });
      const again = await rig.append(await rig.space(), "a", [user("once")], { key: "task/step" });
      const other = await rig.append(space, "a", [user("changed")], { key: "task/step" });
      assert.deepEqual({ ...again }, { ...first, deduped: true });
      assert.deepEqual([other.deduped, other.differs, other.lastId], [true, true, first.lastId]);
      assert.deepEqual(await texts(space, "a"), ["once"]);
      const appended = await space.findAppend(conv("a"), "task/step");
      assert.deepEqual([appended?.fromSeq, appended?.toSeq, appended?.lastId], [2, 2, first.lastId]);
      assert.equal(await space.findAppend(conv("a"), "never"), null);
    },
  },
  {
    group,
    name: "has prompts, intents and links on the disk when it answers, however relaxed they were asked to be",
    needsPowerCut: true,
    async run(subject) {
      await using rig = new Rig(subject);
      await rig.create(await rig.space(), "a");
      const intent: EntryBody = { type: "tool_intent", id: "i1", call: "c1", name: "send", input: {} };
      const link: EntryBody = { type: "upstream_link", id: "l1", upstream: "u", agent: "x", reason: "new" };
      for (const body of [user("go", "m1"), intent, link]) {
        await rig.append(await rig.space(), "a", [{ type: "update", data: "…" }], { durability: "relaxed" });
        await rig.append(await rig.space(), "a", [body], { durability: "relaxed" });
        await rig.cutPower();
        const entry = await (await rig.space()).entry(conv("a"), entryId(body.id ?? ""));
        assert.equal(entry.type, body.type);
      }
    },
  },
  {
    group,
    name: "answers a known key before it looks at epoch or head",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      const { epoch, headSeq } = await space.acquire({ conversation: conv("a"), writer: "w1", leaseMs: 0 });
      const author = { kind: "owner", epoch, expected: headSeq } as const;
      const first = await rig.append(space, "a", [user("mine")], { author, key: "k" });
      await space.acquire({ conversation: conv("a"), writer: "w2", leaseMs: 0 });
      const zombie = await rig.append(space, "a", [user("mine")], { author, key: "k" });
      assert.deepEqual([zombie.deduped, zombie.toSeq], [true, first.toSeq]);
    },
  },
  {
    group,
    name: "has no conversation until it is created, and creates it once",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await assert.rejects(rig.append(space, "a", [user("x")]), { code: "conversation_not_found" });
      await assert.rejects(space.head(conv("a")), { code: "conversation_not_found" });
      await rig.create(space, "a", [user("first")], "new/a");
      await assert.rejects(rig.create(space, "a", [user("second")]), { code: "conversation_exists" });
      const again = await rig.create(await rig.space(), "a", [user("first")], "new/a");
      assert.equal(again.deduped, true);
      assert.deepEqual(await texts(space, "a"), ["first"]);
    },
  },
  {
    group,
    name: "makes one conversation of a create that is sent many times at once under one key, and says when it differs",
    async run(subject) {
      await using rig = new Rig(subject);
      const handles = [await rig.space(), await rig.space(), await rig.space()];
      const sent = handles.flatMap((handle) =>
        [1, 2].map(() => rig.create(handle, "a", [user("first", "m1")], "new/a")),
      );
      const results = await Promise.all(sent);
      assert.equal(results.filter((result) => !result.deduped).length, 1);
      assert.deepEqual(new Set(results.map((result) => result.lastId)), new Set(["m1"]));
      const [space] = handles;
      assert.ok(space);
      const other = await rig.create(space, "a", [user("other", "m2")], "new/a");
      assert.deepEqual([other.deduped, other.differs, other.lastId], [true, true, "m1"]);
      assert.deepEqual(await texts(space, "a"), ["first"]);
    },
  },
  {
    group,
    name: "lets racing appends through one after the other, each seq once",
    async run(subject) {
      await using rig = new Rig(subject);
      const handles = [await rig.space(), await rig.space(), await rig.space()];
      const [space] = handles;
      assert.ok(space);
      await rig.create(space, "a");
      const work = Array.from({ length: 30 }, (_, n) => {
        const handle = handles[n % handles.length];
        assert.ok(handle);
        return rig.append(handle, "a", [user(`m${n}`)]);
      });
      const seqs = (await Promise.all(work)).map((result) => result.toSeq).toSorted((a, b) => a - b);
      assert.deepEqual(
        seqs,
        Array.from({ length: 30 }, (_, n) => n + 2),
      );
      assert.equal((await texts(space, "a")).length, 30);
    },
  },
  {
    group: "append",
    name: "of appends from outside that race, one key is written once and one id once",
    async run(subject) {
      await using rig = new Rig(subject);
      const [one, other] = [await rig.space(), await rig.space()];
      await rig.create(one, "a", [user("one", "m1")]);
      const outside = { author: { kind: "outside" } } as const;
      const label = (id?: string): EntryBody => ({
        type: "label",
        ...(id === undefined ? {} : { id }),
        target: "m1",
        label: "x",
      });
      const keyed = [one, other, one, other].map((space) =>
        rig.append(space, "a", [label()], { ...outside, key: "k" }),
      );
      assert.equal((await Promise.all(keyed)).filter(({ deduped }) => !deduped).length, 1);
      const named = [one, other, one, other].map((space) => rig.append(space, "a", [label("same")], outside));
      const outcomes = await Promise.allSettled(named);
      assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
      const entries = await one.read({ conversation: conv("a"), limit: 20 });
      assert.deepEqual(
        entries.map(({ seq }) => seq),
        [1, 2, 3, 4],
      );
    },
  },
  {
    group: "append",
    name: "appends memories from another writer next to an owner, and finds them by text and by type",
    needs: ["search"],
    async run(subject) {
      await using rig = new Rig(subject);
      const [one, other] = [await rig.space(), await rig.space()];
      await rig.create(one, "a", [user("one", "m1")]);
      await one.acquire({ conversation: conv("a"), writer: "w", leaseMs: 60_000 });
      const outside = { author: { kind: "outside" } } as const;
      const saved = {
        type: "memory",
        change: "saved",
        key: "k",
        title: "Tea",
        content: "without milk",
      } as const;
      await rig.append(other, "a", [saved, { type: "memory", change: "removed", key: "k" }], outside);
      const memories = await one.read({ conversation: conv("a"), limit: 20, types: ["memory"] });
      assert.deepEqual(
        memories.map(({ seq }) => seq),
        [3, 4],
      );
      const hits = await one.search({ query: "milk TEA", limit: 20 });
      assert.deepEqual(
        hits.map(({ conversation, seq }) => [conversation, seq]),
        [["a", 3]],
      );
    },
  },
];
