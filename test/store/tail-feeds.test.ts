/** A tail is given what its own process has just written without a read, and nothing that is gone. */
import { expect, test, vi } from "vitest";
import type { StoredEntry } from "#log/entry";
import { TailFeeds, type TailSource } from "#store/tail-feeds";

const entry = (seq: number): StoredEntry => ({
  v: 2,
  id: `e${seq}`,
  seq,
  parentId: null,
  time: "",
  type: "title",
  payload: "{}",
});
const entries = (from: number, to: number): readonly StoredEntry[] =>
  Array.from({ length: to - from + 1 }, (_, n) => entry(from + n));

/** A log of so many entries that never grows, and how often it is read. */
class Log implements TailSource {
  reads = 0;
  readonly #headSeq: number;

  constructor(headSeq: number) {
    this.#headSeq = headSeq;
  }

  async read(after: number): ReturnType<TailSource["read"]> {
    this.reads++;
    return { entries: entries(after + 1, this.#headSeq), headSeq: this.#headSeq };
  }

  changed(_: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  }
}

async function firstSeqs(
  feeds: TailFeeds,
  log: Log,
  after: number,
  count: number,
): Promise<readonly number[]> {
  const seqs: number[] = [];
  for await (const { seq } of feeds.follow("log", log, { after })) if (seqs.push(seq) === count) break;
  return seqs;
}

const open = (): TailFeeds => new TailFeeds(() => false);

test("a tail that starts where this store has just written reads nothing", async () => {
  const [feeds, log] = [open(), new Log(5)];
  feeds.written("log", entries(3, 4));
  feeds.written("log", entries(5, 5));
  expect(await firstSeqs(feeds, log, 2, 3)).toEqual([3, 4, 5]);
  feeds.written("log", entries(4, 5));
  expect(await firstSeqs(feeds, log, 4, 1)).toEqual([5]);
  expect(log.reads).toBe(0);
});

test("a tail reads what this store did not write, or wrote long ago, or of a log that is gone", async () => {
  const older = new Log(5);
  const feeds = open();
  feeds.written("log", entries(4, 5));
  expect(await firstSeqs(feeds, older, 1, 4)).toEqual([2, 3, 4, 5]);
  const gap = open();
  gap.written("log", entries(2, 2));
  gap.written("log", entries(4, 5));
  expect(await firstSeqs(gap, older, 1, 4)).toEqual([2, 3, 4, 5]);
  expect(older.reads).toBe(2);
  const gone = new Log(1);
  const erased = open();
  erased.written("log", entries(2, 3));
  erased.written("log", []);
  erased.written("log", entries(1, 1));
  expect(await firstSeqs(erased, gone, 0, 1)).toEqual([1]);
  const late = open();
  late.written("log", entries(2, 5));
  const now = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 2_000);
  expect(await firstSeqs(late, older, 1, 4)).toEqual([2, 3, 4, 5]);
  now.mockRestore();
  expect(older.reads).toBe(3);
});
