import { expect, test } from "vitest";
import { openImport } from "#transfer/bundles/open-import";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines } from "../cli-run.ts";

test.each([
  [
    "claude",
    { parentUuid: null, sessionId: "s", uuid: "u", type: "user", message: { role: "user", content: "Hi" } },
  ],
  [
    "claude",
    { type: "queue-operation", operation: "enqueue", sessionId: "s", timestamp: "2026-01-01T00:00:00Z" },
  ],
  ["claude", { type: "ai-title", aiTitle: "A title", sessionId: "s" }],
  ["codex", { timestamp: "2026-01-01T00:00:00Z", type: "session_meta", payload: { id: "s", cwd: "/w" } }],
  [
    "jsonl-store",
    { id: "a", seq: 1, parentId: null, time: "2026-01-01T00:00:00.000Z", type: "conversation" },
  ],
  ["bodies", { type: "message", message: { role: "user", content: [] } }],
])("a %s file that is given to import is called what it is", async (kind, line) => {
  const { status, err } = await holdfastHere("memory:", ["import", "-", "--json"], {
    input: JSON.stringify(line),
  });
  expect([status, jsonLines(err)[0]?.["error"]]).toMatchObject([
    2,
    { code: "invalid_request", details: { line: 1, kind } },
  ]);
});

test.each([
  ["compressed", Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0])],
  ["compressed", Buffer.from("PK\u0003\u0004 and more")],
  ["sqlite", Buffer.from("SQLite format 3\u0000 and more")],
  ["binary", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13])],
  ["empty", Buffer.alloc(0)],
])("bytes that are %s are called that, and never unpacked", async (kind, bytes) => {
  const file = {
    name: "the file",
    chunks: async function* () {
      yield bytes;
    },
  };
  await expect(openImport(file)).rejects.toMatchObject({ code: "invalid_request", details: { kind } });
});

test("a session log of another program's version is called that", async () => {
  const input = JSON.stringify({
    type: "session",
    version: 3,
    id: "s1",
    timestamp: "2026-01-01T00:00:00.000Z",
  });
  const { status, err } = await holdfastHere("memory:", ["import", "-", "--json"], { input });
  expect([status, jsonLines(err)[0]?.["error"]]).toMatchObject([
    6,
    { code: "unsupported_version", details: { kind: "session-log", version: "3" } },
  ]);
});
