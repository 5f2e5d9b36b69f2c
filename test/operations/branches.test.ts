import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "#edges/http/client/index";
import { cutStrings } from "#operations/views/cut-strings";
import { assistant, user } from "#log/message";
import { serve, type Served } from "../edges/http/served.ts";

let served: Served;
let client: Client;

beforeAll(async () => {
  served = await serve();
  client = served.client(await served.token("read"));
  const conversation = await served.holdfast.create({ id: "c" });
  for (let at = 0; at < 30; at++)
    await conversation.append([
      { ...user(`prompt ${at}`), id: `u${at}` },
      { ...assistant(`answer ${at}`), id: `a${at}` },
      { type: "label", target: `u${at}`, label: `n${at}` },
    ]);
  // Another way from the tenth answer on, which is not where the conversation is.
  await conversation.append([{ ...user("other"), id: "o1", parentId: "a9" }]);
  await conversation.append([{ type: "leaf", target: "a29" }]);
  const fork = await conversation.fork({ id: "f", at: "a4" });
  await fork.append([{ ...user("mine"), id: "f1" }]);
});
afterAll(() => served[Symbol.asyncDispose]());

const ids = (page: { readonly entries: readonly { readonly id: string }[] }): readonly string[] =>
  page.entries.map(({ id }) => id);

test("a branch is read from any place, its end where none is named", async () => {
  const end = await client.listBranch({ conversation: "c", limit: 4 });
  expect([end.leaf, end.length, end.from, ids(end)]).toEqual(["a29", 61, 57, ["u28", "a28", "u29", "a29"]]);
  const start = await client.listBranch({ conversation: "c", from: 1, limit: 3 });
  expect([start.from, ids(start)]).toEqual([1, ["u0", "a0", "u1"]]);
  const beyond = await client.listBranch({ conversation: "c", from: 1_000, limit: 3 });
  expect([beyond.from, ids(beyond)]).toEqual([60, ["a29"]]);
  const whole = await client.listBranch({ conversation: "c", from: 0, limit: 500 });
  expect(whole.entries).toEqual((await client.listHistory({ conversation: "c", limit: 500 })).entries);
});

test("around an entry: on the branch it stands in the middle, else it names its own branch", async () => {
  const around = await client.listBranch({ conversation: "c", at: "u10", limit: 5 });
  expect([around.leaf, ids(around)]).toEqual(["a29", ["u9", "a9", "u10", "a10", "u11"]]);
  const other = await client.listBranch({ conversation: "c", at: "o1", limit: 3 });
  expect([other.leaf, other.length, ids(other)]).toEqual(["o1", 22, ["a9", "o1"]]);
  const pinned = await client.listBranch({ conversation: "c", leaf: "a4", limit: 2 });
  expect([pinned.leaf, pinned.length, ids(pinned)]).toEqual(["a4", 11, ["u4", "a4"]]);
});

test("a fork says how much of its branch another conversation holds", async () => {
  const fork = await client.listBranch({ conversation: "f", from: 0, limit: 500 });
  expect(fork.inherited).toBe(11);
  expect(ids(fork).slice(9, 11)).toEqual(["u4", "a4"]);
  expect(ids(fork).at(-1)).toBe("f1");
  expect(fork.length).toBe(fork.entries.length);
});

test("a branch says which log each of its places lies in, on any stretch, also where it leaves what was inherited early", async () => {
  const fork = await served.holdfast.conversation("f");
  const below = await fork.fork({ id: "below", at: "f1" });
  await below.append([{ ...user("deeper"), id: "b1" }]);
  const whole = await client.listBranch({ conversation: "below", from: 0, limit: 500 });
  expect([whole.inherited, whole.logs]).toEqual([
    12,
    [
      { conversation: "c", from: 0 },
      { conversation: "f", from: 11 },
      { conversation: "below", from: 12 },
    ],
  ]);
  const part = await client.listBranch({ conversation: "below", from: 3, limit: 9 });
  expect(part.logs).toEqual([
    { conversation: "c", from: 3 },
    { conversation: "f", from: 11 },
  ]);
  const own = await client.listBranch({ conversation: "c", limit: 3 });
  expect([own.inherited, own.logs]).toEqual([0, [{ conversation: "c", from: 58 }]]);
  // Another way from the second answer on.
  await below.append([{ ...user("early"), id: "e1", parentId: "a1" }]);
  for (let at = 2; at < 12; at++) await below.append([{ ...user(`early ${at}`), id: `e${at}` }]);
  const early = await client.listBranch({ conversation: "below", limit: 500 });
  expect([early.length, early.inherited, early.logs]).toEqual([
    16,
    5,
    [
      { conversation: "c", from: 0 },
      { conversation: "below", from: 5 },
    ],
  ]);
});

test("a fact lies on no branch, and an entry that is not there is said to be missing", async () => {
  const { entries } = await client.listEntries({ conversation: "c", types: ["label"], limit: 1 });
  const at = entries[0]?.id ?? "";
  await expect(client.listBranch({ conversation: "c", at })).rejects.toMatchObject({
    code: "invalid_request",
  });
  await expect(client.listBranch({ conversation: "c", at: "none" })).rejects.toMatchObject({ status: 404 });
});

test("texts that are longer than wanted are cut, and said to be; the entry has them whole", async () => {
  const conversation = await served.holdfast.create({ id: "long" });
  await conversation.append([
    { ...user("x".repeat(100_000)), id: "big" },
    { ...user("small"), id: "small" },
  ]);
  const page = await client.listBranch({ conversation: "long", textMax: 1_000 });
  expect(Object.keys(page.cut)).toEqual(["big"]);
  expect(page.cut["big"]).toBeGreaterThan(100_000);
  expect(JSON.stringify(page.entries).length).toBeLessThan(3_000);
  const whole = await client.getEntry({ conversation: "long", entry: "big" });
  expect(JSON.stringify(whole).length).toBeGreaterThan(100_000);
  expect(cutStrings({ a: ["ok", { b: "longer" }], c: 1, d: null }, 4)).toEqual({
    a: ["ok", { b: "long" }],
    c: 1,
    d: null,
  });
  expect(cutStrings(["ok"], 4)).toBeNull();
});

test("a stream of entries cuts long texts where that is asked for, and says how long they are", async () => {
  const conversation = await served.holdfast.create({ id: "streamed" });
  await conversation.append([
    { ...user("x".repeat(5_000)), id: "huge" },
    { ...user("short"), id: "short" },
  ]);
  const told = async (textMax: object): Promise<readonly unknown[]> => {
    const found: unknown[] = [];
    for await (const { entry, cut } of client.watch({ watch: ["streamed@1"], ...textMax })) {
      const { length } = JSON.stringify(entry);
      found.push([entry.id, cut === undefined ? null : cut > 5_000, length < 1_000]);
      if (entry.id === "short") return found;
    }
    return found;
  };
  expect(await told({ textMax: 100 })).toEqual([
    ["huge", true, true],
    ["short", null, true],
  ]);
  expect(await told({})).toEqual([
    ["huge", null, false],
    ["short", null, true],
  ]);
});
