/** The rules of the web UI that need no browser. */
import { describe, expect, test } from "vitest";
import { failureOf } from "#edges/http/guard/failures";
import type { Entry } from "#log/entry";
import { ERROR_GROUPS, type ErrorCode, LogError } from "#log/errors";
import { liveTurnAfter, liveTurnHearing, NO_TURN, saidBy } from "#log/projections/live-turn";
import { spanText } from "../../ui/src/parts/numbers.ts";
import { wayOn } from "../../ui/src/data/way-on.ts";
import { shownChars } from "../../ui/src/text/long/shown-chars.ts";
import { addressOf, conversationAddress, matchPath } from "../../ui/src/router/addresses.ts";
import { changedLines } from "../../ui/src/text/changes/file-change.ts";
import { plainStretches } from "../../ui/src/text/plain-stretches.ts";
import { NESTED } from "../support/hostile-log.ts";
import { shortId } from "#transfer/views/safe-text";

const entry = (seq: number, body: object): Entry =>
  ({
    v: 2,
    id: `e${seq}`,
    seq,
    parentId: null,
    time: `2026-01-01T00:00:0${seq % 10}Z`,
    payload: "",
    ...body,
  }) as unknown as Entry;

describe("addresses", () => {
  test("hold whatever an id or a search is made of", () => {
    expect(matchPath("/c/:conversation/tree", "/c/a%2Fb%20c/tree/")).toEqual({ conversation: "a/b c" });
    expect(conversationAddress("a/b c", "log", { at: "x&y", leaf: null })).toBe("/c/a%2Fb%20c/log?at=x%26y");
    expect(addressOf("/", { q: "", days: undefined })).toBe("/");
  });
  test("that are none lead nowhere", () => {
    for (const path of ["/c/", "/c/%E0%A4%A", "/c/a/b", "/d/a"])
      expect(matchPath("/c/:conversation", path)).toBeNull();
  });
});

describe("a turn that runs", () => {
  const update = (seq: number, ...events: readonly object[]): Entry =>
    entry(seq, { type: "update", turn: "t", data: { events } });
  test("is told by its words since the last message, and is over with its end", () => {
    const told = [
      entry(1, { type: "turn_start", turn: "t" }),
      update(
        2,
        { type: "text", text: "Hel" },
        { type: "tool", call: "c", name: "bash", input: {}, state: "started" },
      ),
      update(
        3,
        { type: "text", text: "lo" },
        { type: "tool", call: "c", name: "bash", input: {}, state: "done" },
        null as never,
      ),
    ].reduce(liveTurnAfter, NO_TURN);
    expect(told).toMatchObject({ turn: "t", words: "Hello", calls: [{ call: "c", state: "done" }] });
    expect(liveTurnAfter(told, entry(4, { type: "message", message: {} })).words).toBe("");
    expect(liveTurnAfter(told, entry(5, { type: "turn_end", turn: "t", outcome: "completed" }))).toEqual(
      NO_TURN,
    );
  });
  test("says words before the log has them, each once, and leaves to the log what it missed", () => {
    const heard = (at: number, text: string): Parameters<typeof liveTurnHearing>[1] => ({
      turn: "t",
      kind: "text",
      at,
      text,
    });
    let now = liveTurnAfter(NO_TURN, entry(1, { type: "turn_start", turn: "t" }));
    const said = (): string => saidBy(now).text;
    now = [heard(0, "Hel"), heard(3, "lo ")].reduce(liveTurnHearing, now);
    expect([said(), now.words]).toEqual(["Hello ", ""]);
    now = liveTurnAfter(now, update(2, { type: "text", text: "Hello" }));
    expect([said(), now.words]).toEqual(["Hello ", "Hello"]);
    // Something was dropped in between.
    now = liveTurnHearing(now, heard(9, "orld"));
    expect(said()).toBe("Hello ");
    now = liveTurnAfter(now, update(3, { type: "text", text: " wor" }));
    expect(said()).toBe("Hello wor");
    now = liveTurnHearing(now, heard(9, "ld"));
    expect(said()).toBe("Hello world");
    // The next answer is heard before the log has told of the message.
    now = [heard(0, "And "), heard(4, "more"), heard(8, " of it")].reduce(liveTurnHearing, now);
    expect(said()).toBe("Hello world");
    now = liveTurnAfter(now, entry(4, { type: "message", message: {} }));
    expect(said()).toBe("And more of it");
    now = liveTurnHearing(now, { ...heard(0, "of another"), turn: "u" });
    expect(said()).toBe("And more of it");
    now = liveTurnAfter(now, entry(5, { type: "turn_end", turn: "t", outcome: "completed" }));
    expect(said()).toBe("");
    now = liveTurnAfter(now, entry(6, { type: "turn_start", turn: "u" }));
    expect(said()).toBe("of another");
  });
  test("does not say what a session said that was given up", () => {
    const told = [
      entry(1, { type: "turn_start", turn: "t" }),
      update(2, { type: "text", text: "half a" }),
      entry(3, { type: "attempt", turn: "t", upstream: "B" }),
      update(4, { type: "text", text: "Whole" }),
    ].reduce(liveTurnAfter, NO_TURN);
    expect(told.words).toBe("Whole");
  });
});

