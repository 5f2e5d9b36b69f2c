import type { Disk } from "#stores/jsonl/disk/disk";
import { spawn } from "node:child_process";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { LogError } from "#log/errors";
import { parseSpaceId } from "#log/ids";
import { conv, Rig, readTail, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { nodeDisk } from "#stores/jsonl/disk/node-disk";
import { jsonlStore } from "#stores/jsonl/index";
import { appendOf, createOf, rigOn, writerOn } from "../support/sqlite-rig.ts";
import { subjects } from "../support/subjects.ts";
import { tempDir } from "../support/temp-dir.ts";

const SPACE = parseSpaceId("default");
const TAILS = 300;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Lets the stores' polls come when the test says so; everything else takes the time it takes. */
function holdPolls(): { poll: (times: number) => Promise<void> } {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  return { poll: (times) => vi.advanceTimersByTimeAsync(times * 50).then(() => undefined) };
}

/** Tails from the end of each conversation; resolves when all of them wait. */
async function follow(space: SpaceStore, ids: readonly string[], signal: AbortSignal): Promise<void> {
  for (const id of ids) {
    const tail = space.tail({ conversation: conv(id), after: 1, signal })[Symbol.asyncIterator]();
    tail.next().catch(() => undefined);
  }
  // A tail has read once, and then waits, by the time a later read of the same store is answered.
  for (const id of ids) await space.head(conv(id));
}

async function makeMany(rig: Rig, space: SpaceStore): Promise<readonly string[]> {
  const ids = Array.from({ length: TAILS }, (_, n) => `c${n}`);
  await Promise.all(ids.map((id) => rig.create(space, id)));
  return ids;
}

describe.each([
  { name: "memory", address: () => "memory:" },
  { name: "sqlite", address: (dir: string) => `sqlite:${join(dir, "s.db")}` },
  { name: "jsonl", address: (dir: string) => `jsonl:${join(dir, "s")}` },
])("the $name store", ({ address }) => {
  test("keeps a process alive that iterates a tail, and lets it end when the loop is left", async () => {
    using dir = tempDir();
    const source = JSON.stringify(join(import.meta.dirname, "../../src/index.ts"));
    // The timer alone would not keep the process alive until it fires.
    const script = `
      import { openHoldfast } from ${source};
      const hold = await openHoldfast({ store: ${JSON.stringify(address(dir.path))} });
      const conversation = await hold.create({ id: "a" });
      setTimeout(() => conversation.append({ type: "title", title: "later" }), 20).unref();
      for await (const entry of conversation.tail({ after: 1 })) { console.log(entry.title); break; }
      console.log("over");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (bytes: Buffer) => (said += bytes.toString()));
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect(said).toBe("later\nover\n");
    expect(code).toBe(0);
  });
});

test.each(subjects)(
  "a closed $name store ends the tails it has, and fails those asked for later",
  async (subject) => {
    using data = subject.make();
    await using rig = new Rig(data);
    const store = await rig.open();
    const space = store.space(SPACE);
    await rig.create(space, "a");
    const tail = space.tail({ conversation: conv("a"), after: 0 })[Symbol.asyncIterator]();
    expect((await tail.next()).done).toBe(false);
    const ended = tail.next();
    await store.close();
    expect((await ended).done).toBe(true);
    const late = space.tail({ conversation: conv("a"), after: 0 })[Symbol.asyncIterator]();
    const failed = await late.next().then(
      () => null,
      (error: LogError) => error,
    );
    expect(failed?.code).toBe("store_gone");
  },
);

test("sqlite: while nothing changes, tails ask nothing but whether anything has, all together", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"));
  const space = await rig.space();
  const ids = await makeMany(rig, space);
  const { poll } = holdPolls();
  const stop = new AbortController();
  await follow(space, ids, stop.signal);
  await poll(10); // the last of what was written above is noticed, and every tail looked at
  const all = vi.spyOn(StatementSync.prototype, "all");
  const get = vi.spyOn(StatementSync.prototype, "get");
  await poll(20);
  expect(all).not.toHaveBeenCalled();
  expect(get.mock.calls.length).toBeLessThanOrEqual(20);
  stop.abort();
});

test("sqlite: an append of another process wakes the tails of its own conversation alone", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  const ids = await makeMany(rig, space);
  const { poll } = holdPolls();
  const stop = new AbortController();
  await follow(space, ids, stop.signal);
  const live = readTail(space, "c7", 1, 1);
  await poll(10);
  using writer = writerOn(path);
  const all = vi.spyOn(StatementSync.prototype, "all");
  expect(writer.runGroup([appendOf("c7", [user("from elsewhere")])])[0]?.ok).toBe(true);
  const before = all.mock.calls.length;
  await poll(1);
  expect((await live).map((entry) => entry.seq)).toEqual([2]);
  await poll(10);
  // One question for what grew, and what the two tails of it read and read again.
  expect(all.mock.calls.length - before).toBeLessThanOrEqual(10);
  stop.abort();
});

test("sqlite: a tail hears of entries in rows that an erase had freed", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  using writer = writerOn(path);
  expect(writer.runGroup([createOf("b", [user("1"), user("2")])])[0]?.ok).toBe(true);
  const { poll } = holdPolls();
  const live = readTail(space, "a", 1, 1);
  await space.head(conv("a"));
  await poll(5);
  expect(writer.runSolo({ kind: "erase", space: SPACE, request: { conversation: conv("b") } }).ok).toBe(true);
  expect(writer.runGroup([appendOf("a", [user("in an old row")])])[0]?.ok).toBe(true);
  await poll(5);
  expect((await live).map((entry) => entry.seq)).toEqual([2]);
});

test("sqlite: a tail ends with the reason when another process erases its conversation", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  await rig.create(space, "b", [user("keeps the end of the table")]);
  const { poll } = holdPolls();
  const live = readTail(space, "a", 1, 1).then(
    () => null,
    (error: LogError) => error.code,
  );
  await space.head(conv("a"));
  await poll(5);
  using writer = writerOn(path);
  expect(writer.runSolo({ kind: "erase", space: SPACE, request: { conversation: conv("a") } }).ok).toBe(true);
  await poll(5);
  expect(await live).toBe("conversation_not_found");
});

test("sqlite: a tail that comes to lost entries says so, and does not wait for them", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a", [user("1"), user("2")]);
  using db = new DatabaseSync(path);
  db.exec("DELETE FROM entries WHERE seq = 3");
  const live = readTail(space, "a", 1, 2).then(
    () => null,
    (error: LogError) => error.code,
  );
  expect(await live).toBe("damaged");
});

test("jsonl: while nothing changes, tails look at a few files a second, however many they are", async () => {
  using dir = tempDir();
  let stats = 0;
  const disk: Disk = { ...nodeDisk, stat: (path) => (stats++, nodeDisk.stat(path)) };
  await using rig = new Rig({ open: async (nowMs) => jsonlStore({ dir: dir.path, disk, nowMs }) });
  const space = await rig.space();
  const ids = await makeMany(rig, space);
  const { poll } = holdPolls();
  const stop = new AbortController();
  await follow(space, ids, stop.signal);
  await poll(1);
  stats = 0;
  await poll(60);
  expect(stats).toBeLessThanOrEqual(60 * 5);
  stop.abort();
});

test("jsonl: where the system tells of no changes, every file is looked at in turn, again and again", async () => {
  using dir = tempDir();
  const looked = new Map<string, number>();
  const stat: Disk["stat"] = (path) => {
    looked.set(path, (looked.get(path) ?? 0) + 1);
    return nodeDisk.stat(path);
  };
  const disk: Disk = { ...nodeDisk, watch: () => null, stat };
  await using rig = new Rig({ open: async (nowMs) => jsonlStore({ dir: dir.path, disk, nowMs }) });
  const space = await rig.space();
  const ids = await makeMany(rig, space);
  const { poll } = holdPolls();
  const stop = new AbortController();
  await follow(space, ids, stop.signal);
  await poll(1);
  looked.clear();
  await poll(3 * Math.ceil(ids.length / 16));
  expect(looked.size).toBe(ids.length);
  expect(Math.min(...looked.values())).toBeGreaterThanOrEqual(2);
  expect(Math.max(...looked.values())).toBeLessThanOrEqual(4);
  stop.abort();
});

test.each([
  { name: "that tells of changes", disk: nodeDisk },
  { name: "that tells of none", disk: { ...nodeDisk, watch: () => null } satisfies Disk },
])("jsonl: a tail hears of another handle's append on a disk $name", async ({ disk }) => {
  using dir = tempDir();
  await using rig = new Rig({ open: async (nowMs) => jsonlStore({ dir: dir.path, disk, nowMs }) });
  const space = await rig.space();
  await rig.create(space, "a");
  const live = readTail(space, "a", 1, 1);
  await space.head(conv("a"));
  await rig.append(await rig.space(), "a", [user("2")]);
  expect((await live).map((entry) => entry.seq)).toEqual([2]);
});
