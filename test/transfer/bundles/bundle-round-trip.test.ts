/**
 * Goal: what comes out of a bundle is what went into it, in any store, with forks as forks: nothing is there twice, nothing
 * is counted twice, and a bundle of it is the same bytes again.
 * Method: random families of conversations (forks of forks, branches, runs, seeds, children, labels, hidden entries, images)
 * from each store into each other.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { contentBlobs } from "#log/blob-names";
import type { Store } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";
import { importBundle } from "#transfer/bundles/import-bundle";
import { exportOrder } from "#transfer/bundles/export-bundle";
import { user } from "../../support/a-log.ts";
import { bring, bundleText, fileOfText } from "../../support/bundle-text.ts";
import { acts, makeFamily } from "../../support/random-family.ts";
import { type NamedSubject, subjects } from "../../support/subjects.ts";
import { spaceOf } from "#conversation/on-space";

/** All that can be asked of a conversation, but when it was made. */
async function allOf(chat: Conversation): Promise<object> {
  const { leaf, title, cwd, headSeq, ownerSeq, origin, segments, link, ownerLink, summary } =
    await chat.head();
  const entries = await Array.fromAsync(chat.log());
  const branch = await chat.branch();
  const blobs = [];
  for (const digest of new Set(branch.flatMap((entry) => contentBlobs(entry))))
    blobs.push([digest, Buffer.from(await chat.getBlob(digest)).toString("hex")]);
  return {
    head: { leaf: leaf.id, title, cwd, headSeq, ownerSeq, segments, link, ownerLink, summary },
    origin: origin === null ? null : { source: origin.source, entry: origin.entry, head: origin.head },
    entries,
    branch,
    ends: await spaceOf(chat).batchEnds({ conversation: chat.id, after: 0, limit: 9_999 }),
    runs: await chat.runs(),
    tree: await chat.tree(),
    context: await chat.context(),
    blobs,
  };
}

async function spaceUsage(holdfast: Holdfast): Promise<number> {
  let total = 0;
  for await (const { summary } of holdfast.listAll()) total += summary?.usage.costMicros ?? 0;
  return total;
}

async function onStore<T>(subject: NamedSubject, work: (store: Store) => Promise<T>): Promise<T> {
  using made = subject.make();
  await using store = await made.open(Date.now);
  return await work(store);
}

async function roundTrip(from: Holdfast, to: Holdfast, family: readonly Conversation[]): Promise<void> {
  const ordered = await exportOrder(from, family, false);
  const text = await bundleText(ordered);
  await importBundle(to, fileOfText(text));
  const copies: Conversation[] = [];
  for (const { id } of ordered) copies.push(await to.conversation(id));
  for (const [at, copy] of copies.entries())
    expect(await allOf(copy)).toEqual(await allOf(ordered[at] ?? copy));
  expect(await bundleText(copies)).toBe(text);
  expect(await spaceUsage(to)).toBe(await spaceUsage(from));
  expect(await to.check({ repair: false })).toEqual([]);
  // Once more: everything is known again, and nothing is there twice.
  const again = await importBundle(to, fileOfText(text));
  expect(new Set(again.conversations.map(({ state }) => state))).toEqual(new Set(["same"]));
  expect(await bundleText(copies)).toBe(text);
}

test("any family comes out of a bundle as it went in", () =>
  fc.assert(
    fc.asyncProperty(acts, async (given) => {
      await using one = inMemoryStore();
      await using other = inMemoryStore();
      const [from, to] = [new Holdfast(one, "s"), new Holdfast(other, "s")];
      await roundTrip(from, to, await makeFamily(from, given));
    }),
    { numRuns: 60 },
  ));

const pairs = [
  ["sqlite", "jsonl"],
  ["jsonl", "sqlite"],
  ["memory", "sqlite"],
] as const;

describe.each(pairs)("from %s to %s", (one, other) => {
  const named = (name: string): NamedSubject => subjects.find((subject) => subject.name === name) ?? fail();

  test("any family comes out as it went in", () =>
    fc.assert(
      fc.asyncProperty(acts, (given) =>
        onStore(named(one), (source) =>
          onStore(named(other), async (target) => {
            const [from, to] = [new Holdfast(source, "s"), new Holdfast(target, "s")];
            await roundTrip(from, to, await makeFamily(from, given));
          }),
        ),
      ),
      { numRuns: 4 },
    ));
});

function fail(): never {
  throw new Error("no such store");
}

test("with a part of a family, what its forks share with the rest is written out, and their forks go on from that", () =>
  fc.assert(
    fc.asyncProperty(acts, fc.nat(9), async (given, pick) => {
      await using one = inMemoryStore();
      await using other = inMemoryStore();
      const [from, to] = [new Holdfast(one, "s"), new Holdfast(other, "s")];
      const family = await makeFamily(from, given);
      const root = family[pick % family.length];
      if (root === undefined) return;
      const part = await exportOrder(from, [root], true);
      const text = await bundleText(part);
      await importBundle(to, fileOfText(text));
      const copies: Conversation[] = [];
      for (const chat of part) {
        const copy = await to.conversation(chat.id);
        copies.push(copy);
        const [before, after] = [await chat.branch(), await copy.branch()];
        const ids = (branch: typeof before): readonly unknown[] =>
          branch.map(({ id, hidden, payload }, at) => [id, hidden, at === 0 ? null : payload]);
        expect(ids(after)).toEqual(ids(before));
        expect((await copy.context()).messages).toEqual((await chat.context()).messages);
        expect(await copy.usage()).toEqual(await chat.usage());
      }
      expect(await to.check({ repair: false })).toEqual([]);
      // What was written whole is a log of its own now; from here on nothing changes any more.
      const again = await bundleText(copies);
      await using third = inMemoryStore();
      const last = new Holdfast(third, "s");
      await importBundle(last, fileOfText(again));
      const twice: Conversation[] = [];
      for (const { id } of copies) twice.push(await last.conversation(id));
      expect(await bundleText(twice)).toBe(again);
    }),
    { numRuns: 60 },
  ));

