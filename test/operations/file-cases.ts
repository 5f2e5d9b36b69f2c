import { createHash } from "node:crypto";
import type { Case } from "./case.ts";
import { BLOB } from "./seeded-space.ts";

const INVALID = "invalid_request";
const MISSING = "conversation_not_found";
const DIGEST = createHash("sha256").update(BLOB).digest("hex");

const FILE = [
  { type: "session", version: 1, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/repo" },
  {
    type: "message",
    id: "m1",
    parentId: "s1",
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: [{ type: "text", text: "Where is order 18?" }] },
  },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");
const file = Uint8Array.from(Buffer.from(FILE));

/** Files that go out and come in. */
export const FILE_CASES: readonly Case[] = [
  { operation: "getBlob", name: "gives bytes", input: { conversation: "a", digest: DIGEST } },
  {
    operation: "getBlob",
    name: "finds no such bytes",
    input: { conversation: "a", digest: "0".repeat(64) },
    fails: "blob_not_found",
  },
  {
    operation: "exportBundle",
    name: "writes conversations",
    input: { conversation: ["a", "job"], withForks: true },
    argv: ["export", "a", "job", "--with-forks"],
    bytes: true,
  },
  {
    operation: "exportBundle",
    name: "finds no such conversation",
    input: { conversation: ["none"] },
    argv: ["export", "none"],
    fails: MISSING,
  },
  {
    operation: "exportBundle",
    name: "refuses what is no id",
    input: { conversation: ["../a"] },
    argv: ["export", "../a"],
    fails: INVALID,
  },
  { operation: "reviewBundle", name: "finds no secret", input: { conversation: ["a"] } },
  {
    operation: "reviewBundle",
    name: "finds no such conversation",
    input: { conversation: ["none"] },
    fails: MISSING,
  },
  {
    operation: "exportTranscript",
    name: "is a page",
    input: { conversation: "a", format: "html", at: "ask", leaveOut: ["thinking"] },
  },
  {
    operation: "exportTranscript",
    name: "finds no such entry",
    input: { conversation: "a", format: "json", at: "none" },
    argv: ["export", "a@none", "--format", "json"],
    fails: "entry_not_found",
  },
  {
    operation: "importFile",
    name: "writes a session log",
    input: { id: "brought", file },
    argv: ["import", "-", "--id", "brought"],
    stdin: FILE,
  },
  {
    operation: "importFile",
    name: "only checks it",
    input: { dryRun: true, file },
    argv: ["import", "-", "--dry-run"],
    stdin: FILE,
  },
  {
    operation: "importFile",
    name: "refuses an id beside fresh ones",
    input: { id: "brought", asNew: true, file },
    argv: ["import", "-", "--id", "brought", "--as-new"],
    stdin: FILE,
    fails: INVALID,
  },
];