test("a time without anything is told in its largest units", () => {
  expect([300_000, 3_600_000, 7_500_000, 86_400_000, 100_000_000].map(spanText)).toEqual([
    "5 min",
    "1 h",
    "2 h 5 min",
    "1 d",
    "1 d 3 h",
  ]);
});

test("a text over 50 kB or 800 lines is shown in part", () => {
  expect(shownChars("x".repeat(50_000))).toBe(50_000);
  expect(shownChars("x".repeat(50_001))).toBe(50_000);
  expect(shownChars("a\n".repeat(800))).toBe(1_599);
  expect(shownChars("a\n".repeat(799))).toBe(1_598);
  expect(shownChars("")).toBe(0);
});

test("a change shows the words that are other, and gives up on what is too long", () => {
  const lines = changedLines("a\nold line\nz\n", "a\nnew line\nmore\nz\n") ?? [];
  expect(lines.map(({ sign, oldLine, newLine }) => [sign, oldLine, newLine])).toEqual([
    ["", 1, 1],
    ["-", 2, null],
    ["+", null, 2],
    ["+", null, 3],
    ["", 3, 4],
  ]);
  expect(lines[2]?.parts.filter(({ isChanged }) => isChanged).map(({ text }) => text)).toEqual(["new"]);
  expect(changedLines("x".repeat(150_000), "y".repeat(150_000))).toBeNull();
});

describe("what is given to a lexer", () => {
  test("is nested only as deep as can be read; all of a text is shown, and none of it twice", () => {
    for (const [name, text] of Object.entries(NESTED)) {
      const stretches = plainStretches(text);
      expect(stretches.map((one) => one.text).join("\n")).toBe(text);
      const given = stretches.filter(({ isPlain }) => !isPlain).map((one) => one.text);
      // Brackets nest nothing: only what closes them would.
      if (name === "brackets") continue;
      expect([name, Math.max(0, ...given.map(({ length }) => length)) < 9_000]).toEqual([name, true]);
    }
  });

  test("is what people write, whole", () => {
    const written = [
      "# Heading\n\n- a\n  - b\n    - c\n\n> quoted\n> > twice\n\n1. one\n2. two",
      `\`\`\`\n${"        if (deep) { return a_b * c_d; }\n".repeat(90)}\`\`\``,
      "---\n***\n- - -",
      "**bold** and _slanted_ ".repeat(100),
    ];
    for (const text of written) expect(plainStretches(text)).toEqual([{ isPlain: false, text }]);
  });

  test("is apart from what is too deep beside it", () => {
    const stretches = plainStretches(`before\n${"> ".repeat(50)}deep\nafter`);
    expect(stretches.map(({ isPlain }) => isPlain)).toEqual([false, true, false]);
  });
});

test("ids that were made at the same moment are told apart by what is shown of them", () => {
  const made = ["01a1e683-b0c1-7000-be35-f042ca0dac1a", "01a1e683-b0c1-7001-a112-0c6fd1a9b2e4"];
  expect(made.map(shortId)).toEqual(["ca0dac1a", "d1a9b2e4"]);
  expect(shortId("fix-the-test")).toBe("fix-the-test");
});

test("no failure sends a person to an address of the API", () => {
  const codes = Object.keys(ERROR_GROUPS) as readonly ErrorCode[];
  const told = codes.map((code) => failureOf(new LogError(code, "It failed")).body.error);
  expect(told.filter(({ next }) => next.includes("GET ")).length).toBeGreaterThan(3);
  expect(told.map(wayOn).filter((words) => /GET |openapi|Bearer/.test(words))).toEqual([]);
});
