/** The tails of one conversation share one reader, and each of them still has every entry once and in order. */
import type { Disk } from "#stores/jsonl/disk/disk";
import { randomBytes } from "node:crypto";
import { StatementSync } from "node:sqlite";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import type { StoredEntry } from "#log/entry";
import { conv, Rig, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { nodeDisk } from "#stores/jsonl/disk/node-disk";
import { jsonlStore } from "#stores/jsonl/index";
import { rigOn } from "../support/sqlite-rig.ts";
import { subjects } from "../support/subjects.ts";
import { tempDir } from "../support/temp-dir.ts";

const TAILS = 20;
const APPENDS = 10;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A tail that goes on by itself. */
class Follower {
  readonly entries: StoredEntry[] = [];
  #wake: () => void = () => undefined;
  readonly over: Promise<void>;

  constructor(space: SpaceStore, after: number, signal: AbortSignal) {
    this.over = this.#follow(space, after, signal);
  }

  async #follow(space: SpaceStore, after: number, signal: AbortSignal): Promise<void> {
    for await (const stored of space.tail({ conversation: conv("a"), after, signal })) {
      this.entries.push(stored);
      this.#wake();
    }
  }

  async has(count: number): Promise<void> {
    while (this.entries.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

/** Appends one by one, each once every tail has the one before; returns what the tails were given. */
async function appendBesideTails(
  rig: Rig,
  space: SpaceStore,
  onReady: () => void,
): Promise<readonly (readonly StoredEntry[])[]> {
  await rig.create(space, "a");
  const stop = new AbortController();
  const followers = Array.from({ length: TAILS }, () => new Follower(space, 0, stop.signal));
  await rig.append(space, "a", [user("first")]);
  await Promise.all(followers.map((one) => one.has(2)));
  onReady();
  for (let nth = 1; nth <= APPENDS; nth++) {
    await rig.append(space, "a", [user(`${nth}`)]);
    await Promise.all(followers.map((one) => one.has(2 + nth)));
  }
  stop.abort();
  await Promise.all(followers.map(({ over }) => over));
  return followers.map(({ entries }) => entries);
}

test("sqlite: an append costs one read for all tails of its conversation, and they are given the same entry", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"));
  const space = await rig.space();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }); // no polls of what other processes write
  const all = vi.spyOn(StatementSync.prototype, "all");
  const get = vi.spyOn(StatementSync.prototype, "get");
  let before = { all: 0, get: 0 };
  const heard = await appendBesideTails(rig, space, () => {
    before = { all: all.mock.calls.length, get: get.mock.calls.length };
  });
  expect(all.mock.calls.length - before.all).toBeLessThanOrEqual(APPENDS);
  expect(get.mock.calls.length - before.get).toBeLessThanOrEqual(APPENDS);
  for (const entries of heard) {
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: APPENDS + 2 }, (_, at) => at + 1));
    for (const [at, entry] of entries.slice(2).entries()) expect(entry).toBe(heard[0]?.[at + 2]);
  }
});

test("sqlite: a tail brings few large entries before its reader takes them", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"));
  const space = await rig.space();
  await rig.create(space, "a");
  for (let nth = 0; nth < 20; nth++)
    await rig.append(space, "a", [user(randomBytes(50_000).toString("hex"))]);
  const get = vi.spyOn(StatementSync.prototype, "get");
  const seqs: number[] = [];
  for await (const { seq } of space.tail({ conversation: conv("a"), after: 0 }))
    if (seqs.push(seq) === 3) break;
  expect(seqs).toEqual([1, 2, 3]);
  const isLarge = (value: unknown): boolean =>
    (typeof value === "string" || value instanceof Uint8Array) && value.length > 10_000;
  const large = get.mock.results.filter(({ value }) => Array.isArray(value) && value.some(isLarge));
  expect(large.length).toBeGreaterThanOrEqual(2);
  expect(large.length).toBeLessThan(10);
});

test("jsonl: an append costs one read of its file for all tails of its conversation", async () => {
  using dir = tempDir();
  let reads = 0;
  const disk: Disk = {
    ...nodeDisk,
    open: async (path, mode) => {
      if (mode === "read") reads++;
      return nodeDisk.open(path, mode);
    },
  };
  await using rig = new Rig({ open: async (nowMs) => jsonlStore({ dir: dir.path, disk, nowMs }) });
  const space = await rig.space();
  await appendBesideTails(rig, space, () => (reads = 0));
  expect(reads).toBeLessThanOrEqual(APPENDS);
});

/** A small generator of numbers, so that a failure can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test.each(subjects)(
  "$name: tails that begin anywhere and read at any pace have every entry once and in order",
  async (subject) => {
    using data = subject.make();
    await using rig = new Rig(data);
    const [space, elsewhere] = [await rig.space(), await rig.space()];
    await rig.create(space, "a");
    const next = numbers(7);
    const stop = new AbortController();
    const last = 60;
    const read = async (after: number, pace: number): Promise<readonly number[]> => {
      const seqs: number[] = [];
      for await (const { seq } of space.tail({ conversation: conv("a"), after, signal: stop.signal })) {
        seqs.push(seq);
        if (seq === last) break;
        // Somebody else's turn, or many of them: the tail falls behind.
        for (let turn = 0; turn < pace; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      return seqs;
    };
    const tails: { readonly after: number; readonly seqs: Promise<readonly number[]> }[] = [];
    for (let seq = 2; seq <= last; seq++) {
      // Now and then one that begins where the log has not arrived yet.
      const after = next(10) === 0 ? Math.min(seq + 5, last - 1) : next(seq);
      if (next(3) === 0) tails.push({ after, seqs: read(after, next(4) * next(8)) });
      const large = next(5) === 0 ? 40_000 : 1;
      await rig.append(next(4) === 0 ? elsewhere : space, "a", [user("x".repeat(large))]);
    }
    tails.push({ after: 0, seqs: read(0, 0) });
    for (const { after, seqs } of tails)
      expect(await seqs).toEqual(Array.from({ length: last - after }, (_, at) => after + 1 + at));
    stop.abort();
  },
);

test.each(subjects)(
  "$name: a tail from behind the end does not keep another one from the log's end",
  async (subject) => {
    using data = subject.make();
    await using rig = new Rig(data);
    const space = await rig.space();
    await rig.create(space, "a");
    const stop = new AbortController();
    const ahead = new Follower(space, 3, stop.signal);
    const behind = new Follower(space, 0, stop.signal);
    await behind.has(1);
    for (const [nth, text] of ["2", "3", "4"].entries()) {
      await rig.append(space, "a", [user(text)]);
      await behind.has(2 + nth);
    }
    await ahead.has(1);
    stop.abort();
    expect(behind.entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(ahead.entries.map(({ seq }) => seq)).toEqual([4]);
  },
);
