import { expect, test } from "vitest";
import { resetInWords } from "#vendors/shared-endings";

const NOW = Date.parse("2026-11-15T07:02:30Z");

test.each([
  ["You've hit your 5-hour limit · resets 8:06am (UTC)", "2026-11-15T08:06:00Z"],
  ["resets 8am (Europe/Berlin)", "2026-11-16T07:00:00Z"],
  ["resets 9am (Europe/Berlin)", "2026-11-15T08:00:00Z"],
  ["resets 12am (UTC)", "2026-11-16T00:00:00Z"],
  ["resets 12:30pm (UTC)", "2026-11-15T12:30:00Z"],
  // The same minute: the words leave out the seconds.
  ["resets 7:02am (UTC)", "2026-11-15T07:02:00Z"],
  ["resets Nov 20, 8am (UTC)", "2026-11-20T08:00:00Z"],
  ["or try again at Nov 16th, 2026 7:50 AM (UTC).", "2026-11-16T07:50:00Z"],
  ["try again at 11:50 PM (America/New_York)", "2026-11-16T04:50:00Z"],
])("%s", (text, at) => {
  expect(new Date(resetInWords(text, { nowMs: NOW, zone: "Europe/Berlin" }) ?? 0).toISOString()).toBe(
    new Date(at).toISOString(),
  );
});

test("without a zone it is the one the agent runs in", () => {
  const words = "You’ve hit your usage limit. Try again at 9:30 AM.";
  expect(resetInWords(words, { nowMs: NOW, zone: "Europe/Berlin" })).toBe(Date.parse("2026-11-15T08:30:00Z"));
  expect(resetInWords(words, { nowMs: NOW, zone: "America/New_York" })).toBe(
    Date.parse("2026-11-15T14:30:00Z"),
  );
});

test("the clocks may change before it", () => {
  const before = Date.parse("2026-10-24T20:00:00Z");
  const at = resetInWords("resets Oct 25, 10am (Europe/Berlin)", { nowMs: before, zone: "UTC" });
  expect(new Date(at ?? 0).toISOString()).toBe("2026-10-25T09:00:00.000Z");
});

test.each([
  "resets soon",
  "resets 3pm (Nowhere/Land)",
  "resets 33pm (UTC)",
  "resets 3:75pm (UTC)",
  "resets Foo 20, 8am (UTC)",
  "try again at Nov 16th, 2024 7:50 AM (UTC)",
  "resets Dec 24, 8am (UTC)",
  "The meeting is at 3pm (UTC)",
])("nothing is made of: %s", (text) => {
  expect(resetInWords(text, { nowMs: NOW, zone: "Europe/Berlin" })).toBeNull();
});
