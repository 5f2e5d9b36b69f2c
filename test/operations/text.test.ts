/** One table of text, for every edge. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { HostEvent } from "#turn/host";
import { ENDING_CLASSES } from "#log/ending-class";
import { noticeOf } from "#edges/acp/host/host-view";
import { noticeText } from "#operations/views/notices";
import { LISTED_STATES } from "#operations/views/listed-rows";
import {
  endingClause,
  endingMessage,
  endingSentence,
  isKnownReason,
  reasonText,
  STATES,
} from "#operations/text";

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
  expect(noticeOf(event, { agent: "claude", hasOthers: true })).toMatchObject({ ...text });
  expect(text?.title).not.toMatch(/[._]$|undefined/);
});

test("every ending has words, and none of them is the name of its class", () => {
  for (const known of ENDING_CLASSES.filter((one) => one !== "completed")) {
    const end = { outcome: "failed", class: known };
    const words = [endingClause(end) ?? "", endingSentence({ outcome: "failed", class: known })];
    expect(words.filter((one) => one === "" || /_|failed: failed/.test(one))).toEqual([]);
  }
  expect(endingClause({ outcome: "completed" })).toBeNull();
});

test("an agent's own words are kept where they help, and not where it died", () => {
  const ending = (known: "overloaded" | "crashed", message: string): string =>
    endingMessage({ outcome: "failed", class: known, message });
  expect(ending("overloaded", "try at noon")).toBe("try at noon");
  expect(ending("overloaded", "")).not.toBe("");
  expect(ending("crashed", "exit 137")).not.toContain("137");
});

test("a reason names the session before; an unknown one is shown as it is", () => {
  expect(reasonText("expired", "session C")).toMatch(/^session C /);
  expect(reasonText("expired")).not.toContain("%");
  expect(reasonText("some_new_thing")).toBe("some new thing");
});

/** The reasons that Holdfast itself writes. */
const WRITTEN = ["src/upstream", "src/conversation", "src/edges/acp/host"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => reasonsIn(join(folder, file))),
);

function reasonsIn(file: string): readonly string[] {
  const text = readFileSync(file, "utf8");
  const patterns = [
    /(?<!stop: \{ )\breason(?::| =(?!=))[^;\n"[{]*"([a-z_]+)"(?: : "([a-z_]+)")?/g,
    /endUpstream\([^"\n]*"([a-z_]+)"/g,
    ...(file.endsWith("/choose.ts") ? [/(?:return|\?\?) "([a-z_]+)"/g] : []),
  ];
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(([, ...found]) => found.filter((reason) => reason !== undefined)),
  );
}

test("every reason that is written, every ending and every state has its text", () => {
  expect(WRITTEN).toEqual(expect.arrayContaining(["first", "agent_switch", "edited", "new_chat", "in_use"]));
  expect([...new Set(WRITTEN)].filter((reason) => !isKnownReason(reason))).toEqual([]);
  const bare = ENDING_CLASSES.filter((code) => code.includes("_") && reasonText(code).includes("_"));
  expect(bare).toEqual([]);
  for (const state of LISTED_STATES)
    expect([STATES[state].label, STATES[state].description]).not.toContain("");
  expect(LISTED_STATES.length).toBeGreaterThan(10);
});
