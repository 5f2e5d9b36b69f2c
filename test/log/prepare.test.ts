import { expect, test } from "vitest";
import { prepare, uuidv7Maker } from "../../src/store/prepare.ts";

test("ids are UUIDv7 and sort in the order they were made, whatever the clock does", () => {
  const times = [5, 5, 4, 6, ...Array.from({ length: 9_000 }, () => 6)];
  let at = 0;
  const make = uuidv7Maker(() => 1_700_000_000_000 + (times[Math.min(at++, times.length - 1)] ?? 0));
  const ids = Array.from({ length: 9_000 }, make);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("the digest covers the bodies as given, so a retry with new ids and times matches", () => {
  let made = 0;
  const mint = { now: () => new Date(++made).toISOString(), newId: () => `e${++made}` };
  const body = { type: "title", title: "T" } as const;
  expect(prepare([body], mint, "k").digest).toBe(prepare([body], mint, "k").digest);
  expect(prepare([body], mint, "k").digest).not.toBe(prepare([body, body], mint, "k").digest);
});

test("times are kept in UTC, so that they sort as text", () => {
  const mint = { now: () => "", newId: () => "e1" };
  const [draft] = prepare([{ type: "title", title: "T", time: "2026-01-01T02:00:00+02:00" }], mint).drafts;
  expect(draft?.time).toBe("2026-01-01T00:00:00.000Z");
});
