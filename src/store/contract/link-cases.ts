import assert from "node:assert/strict";
import { batchLink, entryDigest } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import { sha256 } from "#store/sha256";
import { type ContractCase, conv, Rig, texts, user } from "./rig.ts";

function linkAfter(previous: string, byOwner: boolean, entries: readonly StoredEntry[]): string {
  return batchLink(sha256, {
    v: entries[0]?.v ?? 0,
    previous,
    firstSeq: entries[0]?.seq ?? 0,
    byOwner,
    entries: entries.map((entry) => ({ parentId: entry.parentId, digest: entryDigest(sha256, entry) })),
  });
}

/** Every batch is chained to the one before it, in every store by the same rule. */
export const linkCases: readonly ContractCase[] = [
  {
    group: "links",
    name: "each batch has a hash over itself and the previous hash, for every writer",
    needs: ["check"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one")]);
      const made = await space.head(conv("a"));
      const [root, one] = await space.read({ conversation: conv("a"), limit: 10 });
      assert.ok(root !== undefined && one !== undefined);
      const first = linkAfter("", true, [root, one]);
      assert.deepEqual([made.link, made.ownerLink], [first, first]);
      await rig.append(space, "a", [{ type: "title", title: "T" }], { author: { kind: "outside" } });
      const titled = await space.head(conv("a"));
      const [title] = await space.read({ conversation: conv("a"), after: 2, limit: 1 });
      assert.ok(title !== undefined);
      assert.deepEqual([titled.link, titled.ownerLink], [linkAfter(first, false, [title]), first]);
      const { ownerLink } = await rig.append(space, "a", [user("two"), user("three")]);
      const after = await space.head(conv("a"));
      const rest = await space.read({ conversation: conv("a"), after: 3, limit: 10 });
      assert.deepEqual([after.link, ownerLink], [linkAfter(titled.link ?? "", true, rest), after.link]);
      assert.deepEqual(await space.check({ repair: false }), []);
    },
  },
  {
    group: "links",
    name: "says where each batch ended, with which link and whose it was, a page at a time",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const conversation = conv("a");
      await rig.create(space, "a", [user("one")]);
      const first = await space.head(conversation);
      await rig.append(space, "a", [{ type: "title", title: "T" }], { author: { kind: "outside" } });
      const titled = await space.head(conversation);
      await rig.append(space, "a", [user("two"), user("three")]);
      const last = await space.head(conversation);
      const ends = [
        { seq: 2, link: first.link, byOwner: true },
        { seq: 3, link: titled.link, byOwner: false },
        { seq: 5, link: last.link, byOwner: true },
      ];
      assert.deepEqual(await space.batchEnds({ conversation, after: 0, limit: 10 }), ends);
      assert.deepEqual(await space.batchEnds({ conversation, after: 2, limit: 1 }), ends.slice(1, 2));
      assert.deepEqual(await space.batchEnds({ conversation, after: 5, limit: 10 }), []);
      await assert.rejects(space.batchEnds({ conversation: conv("none"), after: 0, limit: 1 }), {
        code: "conversation_not_found",
      });
    },
  },
  {
    group: "links",
    name: "a fork continues from the entry it started at",
    needs: ["check"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "one"), user("two", "two")]);
      const fork = await rig.fork(space, "a", "b", { entry: "one" });
      const [node] = await space.read({ conversation: conv("a"), after: 1, limit: 1 });
      const [origin] = await space.read({ conversation: conv("b"), limit: 1 });
      assert.ok(node !== undefined && origin !== undefined);
      assert.equal(fork.link, linkAfter(entryDigest(sha256, node), true, [origin]));
      await rig.append(space, "b", [user("mine")]);
      assert.deepEqual(await space.check({ repair: false }), []);
    },
  },
  {
    group: "links",
    name: "an owner that knows another last batch gets the error diverged",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one")]);
      const { epoch, headSeq, ownerLink } = await space.acquire({
        conversation: conv("a"),
        writer: "w",
        leaseMs: 0,
      });
      const author = { kind: "owner", epoch, expected: headSeq } as const;
      const forgot = rig.append(space, "a", [user("two")], { author: { ...author, link: "0".repeat(64) } });
      await assert.rejects(forgot, { code: "diverged" });
      const written = await rig.append(space, "a", [user("two")], { author: { ...author, link: ownerLink } });
      const next = { kind: "owner", epoch, expected: written.toSeq, link: written.ownerLink } as const;
      await rig.append(space, "a", [user("three")], { author: next });
      assert.equal((await space.head(conv("a"))).headSeq, 4);
    },
  },
  {
    group: "links",
    name: "an owner that knows more than the log has gets the error diverged",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one")]);
      const { epoch, headSeq, ownerLink } = await space.acquire({
        conversation: conv("a"),
        writer: "w",
        leaseMs: 0,
      });
      const linkedAuthor = { kind: "owner", epoch, expected: headSeq, link: ownerLink } as const;
      for (const author of [
        { ...linkedAuthor, epoch: epoch + 1 },
        { ...linkedAuthor, expected: headSeq + 3 },
      ])
        await assert.rejects(rig.append(space, "a", [user("two")], { author }), { code: "diverged" });
      const renewed = space.renew({ conversation: conv("a"), epoch: epoch + 1, leaseMs: 1_000 });
      await assert.rejects(renewed, { code: "diverged" });
      await rig.append(space, "a", [user("two")], { author: linkedAuthor });
      assert.deepEqual(await texts(space, "a"), ["one", "two"]);
    },
  },
];
