/** The write-ahead log: SQLite's alone, and short. */
import { copyFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { parseSpaceId } from "#log/ids";
import { conv, texts, user } from "#store/contract/rig";
import type { Writer } from "#stores/sqlite/write/writer";
import { appendOf, createOf, rigOn, writerOn } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

const TEXT = "text ".repeat(4_000);
const LOG_BYTES_MAX = 5_000_000; // a thousand frames and the group that went beyond them

function append(writer: Writer, text: string): void {
  expect(writer.runGroup([appendOf("a", [user(text)])])).toMatchObject([{ ok: true }]);
  writer.boundLog();
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`).size;
}

async function withConversation(path: string): Promise<void> {
  await using rig = rigOn(path);
  await rig.create(await rig.space(), "a");
}

test("the log stays as short as SQLite keeps it by default, however much one process writes", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await withConversation(path);
  using writer = writerOn(path);
  for (let n = 0; n < 1_000; n++) append(writer, TEXT);
  expect(statSync(path).size).toBeGreaterThan(16_000_000);
  expect(logBytes(path)).toBeLessThan(LOG_BYTES_MAX);
});

test("a log that one large write has made long is short again once it was moved", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await withConversation(path);
  using writer = writerOn(path);
  const many = Array.from({ length: 600 }, () => appendOf("a", [user("x".repeat(30_000))]));
  expect(writer.runGroup(many).every(({ ok }) => ok)).toBe(true);
  expect(logBytes(path)).toBeGreaterThan(16_000_000);
  writer.boundLog();
  append(writer, TEXT);
  expect(logBytes(path)).toBeLessThan(10_000_000);
});

test("nothing but SQLite writes to the log: every frame in it is one of SQLite's", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await withConversation(path);
  using writer = writerOn(path);
  for (let n = 0; n < 30; n++) append(writer, TEXT);
  const log = readFileSync(`${path}-wal`);
  const frame = 24 + log.readUInt32BE(8);
  expect((log.length - 32) % frame).toBe(0);
  const salt = log.subarray(16, 24);
  for (let at = 32; at < log.length; at += frame)
    expect(log.subarray(at + 8, at + 16).equals(salt), `the frame at byte ${at}`).toBe(true);
});

test("after a close the file alone holds everything, also while another process has the store open", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  using other = new DatabaseSync(path);
  {
    await using rig = rigOn(path);
    const space = await rig.space();
    await rig.create(space, "a", [user("one")]);
    expect(other.prepare("SELECT count(*) AS n FROM entries").get()?.["n"]).toBe(2);
  }
  const copy = join(dir.path, "copy.db");
  copyFileSync(path, copy);
  await using rig = rigOn(copy);
  expect(await texts(await rig.space(), "a")).toEqual(["one"]);
});

test("a log that cannot be emptied after an erase is emptied later, and ends nobody's writing", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await withConversation(path);
  using writer = writerOn(path);
  append(writer, "a");
  const reader = new DatabaseSync(path);
  reader.exec("BEGIN; SELECT count(*) FROM entries");
  expect(writer.runGroup([createOf("b", [])])[0]?.ok).toBe(true);
  const erase = {
    kind: "erase",
    space: parseSpaceId("default"),
    request: { conversation: conv("a") },
  } as const;
  expect(writer.runSolo(erase)).toMatchObject({ ok: false, error: { code: "busy" } });
  // SQLite refuses to empty the log in the midst of a transaction, as it does on a full disk.
  writer.connection.sql.db.exec("BEGIN; SELECT count(*) FROM entries");
  writer.boundLog();
  writer.connection.sql.db.exec("ROLLBACK");
  reader.close();
  expect(logBytes(path)).toBeGreaterThan(0);
  writer.boundLog();
  expect(logBytes(path)).toBe(0);
});

test("a store that is never left in peace still empties its log", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  const lanes = Array.from({ length: 200 }, (_, n) => `lane-${n}`);
  await Promise.all(lanes.map((lane) => rig.create(space, lane)));
  const body = user("x".repeat(30_000));
  await Promise.all(
    lanes.flatMap((lane) => Array.from({ length: 20 }, () => rig.append(space, lane, [body]))),
  );
  expect(logBytes(path)).toBeLessThan(40_000_000);
  expect((await space.head(conv("lane-7"))).headSeq).toBe(21);
});
