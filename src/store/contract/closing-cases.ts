import assert from "node:assert/strict";
import { parseDigest, parseSpaceId } from "#log/ids";
import { prepare } from "#store/prepare";
import type { SpaceStore } from "#store/facets";
import { type ContractCase, conv, entryId, Rig, texts, user } from "./rig.ts";

const group = "close";
const a = conv("a");
const digest = parseDigest("0".repeat(64));

type Verbs = { readonly [V in keyof SpaceStore]: () => Promise<unknown> };

/** Every verb once, on the conversation "a". */
function verbs(rig: Rig, space: SpaceStore): Verbs {
  return {
    create: () => rig.create(space, "z"),
    fork: () => rig.fork(space, "a", "y"),
    append: () => rig.append(space, "a", [user("more")]),
    findAppend: () => space.findAppend(a, "k"),
    acquire: () => space.acquire({ conversation: a, writer: "w", leaseMs: 0 }),
    renew: () => space.renew({ conversation: a, epoch: 1, leaseMs: 0 }),
    head: () => space.head(a),
    entry: () => space.entry(a, entryId("m1")),
    ids: () => space.ids({ conversation: a, prefix: "m", limit: 1 }),
    labelled: () => space.labelled({ conversation: a, label: "x", limit: 1 }),
    window: () => space.window({ conversation: a, limit: 1, settings: ["reset"] }),
    page: () => space.page({ conversation: a, limit: 1 }),
    read: () => space.read({ conversation: a, limit: 1 }),
    batchEnds: () => space.batchEnds({ conversation: a, after: 0, limit: 1 }),
    tail: () => space.tail({ conversation: a, after: 0 })[Symbol.asyncIterator]().next(),
    list: () => space.list({ limit: 1 }),
    runs: () => space.runs({ limit: 1 }),
    search: () => space.search({ query: "one", limit: 1 }),
    putBlob: () => space.putBlob(a, new Uint8Array([1])),
    getBlob: () => space.getBlob(a, digest),
    erase: () => space.erase(a),
    check: () => space.check({ repair: false }),
  };
}

export const closingCases: readonly ContractCase[] = [
  {
    group,
    name: "refuses every verb with one code from the moment it is closed, and may be closed again",
    async run(subject) {
      await using rig = new Rig(subject);
      const store = await rig.open();
      const space = store.space(parseSpaceId("default"));
      await rig.create(space, "a", [user("one", "m1")]);
      const closed = store.close();
      for (const when of ["while it closes", "after it has closed"]) {
        for (const [verb, call] of Object.entries(verbs(rig, space)))
          await assert.rejects(call(), { code: "store_gone" }, `${verb} ${when}`);
        await assert.rejects(store.spaces(), { code: "store_gone" });
        await assert.rejects(store.space(parseSpaceId("other")).head(a), { code: "store_gone" });
        await closed;
        await store.close();
      }
      assert.deepEqual(await texts(await rig.space(), "a"), ["one"]);
    },
  },
  {
    group,
    name: "finishes reads and writes that started before it was closed",
    async run(subject) {
      await using rig = new Rig(subject);
      const store = await rig.open();
      const space = store.space(parseSpaceId("default"));
      await rig.create(space, "a", [user("one", "m1")]);
      const begun = [
        rig.append(space, "a", [user("two")]),
        rig.append(space, "a", [user("three")]),
        rig.create(space, "b", [user("words")]),
        rig.fork(space, "a", "c"),
        space.page({ conversation: a, limit: 9 }),
        space.list({ limit: 9 }),
        ...(store.facets.includes("search") ? [space.search({ query: "one", limit: 9 })] : []),
        ...(store.facets.includes("check") ? [space.check({ repair: false })] : []),
        ...(store.facets.includes("blobs") ? [space.putBlob(a, new Uint8Array([1, 2, 3]))] : []),
      ];
      const [closed, ...outcomes] = await Promise.allSettled([store.close(), ...begun]);
      assert.deepEqual(
        [closed, ...outcomes].filter((outcome) => outcome.status === "rejected"),
        [],
      );
      // Appends that are not waited for may come in any order.
      const [first, ...others] = await texts(await rig.space(), "a");
      assert.deepEqual([first, ...others.toSorted()], ["one", "three", "two"]);
    },
  },
  {
    group,
    name: "ends tails that are under way without an error, whether they wait or were just given an entry",
    needs: ["tail"],
    async run(subject) {
      await using rig = new Rig(subject);
      const store = await rig.open();
      const space = store.space(parseSpaceId("default"));
      await rig.create(space, "a", [user("one"), user("two")]);
      const waiting = space.tail({ conversation: a, after: 3 })[Symbol.asyncIterator]();
      const next = waiting.next();
      const reading = space.tail({ conversation: a, after: 0 })[Symbol.asyncIterator]();
      assert.equal((await reading.next()).value.seq, 1);
      await store.close();
      assert.equal((await next).done, true);
      assert.equal((await reading.next()).done, true);
    },
  },
  {
    group,
    name: "answers by a promise, and never throws, in every verb and whatever it is given",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const wrong = undefined as never;
      const calls: { readonly [V in keyof SpaceStore]: () => Promise<unknown> } = {
        create: () => space.create(wrong),
        fork: () => space.fork(wrong),
        append: () => space.append(wrong),
        findAppend: () => space.findAppend(wrong, wrong),
        acquire: () => space.acquire(wrong),
        renew: () => space.renew(wrong),
        head: () => space.head(wrong),
        entry: () => space.entry(wrong, wrong),
        ids: () => space.ids(wrong),
        labelled: () => space.labelled(wrong),
        window: () => space.window(wrong),
        page: () => space.page(wrong),
        read: () => space.read(wrong),
        batchEnds: () => space.batchEnds(wrong),
        tail: () => space.tail(wrong)[Symbol.asyncIterator]().next(),
        list: () => space.list(wrong),
        runs: () => space.runs({ limit: 1 }),
        search: () => space.search(wrong),
        putBlob: () => space.putBlob(wrong, wrong),
        getBlob: () => space.getBlob(wrong, wrong),
        erase: () => space.erase(wrong),
        check: () => space.check(wrong),
      };
      for (const [verb, call] of Object.entries(calls)) {
        let answer: Promise<unknown> = Promise.resolve();
        assert.doesNotThrow(() => (answer = call()), `${verb} threw`);
        assert.ok(answer instanceof Promise, verb);
        await answer.catch(() => undefined);
      }
      // Nothing of it has harmed the store.
      const first = prepare([{ type: "conversation" }, user("fine")], rig.idsAndTime);
      await space.create({ conversation: a, ...first });
      assert.deepEqual(await texts(space, "a"), ["fine"]);
    },
  },
];
