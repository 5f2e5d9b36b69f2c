import { expect, test } from "vitest";
import { decodeEntry, checkVersion, entryLine } from "#log/codec";
import { FORMAT_VERSION } from "#log/entry";
import type { EntryId } from "#log/ids";
import { isLogError, LogError } from "#log/errors";
import { parseConversationId, parseKey } from "#log/ids";

test.each(["a", "0197-x", "A.b_c:d-e", "x".repeat(128)])("takes %s as an id", (id) => {
  expect(parseConversationId(id)).toBe(id);
});

test.each([
  "",
  ".",
  "..",
  "a/b",
  "a\\b",
  "a@b",
  "-rf",
  ".hidden",
  "a b",
  "a\u0000",
  "é",
  "x".repeat(129),
  "a.",
  7,
  null,
])("refuses %s as an id", (id) => {
  expect(() => parseConversationId(id)).toThrow(expect.objectContaining({ code: "invalid_id" }));
});

test("refuses a key that is blank, long or not well formed", () => {
  for (const key of ["", "x".repeat(513), "\ud800"]) expect(() => parseKey(key)).toThrow(LogError);
});

test("refuses a newer version and brings an older one up, step by step, keeping its text", () => {
  expect(() => checkVersion(FORMAT_VERSION + 1)).toThrow(
    expect.objectContaining({ code: "unsupported_version" }),
  );
  expect(() => checkVersion("x")).toThrow(expect.objectContaining({ code: "unsupported_version" }));
  const stored = {
    v: 1,
    id: "e1" as EntryId,
    seq: 1,
    parentId: null,
    time: "2026-01-01T00:00:00Z",
    type: "title" as const,
    payload: '{"name":"T"}',
  };
  const upcasts = {
    1: (_: string, old: object) => ({ title: "name" in old ? (old.name as string) : "" }),
    2: (_: string, old: object) => ({ ...old, more: true }),
  };
  const entry = decodeEntry(stored, upcasts, 3);
  expect(entry).toMatchObject({ title: "T", more: true, payload: '{"name":"T"}', v: 1 });
  expect(entryLine(stored)).toBe(
    '{"id":"e1","seq":1,"parentId":null,"time":"2026-01-01T00:00:00Z","type":"title","name":"T"}',
  );
});

test("knows its own errors by brand, also from another copy of the package", () => {
  const foreign = Object.assign(new Error("x"), { brand: "holdfast.LogError", code: "busy" });
  expect([
    isLogError(foreign),
    isLogError(foreign, "busy"),
    isLogError(foreign, "fenced"),
    isLogError(new Error("busy")),
  ]).toEqual([true, true, false, false]);
});
