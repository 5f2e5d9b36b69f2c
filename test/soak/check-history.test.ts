import { describe, expect, test } from "vitest";
import type { Entry } from "#log/entry";
import { checkHistory } from "./check-history.ts";
import { type Ending, type FinalLog, History, type Operation, type Place } from "./history.ts";

const C = "c-1";

function entry(seq: number, more: object): Entry {
  return {
    v: 2,
    id: `e${seq}`,
    seq,
    parentId: `e${seq - 1}`,
    time: "",
    payload: "",
    ...more,
  } as unknown as Entry;
}

const soak = (seq: number, name: string): Entry =>
  entry(seq, { type: "custom", customType: "soak", data: { name } });

const ROOT = entry(1, { type: "conversation" });

function logOf(...entries: readonly Entry[]): FinalLog {
  const all = [ROOT, ...entries];
  return { entries: all, leaf: all.at(-1)?.id ?? "", problems: [] };
}

function endingOf(log: FinalLog | null, more: Partial<Ending> = {}): Ending {
  return { logs: new Map(log === null ? [] : [[C, log]]), remains: new Map(), findings: [], ...more };
}

/** What clients were told, one after another. */
class Made {
  readonly history = new History();

  act(given: Partial<Operation> & Pick<Operation, "kind" | "key">): Operation {
    const operation = this.history.begin({ conversation: C, names: [], ...given });
    return Object.assign(operation, { outcome: "ok", to: this.history.now() }, given);
  }

  append(key: string, seq: number, more: Partial<Operation> = {}): Operation {
    const written = { fromSeq: seq, toSeq: seq, deduped: false };
    return this.act({ kind: "append", key, names: [key], written, ...more });
  }

  tail(places: readonly Place[], isWhole = false): void {
    const tail = this.history.tail(C, 0);
    tail.seen.push(...places);
    tail.isWhole = isWhole;
  }
}

const place = (seq: number): Place => [seq, `e${seq}`];
const GONE = { outcome: "failed", code: "conversation_not_found" } as const;

/** A history with something of everything, in which all is as it should be. */
function sound(): { readonly made: Made; readonly log: FinalLog } {
  const made = new Made();
  made.act({ kind: "create", key: "create" });
  made.append("a", 2);
  made.append("a", 2, { written: { fromSeq: 2, toSeq: 2, deduped: true } });
  made.append("b", 3, { outcome: "failed", written: undefined } as object);
  const unknown = made.history.begin({ kind: "append", conversation: C, key: "u", names: ["u"] });
  unknown.to = made.history.now();
  made.append("d", 4);
  made.act({ kind: "read", key: "r", headSeq: 4, seen: [1, 2, 3, 4].map(place) });
  made.tail([1, 2, 3, 4].map(place), true);
  return { made, log: logOf(soak(2, "a"), soak(3, "u"), soak(4, "d")) };
}

test("a history in which nothing was lost, doubled or seen out of order has no violations", () => {
  const { made, log } = sound();
  expect(checkHistory(made.history, endingOf(log))).toEqual([]);
});

