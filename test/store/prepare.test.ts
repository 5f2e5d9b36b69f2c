import { expect, test } from "vitest";
import { prepare, uuidv7Maker } from "#store/prepare";

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
  const idsAndTime = { now: () => new Date(++made).toISOString(), newId: () => `e${++made}` };
  const body = { type: "title", title: "T" } as const;
  expect(prepare([body], idsAndTime, "k").digest).toBe(prepare([body], idsAndTime, "k").digest);
  expect(prepare([body], idsAndTime, "k").digest).not.toBe(prepare([body, body], idsAndTime, "k").digest);
});

test("the digest covers what is stored, also of a value that answers differently each time", () => {
  let reads = 0;
  const idsAndTime = { now: () => "2026-01-01T00:00:00.000Z", newId: () => "e1" };
  const data = {
    get sly() {
      return ++reads;
    },
  };
  const { drafts, digest } = prepare([{ type: "custom", customType: "x", data }], idsAndTime, "k");
  expect(drafts[0]?.draft.payload).toBe('{"customType":"x","data":{"sly":1}}');
  expect(digest).toBe(
    prepare(['{"type":"custom","customType":"x","data":{"sly":1}}'], idsAndTime, "k").digest,
  );
});

test("a key stands for the same bodies in every version", () => {
  const idsAndTime = { now: () => "2026-01-01T00:00:00.000Z", newId: () => "e1" };
  const data = { b: [1.5, -0, null], 7: "\ud800\n", a: new Date(0) as never };
  const bodies = [{ type: "custom", customType: "x", data } as const, '{ "type":"title",\n"title":"T" }'];
  expect(prepare(bodies, idsAndTime, "k").digest).toBe(
    "ebaa9474784f32d2bf16e0887432357f2d35d61abb0a07a221608e48dc80418a",
  );
});

test("times are kept in UTC, so that they sort as text", () => {
  const idsAndTime = { now: () => "", newId: () => "e1" };
  const [draft] = prepare(
    [{ type: "title", title: "T", time: "2026-01-01T02:00:00+02:00" }],
    idsAndTime,
  ).drafts;
  expect(draft?.time).toBe("2026-01-01T00:00:00.000Z");
  const abroad = { now: () => "2026-01-01T02:00:00+02:00", newId: () => "e1" };
  expect(prepare([{ type: "title", title: "T" }], abroad).drafts[0]?.time).toBe("2026-01-01T00:00:00.000Z");
});
