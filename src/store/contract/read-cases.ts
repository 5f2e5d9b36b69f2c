import assert from "node:assert/strict";
import { entryLine } from "#log/codec";
import type { EntryBody } from "#log/entry";
import { parseSpaceId } from "#log/ids";
import { assistant, type ContractCase, conv, entryId, Rig, readTail, user } from "./rig.ts";

const group = "read";

/** Payloads that JSON.parse and JSON.stringify, a text column or a line-based file would each damage in some way. */
const EXACT: readonly string[] = [
  '{"n":12345678901234567890,"f":1.0,"e":1e400,"m":-0,"p":0.10}',
  '{"b":1,"a":2,"10":3,"9":4}',
  '{"a":1,"a":2}',
  '{"nul":"a\\u0000b","lone":"\\ud800 \\udfff","esc":"\\u00e9\\/"}',
  '{"sep":"\u2028\u2029","wide":"\u{1f600}漢字","bom":"\ufeff"}',
  '{ "spaced" : [ 1 , 2 ] ,\t"x":{} }',
  `{"deep":${"[".repeat(900)}${"]".repeat(900)}}`,
  `{"long":"${"x".repeat(200_000)}"}`,
];

export const readCases: readonly ContractCase[] = [
  {
    group,
    name: "gives back the exact text of every payload",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      for (const data of EXACT)
        await rig.append(space, "a", [`{"type":"custom","customType":"x","data":${data}}`]);
      const entries = await (
        await rig.space()
      ).read({ conversation: conv("a"), limit: 100, types: ["custom"] });
      assert.deepEqual(
        entries.map((entry) => entry.payload),
        EXACT.map((data) => `{"customType":"x","data":${data}}`),
      );
      for (const stored of entries) assert.ok(!entryLine(stored).includes("\n"));
    },
  },
  {
    group,
    name: "reads forwards from a seq, backwards before one, up to another, and by type",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [
        user("1"),
        { type: "update", data: 1 },
        assistant("2"),
        { type: "update", data: 2 },
      ]);
      const seqs = async (request: object): Promise<readonly number[]> =>
        (await space.read({ conversation: conv("a"), limit: 10, ...request })).map((entry) => entry.seq);
      assert.deepEqual(await seqs({}), [1, 2, 3, 4, 5]);
      assert.deepEqual(await seqs({ after: 2, limit: 2 }), [3, 4]);
      assert.deepEqual(await seqs({ newestFirst: true, limit: 2 }), [5, 4]);
      assert.deepEqual(await seqs({ newestFirst: true, after: 4 }), [3, 2, 1]);
      assert.deepEqual(await seqs({ types: ["update"] }), [3, 5]);
      assert.deepEqual(await seqs({ after: 5 }), []);
      assert.deepEqual(await seqs({ after: 1, until: 3 }), [2, 3]);
      assert.deepEqual(await seqs({ after: 1, until: 9, limit: 2 }), [2, 3]);
      assert.deepEqual(await seqs({ newestFirst: true, until: 4 }), [5, 4]);
      assert.deepEqual(await seqs({ newestFirst: true, after: 5, until: 3, types: ["update"] }), [3]);
      assert.deepEqual(await seqs({ until: 2, types: ["update", "title"] }), []);
    },
  },
  {
    group,
    name: "reads no more than so many bytes, and one entry at least",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const large = user("x".repeat(100_000));
      await rig.create(space, "a", [user("1"), large, user("2"), { type: "update", data: 1 }, large]);
      const seqs = async (request: object): Promise<readonly number[]> =>
        (await space.read({ conversation: conv("a"), limit: 10, ...request })).map((entry) => entry.seq);
      assert.deepEqual(await seqs({ bytes: 50_000 }), [1, 2]);
      assert.deepEqual(await seqs({ bytes: 50_000, after: 2 }), [3]);
      assert.deepEqual(await seqs({ bytes: 150_000, after: 2 }), [3, 4, 5]);
      assert.deepEqual(await seqs({ bytes: 150_000, after: 2, limit: 2 }), [3, 4]);
      assert.deepEqual(await seqs({ bytes: 0 }), [1]);
      assert.deepEqual(await seqs({ bytes: 150_000, newestFirst: true }), [6, 5, 4]);
      assert.deepEqual(await seqs({ bytes: 50_000, types: ["update", "message"], after: 3 }), [4, 5]);
      assert.deepEqual(await seqs({ bytes: 50_000, after: 6 }), []);
    },
  },
  {
    group,
    name: "finds a single entry of any type, and reports a missing one",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), { type: "title", id: "t1", title: "T" }]);
      const node = await space.entry(conv("a"), entryId("m1"));
      assert.deepEqual([node.seq, node.parentId, node.place?.depth], [2, "a-root", 1]);
      assert.equal((await space.entry(conv("a"), entryId("t1"))).place, null);
      await assert.rejects(space.entry(conv("a"), entryId("zz")), { code: "entry_not_found" });
    },
  },
  {
    group,
    name: "tails from a seq through what comes later, from any handle",
    needs: ["tail"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("1"), user("2")]);
      const live = readTail(space, "a", 1, 4);
      await rig.append(space, "a", [user("3")]);
      await rig.append(await rig.space(), "a", [user("4")]);
      assert.deepEqual(
        (await live).map((entry) => entry.seq),
        [2, 3, 4, 5],
      );
      assert.deepEqual(
        (await readTail(space, "a", 3, 2)).map((entry) => entry.seq),
        [4, 5],
      );
    },
  },
  {
    group,
    name: "ends a tail at its signal, and when the store is closed",
    needs: ["tail"],
    async run(subject) {
      await using rig = new Rig(subject);
      const store = await rig.open();
      const space = store.space(parseSpaceId("default"));
      await rig.create(space, "a");
      const stop = new AbortController();
      const started = Promise.withResolvers<void>();
      const drain = async (signal?: AbortSignal): Promise<number> => {
        let seen = 0;
        for await (const _ of space.tail({
          conversation: conv("a"),
          after: 0,
          ...(signal ? { signal } : {}),
        })) {
          seen++;
          if (signal) started.resolve();
        }
        return seen;
      };
      const stopped = drain(stop.signal);
      const closed = drain().catch(() => -1);
      await started.promise;
      stop.abort();
      assert.equal(await stopped, 1);
      await store.close();
      await closed;
    },
  },
  {
    group,
    name: "searches words and parts of words in any script, newest first, without hidden entries",
    needs: ["search"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("Fix the Parser tests", "m1"), assistant("解析器已修复", "m2")]);
      rig.pass(1_000);
      await rig.create(space, "b", [user("parse the PARSER again 100%", "n1"), user("secret parser", "n2")]);
      await rig.append(space, "b", [{ type: "hide", target: "n2" }], { author: { kind: "outside" } });
      const search = async (query: string, conversation?: string): Promise<readonly string[]> =>
        (
          await space.search({
            query,
            limit: 10,
            ...(conversation ? { conversation: conv(conversation) } : {}),
          })
        ).map((hit) => hit.entry);
      assert.deepEqual(await search("parser"), ["n1", "m1"]);
      assert.deepEqual(await search("parser fix"), ["m1"]);
      assert.deepEqual(await search("pars", "a"), ["m1"]);
      assert.deepEqual(await search("解析"), ["m2"]);
      assert.deepEqual(await search("修"), ["m2"]);
      assert.deepEqual(await search("%"), ["n1"]);
      assert.deepEqual(await search('"'), []);
      assert.deepEqual(await search("   "), []);
      await rig.append(space, "a", [user("late parser", "m3")]);
      assert.deepEqual(await search("parser", "a"), ["m3", "m1"]);
    },
  },
  {
    group,
    name: "searches without regard to accents, however they are written, and keeps other letters apart",
    needs: ["search"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [
        user("Rendez-vous au Café", "composed"),
        user("the cafe\u0301 round the corner", "decomposed"),
        user("CAFE", "plain"),
        user("がく", "voiced"),
        user("Ёлка, ΆΛΦΑ", "other"),
      ]);
      const search = async (query: string): Promise<readonly string[]> =>
        (await space.search({ query, limit: 9 })).map((hit) => hit.entry).toSorted();
      for (const query of ["cafe", "Café", "CAFE\u0301", "afé"])
        assert.deepEqual(await search(query), ["composed", "decomposed", "plain"], query);
      assert.deepEqual(await search("ёлка αλφα"), ["other"]);
      assert.deepEqual(await search("елка"), ["other"]);
      assert.deepEqual(await search("がく"), ["voiced"]);
      assert.deepEqual(await search("かく"), []);
      assert.deepEqual(await search("é"), await search("e"));
    },
  },
  {
    group,
    name: "finds a common word newest first: by time in the space, by seq in one conversation",
    needs: ["search"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const runStart = (entry: string, day: number): EntryBody => ({
        ...user(`common ${entry}`, entry),
        time: `2020-01-${String(day).padStart(2, "0")}T00:00:00.000Z`,
      });
      // Written in another order than they are dated, as after an import.
      await rig.create(space, "new", [runStart("n1", 20), runStart("n2", 21)]);
      await rig.create(space, "old", [runStart("o1", 1), runStart("o2", 3), runStart("o3", 2)]);
      await rig.append(space, "new", [runStart("n3", 22)]);
      const search = async (limit: number, conversation?: string): Promise<readonly string[]> => {
        const scope = conversation === undefined ? {} : { conversation: conv(conversation) };
        return (await space.search({ query: "common", limit, ...scope })).map((hit) => hit.entry);
      };
      assert.deepEqual(await search(3), ["n3", "n2", "n1"]);
      assert.deepEqual(await search(9), ["n3", "n2", "n1", "o2", "o3", "o1"]);
      assert.deepEqual(await search(2, "old"), ["o3", "o2"]);
      assert.deepEqual(await search(1, "new"), ["n3"]);
      assert.deepEqual(await search(0), []);
    },
  },
  {
    group,
    name: "keeps blobs by digest, once, for the conversation and its forks",
    needs: ["blobs"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a");
      const bytes = new Uint8Array(100_000).map((_, n) => (n * 7919) % 251);
      const digest = await space.putBlob(conv("a"), bytes);
      assert.equal(await space.putBlob(conv("a"), bytes), digest);
      await rig.fork(space, "a", "b");
      const other = await rig.space();
      assert.deepEqual(Buffer.from(await other.getBlob(conv("a"), digest)), Buffer.from(bytes));
      assert.deepEqual(Buffer.from(await other.getBlob(conv("b"), digest)), Buffer.from(bytes));
      await rig.create(space, "c");
      await assert.rejects(space.getBlob(conv("c"), digest), { code: "blob_not_found" });
    },
  },
];