/** Each of them is planted in the sound history. */
const PLANTED: readonly (readonly [string, (sound: { made: Made; log: FinalLog }) => Ending])[] = [
  [
    "an acknowledged append that is dropped",
    ({ log }) => endingOf({ ...log, entries: log.entries.filter(({ seq }) => seq !== 4), leaf: "e3" }),
  ],
  [
    "a keyed append that is written twice",
    ({ log }) => endingOf(logOf(...log.entries.slice(1), soak(5, "a"))),
  ],
  ["an append that failed and is there", ({ log }) => endingOf(logOf(...log.entries.slice(1), soak(5, "b")))],
  [
    "a gap in the order of a log",
    ({ log }) =>
      endingOf({
        ...log,
        entries: log.entries.map((one) => (one.seq === 4 ? { ...one, seq: 5 } : one)),
      }),
  ],
  ["a leaf that the log does not say", ({ log }) => endingOf({ ...log, leaf: "e2" })],
  [
    "an append whose key was answered with two places",
    ({ made, log }) => {
      made.append("a", 3, { written: { fromSeq: 3, toSeq: 3, deduped: true } });
      return endingOf(log);
    },
  ],
  [
    "a batch that is there in part",
    ({ made, log }) => {
      made.act({ kind: "append", key: "p", names: ["p/0", "p/1"], outcome: "unknown" });
      return endingOf(logOf(...log.entries.slice(1), soak(5, "p/0")));
    },
  ],
  [
    "an entry that a tail skipped",
    ({ made, log }) => {
      made.tail([1, 2, 4].map(place));
      return endingOf(log);
    },
  ],
  [
    "a tail that ends before the log does",
    ({ made, log }) => {
      made.tail([1, 2].map(place), true);
      return endingOf(log);
    },
  ],
  [
    "a tail that was sent an entry that the log does not have",
    ({ made, log }) => {
      made.tail([place(1), [2, "other"]]);
      return endingOf(log);
    },
  ],
  [
    "a read of a log that is shorter than one read before",
    ({ made, log }) => {
      made.act({ kind: "read", key: "late", headSeq: 3 });
      return endingOf(log);
    },
  ],
  [
    "an append in front of one that was acknowledged before",
    ({ made }) => {
      made.append("x", 6);
      made.append("y", 5);
      return endingOf(logOf(soak(2, "a"), soak(3, "u"), soak(4, "d"), soak(5, "y"), soak(6, "x")));
    },
  ],
  ["a conversation that is lost", () => endingOf(null)],
  [
    "an erased conversation that is there",
    ({ made, log }) => {
      made.act({ kind: "erase", key: "erase" });
      return endingOf(log);
    },
  ],
  [
    "an erased conversation that is read",
    ({ made }) => {
      made.act({ kind: "erase", key: "erase" });
      made.act({ kind: "read", key: "ghost", headSeq: 4 });
      return endingOf(null);
    },
  ],
  [
    "an erased conversation whose text is left in the store",
    ({ made }) => {
      made.act({ kind: "erase", key: "erase" });
      return endingOf(null, { remains: new Map([[C, 1]]) });
    },
  ],
  [
    "a tool call that was begun twice for one prompt",
    ({ log }) => {
      const call = (seq: number): Entry =>
        entry(seq, { type: "tool_intent", input: { about: "[s-1]" }, parentId: null });
      return endingOf({ ...logOf(...log.entries.slice(1), call(5), call(6)), leaf: "e4" });
    },
  ],
  [
    "a turn that never ended",
    ({ log }) => {
      const started = entry(5, { type: "turn_start", turn: "t", parentId: null });
      return endingOf({ ...logOf(...log.entries.slice(1), started), leaf: "e4" });
    },
  ],
  ["a hash that does not follow", ({ log }) => endingOf(log, { findings: ["a batch at 3"] })],
  [
    "a log that the invariant checker rejects",
    ({ log }) => endingOf({ ...log, problems: ["two results of one call"] }),
  ],
];

describe("a planted bug is found", () => {
  test.each(PLANTED)("%s", (_name, plant) => {
    const given = sound();
    expect(checkHistory(given.made.history, plant(given))).not.toEqual([]);
  });
});

describe("a crash of the database", () => {
  /** An update that was streamed, and is not in the log; whether the database ended after it. */
  const streamed = (type: "update" | "custom", isCrashed: boolean): readonly string[] => {
    const { made, log } = sound();
    const at = made.history.seen(entry(5, { id: "u5", type }));
    made.act({ kind: "read", key: "early", headSeq: 5, seen: [at] });
    made.tail([...[1, 2, 3, 4].map(place), at]);
    if (isCrashed) made.history.crash().to = made.history.now();
    made.act({ kind: "read", key: "late", headSeq: 4 });
    return checkHistory(made.history, endingOf(log));
  };

  test("may take what was streamed and not acknowledged", () => {
    expect(streamed("update", true)).toEqual([]);
  });

  test("takes nothing else, and nothing else takes it", () => {
    expect(streamed("custom", true)).not.toEqual([]);
    expect(streamed("update", false)).not.toEqual([]);
  });
});

test("a conversation that was erased is gone, whatever its tails had been sent, and who asks later is refused", () => {
  const { made } = sound();
  made.act({ kind: "erase", key: "erase" });
  made.act({ kind: "read", key: "late", ...GONE });
  expect(checkHistory(made.history, endingOf(null))).toEqual([]);
});
