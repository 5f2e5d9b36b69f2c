/**
 * Goal: what a verb asks of the disk does not grow with what it is not about: a list with its square, a fork with the
 * forks above it, memory with the conversations that were once open.
 * Method: the operations on a disk in memory are counted; nothing here depends on how fast it is.
 */
import { expect, test } from "vitest";
import { conv, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { indexedStore } from "#stores/indexed/indexed-store";
import { JsonlLogs } from "#stores/jsonl/jsonl-logs";
import { OpenLogs } from "#stores/jsonl/open-logs";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import { append, create, DIR, idsAndTime, SPACE, spaceOn } from "../../support/jsonl-rig.ts";
import type { EntryId } from "#log/ids";

const LIST = 500;
const PAGE = 10;

async function manyConversations(disk: FaultyDisk): Promise<void> {
  const space = spaceOn(disk);
  for (let n = 0; n < LIST; n++) await create(space, `c${n}`, [user("hello")]);
}

async function listAll(space: SpaceStore): Promise<readonly string[]> {
  const found: string[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<SpaceStore["list"]>> = await space.list({
      limit: PAGE,
      ...(after === null ? {} : { after }),
    });
    found.push(...page.conversations.map((listed) => listed.conversation));
    after = page.next;
  } while (after !== null);
  return found;
}

/** How many operations of each kind a piece of work asks of the disk. */
async function counted(disk: FaultyDisk, work: () => Promise<unknown>): Promise<Map<string, number>> {
  const counts = new Map<string, number>([["all", 0]]);
  disk.onOperation = (operation) => {
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
    counts.set("all", (counts.get("all") ?? 0) + 1);
  };
  await work();
  disk.onOperation = null;
  return counts;
}

test("a list in pages looks at each conversation a few times, however many pages it has", async () => {
  const disk = new FaultyDisk();
  await manyConversations(disk);
  const space = spaceOn(disk);
  let found: readonly string[] = [];
  const cold = await counted(disk, async () => (found = await listAll(space)));
  expect(new Set(found).size).toBe(LIST);
  expect(found.length).toBe(LIST);
  expect(cold.get("open")).toBe(LIST);
  expect(cold.get("all")).toBeLessThan(10 * LIST);
  const warm = await counted(disk, () => listAll(space));
  expect([warm.get("open"), warm.get("read")]).toEqual([undefined, undefined]);
  expect(warm.get("all")).toBeLessThan(2.5 * LIST);
});

test("looking for the start of an id looks at the conversations that have it", async () => {
  const disk = new FaultyDisk();
  await manyConversations(disk);
  const found = await counted(disk, () => spaceOn(disk).list({ limit: 9, prefix: "c49" }));
  expect(found.get("all")).toBeLessThan(11 * 10 + 2);
});

test("a page shows a conversation as it is now, and none that was erased since the first page", async () => {
  const disk = new FaultyDisk();
  await manyConversations(disk);
  const space = spaceOn(disk);
  const first = await space.list({ limit: LIST - 2 });
  const left = Array.from({ length: LIST }, (_, n) => `c${n}`).filter(
    (id) => !first.conversations.some((listed) => listed.conversation === id),
  );
  const [kept = "", gone = ""] = left;
  const other = spaceOn(disk);
  await append(other, kept, [{ type: "title", title: "new" }]);
  await other.erase(conv(gone));
  const { conversations, next } = await space.list({ limit: 9, after: first.next ?? "" });
  expect(conversations.map(({ conversation, title }) => [conversation, title])).toEqual([[kept, "new"]]);
  expect(next).toBe(null);
});

/** A fork of a fork of a fork …, each with a message of its own. */
async function nested(disk: FaultyDisk, depth: number): Promise<string> {
  const space = spaceOn(disk);
  await create(space, "f0", [user("m0")]);
  for (let n = 1; n <= depth; n++) {
    const id = idsAndTime.newId() as EntryId;
    await space.fork({
      source: conv(`f${n - 1}`),
      conversation: conv(`f${n}`),
      time: idsAndTime.now(),
      id,
      key: null,
    });
    await append(space, `f${n}`, [user(`m${n}`)]);
  }
  return `f${depth}`;
}

test("a verb on a fork asks no more of the disk for the many forks above it", async () => {
  const costs: (readonly number[])[] = [];
  for (const depth of [20, 300]) {
    const disk = new FaultyDisk();
    const fork = await nested(disk, depth);
    const space = spaceOn(disk);
    await space.head(conv(fork));
    const verbs = [
      () => space.head(conv(fork)),
      () => append(space, fork, [user("more")]),
      () => space.page({ conversation: conv(fork), limit: 8 }),
      () => space.window({ conversation: conv(fork), limit: 1, settings: ["reset"] }),
    ];
    const counts: number[] = [];
    for (const verb of verbs) counts.push((await counted(disk, verb)).get("all") ?? 0);
    costs.push(counts);
  }
  expect(costs[1]).toEqual(costs[0]);
});

test("a fork read while its source is erased elsewhere reads on, from what the erase left", async () => {
  const disk = new FaultyDisk();
  const fork = await nested(disk, 5);
  const space = spaceOn(disk);
  const before = (await space.page({ conversation: conv(fork), limit: 50 })).entries.map((entry) => entry.id);
  for (const source of ["f0", "f3", "f4"]) await spaceOn(disk).erase(conv(source));
  const after = await space.page({ conversation: conv(fork), limit: 50 });
  expect(after.entries.map((entry) => entry.id)).toEqual(before);
});

test("indexes are kept by what they weigh, the latest used first, and a source for as long as its fork", async () => {
  const disk = new FaultyDisk();
  const space = spaceOn(disk);
  for (const id of ["a", "b", "c"]) {
    await create(space, id);
    await append(
      space,
      id,
      Array.from({ length: 100 }, () => user("x")),
    );
  }
  await space.fork({
    source: conv("a"),
    conversation: conv("fork"),
    time: idsAndTime.now(),
    id: idsAndTime.newId(),
    key: null,
  });
  const logs = new JsonlLogs({ dir: DIR, disk, readOnly: true, nowMs: () => 0, lockWaitMs: 0 });
  const weight = new OpenLogs().weightOf((await logs.open(SPACE, conv("a"))) ?? fail());
  const kept = new OpenLogs(2.5 * weight);
  const locationOf = logs.locationsOf(SPACE);
  const isKept = (id: string): boolean => kept.cached(`${DIR}/default/${id}.jsonl`) !== undefined;
  await kept.open(locationOf, conv("fork"));
  await kept.open(locationOf, conv("b"));
  expect(["a", "b", "fork"].map(isKept)).toEqual([true, true, true]);
  await kept.open(locationOf, conv("fork"));
  await kept.open(locationOf, conv("c"));
  expect(["a", "b", "c", "fork"].map(isKept)).toEqual([true, false, true, true]);
  await kept.open(locationOf, conv("b"));
  await kept.open(locationOf, conv("c"));
  expect(["a", "b", "c", "fork"].map(isKept)).toEqual([false, true, true, false]);
});

test("an index that grows under its writer is weighed as it has become", async () => {
  const disk = new FaultyDisk();
  const logs = new JsonlLogs({
    dir: DIR,
    disk,
    readOnly: false,
    nowMs: () => 0,
    lockWaitMs: 0,
    indexBytesMax: 200_000,
  });
  const space = indexedStore(logs, () => 0).space(SPACE);
  for (const id of ["a", "b", "c", "d"]) {
    await create(space, id);
    await append(
      space,
      id,
      Array.from({ length: 200 }, () => user("x")),
    );
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(["a", "b", "c", "d"].map((id) => logs.isInMemory(SPACE, conv(id)))).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

function fail(): never {
  throw new Error("the conversation is not there");
}

test("a search opens the files that have the word, newest first, and no more than it needs", async () => {
  const disk = new FaultyDisk();
  const space = spaceOn(disk);
  const [conversations, messages] = [30, 40];
  for (let n = 0; n < conversations; n++) {
    const time = new Date(Date.UTC(2026, 0, 1, n)).toISOString();
    const bodies = Array.from({ length: messages }, (_, at) => user(`common words ${n} and ${at}`));
    const rare = n === 3 ? [user("a needle")] : [];
    await create(
      space,
      `c${n}`,
      [...bodies, ...rare, user("the end")].map((body) => Object.assign(body, { time })),
    );
  }
  const search = (query: string, limit: number): Promise<Map<string, number>> =>
    counted(disk, async () => {
      const hits = await space.search({ query, limit });
      expect(new Set(hits.map(({ conversation }) => conversation)).size).toBeGreaterThan(0);
    });
  await search("needle", 5);
  expect((await search("needle", 5)).get("open")).toBe(1);
  expect((await search("common", 5)).get("open")).toBe(1);
  expect((await search("common", messages + 1)).get("open")).toBeLessThan(8);
  const nothing = await counted(disk, async () => {
    expect(await space.search({ query: "haystack", limit: 5 })).toEqual([]);
  });
  expect(nothing.get("open")).toBe(undefined);
  await append(space, "c7", [user("another needle")]);
  expect((await search("needle", 5)).get("open")).toBeLessThan(6);
});
