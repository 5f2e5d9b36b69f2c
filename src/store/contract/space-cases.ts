import assert from "node:assert/strict";
import type { EntryBody } from "#log/entry";
import { parseSpaceId } from "#log/ids";
import { type Facet, FACET_OF, VERBS } from "#store/facets";
import { prepare } from "#store/prepare";
import { type ContractCase, conv, entryId, Rig, readTail, texts, user } from "./rig.ts";

const group = "space";

export const spaceCases: readonly ContractCase[] = [
  {
    group,
    name: "shows a space nothing of another, in any verb, not even that an id exists",
    async run(subject) {
      await using rig = new Rig(subject);
      const [mine, theirs] = [await rig.space("mine"), await rig.space("theirs")];
      await rig.create(mine, "a", [user("private words", "m1")]);
      const a = conv("a");
      const attempts: readonly (() => Promise<unknown>)[] = [
        () => theirs.head(a),
        () => rig.append(theirs, "a", [user("x")]),
        () => rig.append(theirs, "a", [{ type: "title", title: "x" }], { author: { kind: "outside" } }),
        () => theirs.acquire({ conversation: a, writer: "w", leaseMs: 1 }),
        () => theirs.renew({ conversation: a, epoch: 1, leaseMs: 1 }),
        () => rig.fork(theirs, "a", "b"),
        () => theirs.entry(a, entryId("m1")),
        () => theirs.page({ conversation: a, limit: 1 }),
        () => theirs.window({ conversation: a, limit: 1, settings: ["reset"] }),
        () => theirs.read({ conversation: a, limit: 1 }),
        () => theirs.findAppend(a, "k"),
      ];
      for (const attempt of attempts) await assert.rejects(attempt(), { code: "conversation_not_found" });
      assert.deepEqual((await theirs.list({ limit: 10 })).conversations, []);
      await rig.create(theirs, "a", [user("other", "m1")]);
      assert.deepEqual(await texts(mine, "a"), ["private words"]);
      assert.deepEqual(await texts(theirs, "a"), ["other"]);
      assert.deepEqual((await (await rig.open()).spaces()).toSorted(), ["mine", "theirs"]);
    },
  },
  {
    group,
    name: "shows a space no entry of another as it comes",
    needs: ["tail"],
    async run(subject) {
      await using rig = new Rig(subject);
      const [mine, theirs] = [await rig.space("mine"), await rig.space("theirs")];
      await rig.create(mine, "a", [user("private words", "m1")]);
      await assert.rejects(readTail(theirs, "a", 0, 1), { code: "conversation_not_found" });
    },
  },
  {
    group,
    name: "does not show a blob of another space, or accept one for it",
    needs: ["blobs"],
    async run(subject) {
      await using rig = new Rig(subject);
      const [mine, theirs] = [await rig.space("mine"), await rig.space("theirs")];
      await rig.create(mine, "a");
      const digest = await mine.putBlob(conv("a"), new Uint8Array([1, 2, 3]));
      const missing = { code: "conversation_not_found" };
      await assert.rejects(theirs.putBlob(conv("a"), new Uint8Array([1])), missing);
      await assert.rejects(theirs.getBlob(conv("a"), digest), missing);
    },
  },
  {
    group,
    name: "neither finds nor erases what another space has",
    needs: ["search", "erase"],
    async run(subject) {
      await using rig = new Rig(subject);
      const [mine, theirs] = [await rig.space("mine"), await rig.space("theirs")];
      await rig.create(mine, "a", [user("private words", "m1")]);
      assert.deepEqual(await theirs.search({ query: "private", limit: 10 }), []);
      await assert.rejects(theirs.erase(conv("a")), { code: "conversation_not_found" });
      assert.deepEqual(await texts(mine, "a"), ["private words"]);
    },
  },
  {
    group,
    name: "refuses a cursor that no page ended with",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      for (const after of [
        "",
        "junk",
        "junk junk",
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00.000Z ../a",
      ])
        await assert.rejects(space.list({ limit: 5, after }), { code: "invalid_request" });
    },
  },
  {
    group,
    name: "lists the latest first, in pages, by prefix",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      for (const id of ["ab1", "ab2", "cd1", "cd2"]) {
        await rig.create(space, id, [{ type: "title", title: `T ${id}` }]);
        rig.pass(1_000);
      }
      await rig.append(space, "ab1", [user("newer", "m1")]);
      const first = await space.list({ limit: 3 });
      assert.deepEqual(
        first.conversations.map((listed) => listed.conversation),
        ["ab1", "cd2", "cd1"],
      );
      assert.ok(first.next);
      const rest = await space.list({ limit: 3, after: first.next });
      assert.deepEqual(
        rest.conversations.map((listed) => listed.conversation),
        ["ab2"],
      );
      assert.equal(rest.next, null);
      const [top] = first.conversations;
      assert.deepEqual(
        [top?.title, top?.headSeq, top?.leaf, top?.origin, top?.damage],
        ["T ab1", 3, "m1", null, null],
      );
      const prefixed = await space.list({ limit: 9, prefix: "cd" });
      assert.deepEqual(
        prefixed.conversations.map((listed) => listed.conversation),
        ["cd2", "cd1"],
      );
      assert.deepEqual((await space.list({ limit: 9, prefix: "_d" })).conversations, []);
    },
  },
  {
    group,
    name: "shows title and folder as well-formed text, while the entries keep the original",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const root = '{"type":"conversation","id":"r","cwd":"/\\ud800x"}';
      const title = '{"type":"title","id":"t","title":"a\\udfffb"}';
      await space.create({ conversation: conv("a"), ...prepare([root, title], rig.idsAndTime) });
      for (const handle of [space, await rig.space()]) {
        const head = await handle.head(conv("a"));
        const [listed] = (await handle.list({ limit: 1 })).conversations;
        assert.deepEqual([head.cwd, head.title], ["/\ufffdx", "a\ufffdb"]);
        assert.deepEqual([listed?.cwd, listed?.title], [head.cwd, head.title]);
        assert.equal((await handle.entry(conv("a"), entryId("t"))).payload, '{"title":"a\\udfffb"}');
      }
    },
  },
  {
    group,
    name: "erases a conversation for good while a fork keeps what it inherited",
    needs: ["erase", "search"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2"), user("gone", "m3")]);
      await rig.append(space, "a", [{ type: "hide", target: "m1" }], { author: { kind: "outside" } });
      await rig.fork(space, "a", "b", { entry: "m2" });
      await rig.append(space, "b", [user("mine", "n1")]);
      await space.erase(conv("a"));
      const after = await rig.space();
      await assert.rejects(after.head(conv("a")), { code: "conversation_not_found" });
      assert.deepEqual(
        (await after.list({ limit: 9 })).conversations.map((listed) => listed.conversation),
        ["b"],
      );
      assert.deepEqual(await after.search({ query: "gone", limit: 9 }), []);
      assert.deepEqual(await texts(after, "b"), ["one", "two", "mine"]);
      assert.deepEqual([...(await after.page({ conversation: conv("b"), limit: 9 })).hidden], ["m1"]);
      await rig.append(after, "b", [{ ...user("again", "n2"), parentId: "m1" }]);
      assert.deepEqual(await texts(after, "b"), ["one", "again"]);
      await assert.rejects(rig.create(after, "a"), {
        code: "conversation_exists",
        details: { conversation: "a", erased: true },
      });
      await assert.rejects(after.erase(conv("a")), { code: "conversation_not_found" });
      await after.erase(conv("b"));
      assert.deepEqual((await after.list({ limit: 9 })).conversations, []);
      await rig.create(after, "a", [user("fresh")]);
      assert.deepEqual(await texts(after, "a"), ["fresh"]);
    },
  },
  {
    group,
    name: "erases a chain of forks in any order",
    needs: ["erase"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("a1", "a1"), user("a2", "a2")]);
      await rig.fork(space, "a", "b", { entry: "a1" });
      await rig.append(space, "b", [user("b1", "b1"), user("b2", "b2")]);
      await rig.fork(space, "b", "c", { entry: "b1" });
      await rig.append(space, "c", [user("c1", "c1")]);
      await space.erase(conv("b"));
      await space.erase(conv("a"));
      const after = await rig.space();
      assert.deepEqual(await texts(after, "c"), ["a1", "b1", "c1"]);
      await after.erase(conv("c"));
      for (const id of ["a", "b", "c"]) await rig.create(after, id);
    },
  },
  {
    group,
    name: "keeps for a fork what it inherited from a branched source, images included",
    needs: ["erase", "blobs"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2")]);
      const image = await space.putBlob(conv("a"), new Uint8Array([1, 2, 3]));
      const stray = await space.putBlob(conv("a"), new Uint8Array([4, 5, 6]));
      const content = [{ type: "image", mediaType: "image/png", blob: image }] as const;
      const titled: EntryBody = {
        type: "message",
        id: "s1",
        parentId: "m1",
        message: { role: "user", content },
      };
      await rig.append(space, "a", [titled, user("side", "s2")]);
      await rig.fork(space, "a", "b", { entry: "s2" });
      await rig.append(space, "b", [user("mine", "n1")]);
      await space.erase(conv("a"));
      for (const handle of [space, await rig.space()]) {
        assert.deepEqual(await texts(handle, "b", 1), ["one", "side", "mine"]);
        assert.deepEqual([...(await handle.getBlob(conv("b"), image))], [1, 2, 3]);
        await assert.rejects(handle.getBlob(conv("b"), stray), { code: "blob_not_found" });
      }
    },
  },
  {
    group,
    name: "finds nothing wrong with a store it wrote itself",
    needs: ["check"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1")]);
      await rig.fork(space, "a", "b");
      assert.deepEqual(await space.check({ repair: false }), []);
    },
  },
  {
    group: "facets",
    name: "declares what it brings, the log among it, and says plainly of every other verb that it is missing",
    async run(subject) {
      await using rig = new Rig(subject);
      const store = await rig.open();
      const space = store.space(parseSpaceId("default"));
      const declared = new Set<Facet>(store.facets);
      assert.ok(declared.has("log"));
      for (const verb of VERBS) {
        assert.equal(typeof space[verb], "function", verb);
        if (declared.has(FACET_OF[verb])) continue;
        const call = async (): Promise<unknown> => {
          const answer = Reflect.apply(space[verb], space, ["a", "b"]) as AsyncIterable<unknown>;
          return verb === "tail" ? answer[Symbol.asyncIterator]().next() : answer;
        };
        await assert.rejects(call(), { code: "facet_missing" }, verb);
      }
    },
  },
];
