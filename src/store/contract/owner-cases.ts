import assert from "node:assert/strict";
import type { EntryBody } from "#log/entry";
import type { HeadView } from "#store/requests";
import { type ContractCase, conv, Rig, texts, user } from "./rig.ts";

const group = "owner";
const label = (target: string): EntryBody => ({ type: "label", target: target, label: "here" });

export const ownerCases: readonly ContractCase[] = [
  {
    group,
    name: "fences the writer that was overtaken, even at the right head",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      const old = await space.acquire({ conversation: conv("a"), writer: "old", leaseMs: 0 });
      const next = await (await rig.space()).acquire({ conversation: conv("a"), writer: "new", leaseMs: 0 });
      assert.equal(next.epoch, old.epoch + 1);
      const stale = { kind: "owner", epoch: old.epoch, expected: old.headSeq } as const;
      await assert.rejects(rig.append(space, "a", [user("late")], { author: stale }), { code: "fenced" });
      const fresh = { kind: "owner", epoch: next.epoch, expected: next.headSeq } as const;
      await rig.append(space, "a", [user("mine")], { author: fresh });
      assert.deepEqual(await texts(space, "a"), ["mine"]);
    },
  },
  {
    group,
    name: "keeps one-shot appends, owners and letting go apart, in whatever order they follow each other",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      await rig.append(space, "a", [user("one")]);
      const mine = await space.acquire({ conversation: conv("a"), writer: "turn", leaseMs: 60_000 });
      const author = { kind: "owner", epoch: mine.epoch, expected: mine.headSeq } as const;
      await assert.rejects(rig.append(space, "a", [user("cut in")]), { code: "busy" });
      const { toSeq } = await rig.append(space, "a", [user("two")], { author });
      await space.renew({ conversation: conv("a"), epoch: mine.epoch, leaseMs: 0 });
      await rig.append(space, "a", [user("three")]);
      const late = rig.append(space, "a", [user("late")], { author: { ...author, expected: toSeq } });
      await assert.rejects(late, { code: "fenced" });
      assert.deepEqual(await texts(space, "a"), ["one", "two", "three"]);
    },
  },
  {
    group,
    name: "returns a lease in the same epoch to the named writer, except after another acquired it",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      const { epoch } = await space.acquire({ conversation: conv("a"), writer: "task", leaseMs: 60_000 });
      const again = { conversation: conv("a"), epoch, writer: "task" };
      await space.renew({ ...again, leaseMs: 0 });
      const { lease } = await space.renew({ ...again, leaseMs: 60_000 });
      assert.equal(lease?.writer, "task");
      const author = { kind: "owner", epoch, expected: 1 } as const;
      await rig.append(space, "a", [user("one")], { author });
      await space.acquire({ conversation: conv("a"), writer: "task", leaseMs: 0 });
      await assert.rejects(space.renew({ ...again, leaseMs: 60_000 }), { code: "fenced" });
      assert.deepEqual(await texts(space, "a"), ["one"]);
    },
  },
  {
    group,
    name: "refuses an append that expects the wrong head, and writes nothing",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one")]);
      await assert.rejects(rig.append(space, "a", [user("x")], { author: { kind: "once", expected: 1 } }), {
        code: "head_moved",
      });
      await assert.rejects(rig.append(space, "a", [user("x")], { author: { kind: "once", expected: 3 } }), {
        code: "head_moved",
      });
      await rig.append(space, "a", [user("two")], { author: { kind: "once", expected: 2 } });
      assert.deepEqual(await texts(space, "a"), ["one", "two"]);
    },
  },
  {
    group,
    name: "gives one of two writers that expect the same head, and tells the other",
    async run(subject) {
      await using rig = new Rig(subject);
      const [left, right] = [await rig.space(), await rig.space()];
      await rig.create(left, "a");
      const author = { kind: "once", expected: 1 } as const;
      const outcomes = await Promise.allSettled([
        rig.append(left, "a", [user("l")], { author }),
        rig.append(right, "a", [user("r")], { author }),
      ]);
      const lost = outcomes.filter((outcome) => outcome.status === "rejected");
      assert.equal(lost.length, 1);
      assert.equal(lost[0]?.reason.code, "head_moved");
      assert.equal((await texts(left, "a")).length, 1);
    },
  },
  {
    group,
    name: "takes facts from outside during a turn without disturbing the owner or the leaf",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1")]);
      const own = await space.acquire({ conversation: conv("a"), writer: "turn", leaseMs: 60_000 });
      const outside = await rig.space();
      const steer: EntryBody = {
        type: "steer",
        steer: "s1",
        state: "accepted",
        content: [{ type: "text", text: "wait" }],
      };
      await rig.append(outside, "a", [label("m1"), steer, { type: "title", title: "T" }], {
        author: { kind: "outside" },
      });
      const before = await space.head(conv("a"));
      assert.deepEqual([before.leaf.id, before.ownerSeq, before.title], ["m1", own.ownerSeq, "T"]);
      const author = { kind: "owner", epoch: own.epoch, expected: own.headSeq } as const;
      const result = await rig.append(space, "a", [user("two")], { author });
      assert.deepEqual([result.fromSeq, result.toSeq], [6, 6]);
      assert.deepEqual(await texts(space, "a"), ["one", "two"]);
    },
  },
  {
    group,
    name: "takes only facts from outside",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1")]);
      const author = { kind: "outside" } as const;
      await assert.rejects(rig.append(space, "a", [user("no")], { author }), { code: "invalid_request" });
      await assert.rejects(rig.append(space, "a", [{ type: "leaf", target: "m1" }], { author }), {
        code: "invalid_request",
      });
      await assert.rejects(rig.append(space, "a", [label("nope")], { author }), { code: "unknown_target" });
    },
  },
  {
    group,
    name: "ends a lease with the batch that asks for it; a repeated or rejected batch does not",
    async run(subject) {
      await using rig = new Rig(subject);
      const [space, other] = [await rig.space(), await rig.space()];
      await rig.create(space, "a");
      const own = (writer: string): ReturnType<typeof space.acquire> =>
        space.acquire({ conversation: conv("a"), writer, leaseMs: 60_000 });
      const lastOf = ({ epoch, headSeq }: HeadView) =>
        ({ kind: "owner", epoch, expected: headSeq, releases: true }) as const;
      const first = await own("w");
      await rig.append(space, "a", [user("one")], { author: lastOf(first), key: "k" });
      assert.equal((await other.head(conv("a"))).lease, null);
      const next = await other.acquire({ conversation: conv("a"), writer: "x", leaseMs: 60_000 });
      await rig.append(other, "a", [user("one")], { author: lastOf(next), key: "k" });
      await assert.rejects(rig.append(space, "a", [user("late")], { author: lastOf(first) }), {
        code: "fenced",
      });
      assert.equal((await space.head(conv("a"))).lease?.writer, "x");
      const { epoch, headSeq: expected } = next;
      await rig.append(other, "a", [user("two")], { author: { kind: "owner", epoch, expected } });
      assert.equal((await space.head(conv("a"))).lease?.writer, "x");
      const author = { ...lastOf(next), expected: expected + 1 };
      await rig.append(other, "a", [user("three")], { author });
      assert.deepEqual(await texts(space, "a"), ["one", "two", "three"]);
      assert.equal((await own("w")).lease?.writer, "w");
    },
  },
  {
    group,
    name: "is busy for others while a lease lives, and free when it ends, lapses or is let go",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const other = await rig.space();
      await rig.create(space, "a");
      const own = await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 10_000 });
      await assert.rejects(other.acquire({ conversation: conv("a"), writer: "x", leaseMs: 1 }), {
        code: "busy",
      });
      await assert.rejects(rig.append(other, "a", [user("x")]), { code: "busy" });
      rig.pass(9_000);
      await space.renew({ conversation: conv("a"), epoch: own.epoch, leaseMs: 10_000 });
      rig.pass(9_000);
      await assert.rejects(rig.append(other, "a", [user("x")]), { code: "busy" });
      await space.renew({ conversation: conv("a"), epoch: own.epoch, leaseMs: 0 });
      await rig.append(other, "a", [user("now")]);
      const late = { kind: "owner", epoch: own.epoch, expected: 2 } as const;
      await assert.rejects(rig.append(space, "a", [user("zombie")], { author: late }), { code: "fenced" });
      await assert.rejects(space.renew({ conversation: conv("a"), epoch: own.epoch, leaseMs: 5 }), {
        code: "fenced",
      });
      await other.acquire({ conversation: conv("a"), writer: "x", leaseMs: 1_000 });
      rig.pass(1_001);
      await rig.append(space, "a", [user("after the lapse")]);
      assert.deepEqual(await texts(space, "a"), ["now", "after the lapse"]);
    },
  },
  {
    group,
    name: "says in every head how long its lease still counts, by the clock that leases run by",
    async run(subject) {
      await using rig = new Rig(subject);
      const [space, other] = [await rig.space(), await rig.space()];
      const conversation = conv("b");
      await rig.create(space, "a");
      assert.equal((await rig.fork(space, "a", "b", { key: "b" })).lease, null);
      const own = await space.acquire({ conversation, writer: "w", leaseMs: 10_000 });
      assert.deepEqual([own.lease?.writer, own.lease?.remainingMs], ["w", 10_000]);
      rig.pass(4_000);
      const remaining = async (): Promise<readonly (number | undefined)[]> => {
        const heads = [
          await space.head(conversation),
          await other.head(conversation),
          (await other.window({ conversation, limit: 1, settings: [] })).head,
          await rig.fork(other, "a", "b", { key: "b" }),
        ];
        return [...new Set(heads.map(({ lease }) => lease?.remainingMs))];
      };
      assert.deepEqual(await remaining(), [6_000]);
      const author = { kind: "owner", epoch: own.epoch, expected: own.headSeq } as const;
      await rig.append(space, "b", [user("one")], { author });
      assert.deepEqual(await remaining(), [6_000]);
      const renewed = await space.renew({ conversation, epoch: own.epoch, leaseMs: 7_000 });
      assert.equal(renewed.lease?.remainingMs, 7_000);
      rig.pass(7_000);
      // A lease that lapsed may still be named: what remains of it says that it does not count.
      for (const leaseMs of await remaining()) assert.ok(leaseMs === undefined || leaseMs <= 0);
      await space.renew({ conversation, epoch: own.epoch, leaseMs: 0 });
      assert.deepEqual(await remaining(), [undefined]);
    },
  },
  {
    group,
    name: "keeps the leaf where navigation left it, through facts and reopening",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("three", "m3")]);
      await rig.append(space, "a", [{ type: "leaf", target: "m1" }]);
      await rig.append(space, "a", [label("m3"), { type: "title", title: "T" }], {
        author: { kind: "outside" },
      });
      const reopened = await rig.space();
      assert.equal((await reopened.head(conv("a"))).leaf.id, "m1");
      assert.deepEqual(await texts(reopened, "a"), ["one"]);
      await rig.append(reopened, "a", [user("other")]);
      assert.deepEqual(await texts(space, "a"), ["one", "other"]);
    },
  },
  {
    group,
    name: "lets a writer take back what it holds itself, and fences its former self",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      const before = await space.acquire({ conversation: conv("a"), writer: "host", leaseMs: 60_000 });
      const after = await (
        await rig.space()
      ).acquire({ conversation: conv("a"), writer: "host", leaseMs: 60_000 });
      assert.equal(after.epoch, before.epoch + 1);
      const author = { kind: "owner", epoch: before.epoch, expected: 1 } as const;
      await assert.rejects(rig.append(space, "a", [user("late")], { author }), { code: "fenced" });
    },
  },
];