test("under fresh ids a family is the same family: forks, parents and what is shared", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "s");
  const root = await holdfast.create({ id: "root" });
  await root.append([user("one", "m1"), user("two", "m2")]);
  const fork = await root.fork({ id: "fork", at: "m1" });
  await fork.append(user("mine", "f1"));
  const child = await holdfast.createFrom("child", [
    { type: "conversation", parent: { conversation: "fork", entry: "f1" } },
  ]);
  const text = await bundleText([root, fork, child]);
  const imported = await importBundle(holdfast, fileOfText(text), { asNew: true });
  const [newRoot, newFork, newChild] = imported.conversations;
  expect(imported.conversations.map(({ from, links }) => [from, links])).toEqual([
    ["root", "new"],
    ["fork", "new"],
    ["child", "new"],
  ]);
  const forked = await holdfast.conversation(newFork?.conversation ?? "");
  expect((await forked.head()).origin).toMatchObject({ source: newRoot?.conversation, entry: "m1" });
  expect(newFork?.source).toBe(newRoot?.conversation);
  const begun = await holdfast.conversation(newChild?.conversation ?? "");
  expect((await begun.head()).summary?.parent).toEqual({ conversation: newFork?.conversation, entry: "f1" });
  expect((await forked.branch()).map(({ id }) => id).slice(1)).toEqual(["m1", "f1"]);
});

test("what is there already is known, what has grown since too; another conversation of that id is refused", async () => {
  await using store = inMemoryStore();
  const from = new Holdfast(store, "from");
  const root = await from.create({ id: "root" });
  await root.append(user("one", "m1"));
  const fork = await root.fork({ id: "fork" });
  await fork.append(user("two", "m2"));
  const text = await bundleText([root, fork]);
  const to = new Holdfast(store, "to");
  await bring(to, await bundleText([root]));
  await (await to.conversation("root")).append(user("went on", "m9"));
  const dry = await importBundle(to, fileOfText(text), { dryRun: true });
  expect(dry.conversations.map(({ state }) => state)).toEqual(["same", "new"]);
  await expect(to.conversation("fork")).rejects.toMatchObject({ code: "conversation_not_found" });
  await importBundle(to, fileOfText(text));
  expect((await (await to.conversation("fork")).branch()).map(({ id }) => id).slice(1)).toEqual(["m1", "m2"]);
  expect((await (await to.conversation("root")).head()).leaf.id).toBe("m9");
  const stranger = new Holdfast(store, "stranger");
  await (await stranger.create({ id: "fork" })).append(user("another", "x"));
  const refused = expect(importBundle(stranger, fileOfText(text))).rejects;
  await refused.toMatchObject({ code: "conversation_exists", details: { conversation: "fork" } });
  await expect(stranger.conversation("root")).rejects.toMatchObject({ code: "conversation_not_found" });
});

test.each(subjects)(
  "$name: forks of a fork that is written whole see of it what they saw",
  async (subject) => {
    await onStore(subject, async (store) => {
      const from = new Holdfast(store, "from");
      const top = await from.create({ id: "top" });
      await top.append([user("one", "m1"), user("two", "m2")]);
      const root = (await top.branch())[0]?.id ?? "";
      const middle = await top.fork({ id: "middle" });
      await middle.append(user("three", "m3"));
      const own = await middle.fork({ id: "own", at: "m3" });
      const inherited = await middle.fork({ id: "inherited", at: "m1" });
      const atRoot = await middle.fork({ id: "at-root", at: root });
      const further = await own.fork({ id: "further", at: root });
      await middle.hide("m1");
      await middle.append(user("four", "m4"));
      const forks = [own, inherited, atRoot, further];
      for (const fork of forks) await fork.append(user("its own", "x1"));
      const part = [middle, ...forks];
      const to = new Holdfast(store, "to");
      const { conversations } = await importBundle(to, fileOfText(await bundleText(part)));
      expect(conversations.map(({ links, linked }) => [links, linked])).toEqual(
        part.map(() => ["kept", true]),
      );
      for (const chat of part) {
        const seen = async (at: Conversation): Promise<unknown> =>
          (await at.branch()).map(({ id, hidden }) => [id, hidden]);
        expect(await seen(await to.conversation(chat.id))).toEqual(await seen(chat));
      }
      expect(await to.check({ repair: false })).toEqual([]);
    });
  },
);

test.each(subjects)(
  "$name: an image that source and fork name, the source later, is there for both",
  async (subject) => {
    await onStore(subject, async (store) => {
      const from = new Holdfast(store, "from");
      const top = await from.create({ id: "top" });
      await top.append(user("one", "m1"));
      const fork = await top.fork({ id: "fork" });
      const bytes = Buffer.from("an image");
      for (const chat of [top, fork]) {
        const content = [{ type: "image", mediaType: "image/png", blob: await chat.putBlob(bytes) } as const];
        await chat.append({ type: "message", message: { role: "user", content } });
      }
      const late = await top.fork({ id: "late" });
      const text = await bundleText([top, fork, late]);
      expect(text.split('{"type":"blob"')).toHaveLength(3);
      const to = new Holdfast(store, "to");
      await importBundle(to, fileOfText(text));
      for (const id of ["top", "fork", "late"]) {
        const copy = await to.conversation(id);
        const [digest = ""] = (await copy.branch()).flatMap((entry) => contentBlobs(entry));
        expect(Buffer.from(await copy.getBlob(digest))).toEqual(bytes);
      }
    });
  },
);
