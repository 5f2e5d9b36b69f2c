/** Words for people: one table, whoever shows them. */
import { expect, test } from "vitest";
import type { HostEvent } from "#turn/host";
import type { EntryOf } from "#log/entry";
import { ENDING_CLASSES } from "#log/ending-class";
import { noticeOf } from "#edges/acp/host/notice-meta";
import { noticeText } from "#transfer/notices";
import { endingClause, endingMessage, endingSentence, reasonWords } from "#transfer/words";

const about = { conversation: "c", upstream: "s" } as const;
const EVENTS: readonly HostEvent[] = [
  {
    ...about,
    type: "session",
    reason: "expired",
    fidelity: "preamble",
    silent: false,
    restored: 2,
    priorContext: { messages: 2, leftOut: 0, effects: 0 },
  },
  { ...about, type: "lost", class: "crashed", message: "exit 1" },
  { ...about, type: "parked", class: "limit", resetAtMs: 0, message: "limit" },
  { ...about, type: "backing_off", delayMs: 1_500, message: "Overloaded" },
  { ...about, type: "switched", from: "claude", to: "codex" },
  { ...about, type: "silent", forMs: 30_000 },
  { ...about, type: "adopted", messages: 3, aside: true },
  { ...about, type: "continued", how: "edited", at: "e1", fidelity: "native" },
  { ...about, type: "poisoned", entry: "e1", isPrompt: true, hidden: false, message: "bad image" },
  { ...about, type: "ended", outcome: "failed", class: "empty" },
];

test.each(EVENTS)("an editor shows $type in the words that everyone uses", (event) => {
  const text = noticeText(event, {
    agent: "claude",
    otherAgent: "/agent NAME",
    timeText: (ms) => new Date(ms).toISOString(),
  });
  expect(noticeOf(event, { agent: "claude", others: true })).toMatchObject({ ...text });
  expect(text?.title).not.toMatch(/[._]$|undefined/);
});

test("every ending has words, and none of them is the name of its class", () => {
  for (const known of ENDING_CLASSES.filter((one) => one !== "completed")) {
    const end = { outcome: "failed", class: known } as EntryOf<"turn_end">;
    const words = [endingClause(end) ?? "", endingSentence({ outcome: "failed", class: known })];
    expect(words.filter((one) => one === "" || /_|failed: failed/.test(one))).toEqual([]);
  }
  expect(endingClause({ outcome: "completed" } as EntryOf<"turn_end">)).toBeNull();
});

test("an agent's own words are kept where they help, and not where it died", () => {
  const ending = (known: "overloaded" | "crashed", message: string): string =>
    endingMessage({ outcome: "failed", class: known, message });
  expect(ending("overloaded", "try at noon")).toBe("try at noon");
  expect(ending("overloaded", "")).not.toBe("");
  expect(ending("crashed", "exit 137")).not.toContain("137");
});

test("a reason speaks of the session it is about; one that is not known is shown as it stands", () => {
  expect(reasonWords("expired")).toContain("the one before");
  expect(reasonWords("expired", "it")).toMatch(/^it /);
  expect(reasonWords("some_new_thing")).toBe("some new thing");
});
