/** The write-ahead log: it has room ahead where syncs are cheap, and it does not grow for ever. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { parseSpaceId } from "../../src/log/ids.ts";
import { conv, texts, user } from "../../src/store/contract/rig.ts";
import { LogRoom } from "../../src/stores/sqlite/write/log-room.ts";
import type { Writer } from "../../src/stores/sqlite/write/writer.ts";
import { appendOf, createOf, rigOn, writerOn } from "../support/sqlite-rig.ts";
import { tempDir } from "../support/temp-dir.ts";

const TEXT = "text ".repeat(4_000);
const ZEROS_MIN = 262_144;

function append(writer: Writer, text: string): void {
  expect(writer.runGroup([appendOf("a", [user(text)])])).toMatchObject([{ ok: true }]);
  writer.tidyUp();
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`).size;
}

async function withConversation(path: string): Promise<void> {
  await using rig = rigOn(path);
  await rig.create(await rig.space(), "a");
}

test("who writes little leaves a small log; who goes on has room ahead, of zeros", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await withConversation(path);
  using writer = writerOn(path);
  append(writer, "a");
  expect(logBytes(path)).toBeLessThan(ZEROS_MIN);
  for (let n = 0; n < 20; n++) append(writer, TEXT);
  const [before, log] = [logBytes(path), readFileSync(`${path}-wal`)];
  expect(log.subarray(-ZEROS_MIN).every((byte) => byte === 0)).toBe(true);
  expect(writer.runGroup([appendOf("a", [user(TEXT)])])).toMatchObject([{ ok: true }]);
  expect(logBytes(path)).toBe(before);
});

test("a log that was emptied has room again once it has grown again", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await withConversation(path);
  using writer = writerOn(path);
  for (let n = 0; n < 60; n++) append(writer, TEXT);
  expect(writer.connection.tryEmptyLog()).toBe(true);
  expect(logBytes(path)).toBe(0);
  for (let n = 0; n < 20; n++) append(writer, TEXT);
  const log = readFileSync(`${path}-wal`);
  expect(log.subarray(-ZEROS_MIN).every((byte) => byte === 0)).toBe(true);
});

test("a log with room opens elsewhere with everything that was acknowledged", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await withConversation(path);
  using writer = writerOn(path);
  for (let n = 0; n < 60; n++) append(writer, `${n} ${TEXT}`);
  const copy = join(dir.path, "copy.db");
  copyFileSync(path, copy);
  copyFileSync(`${path}-wal`, `${copy}-wal`);
  await using rig = rigOn(copy);
  const space = await rig.space();
  expect(await texts(space, "a")).toEqual(Array.from({ length: 60 }, (_, n) => `${n} ${TEXT}`));
  expect(await space.check({ repair: false })).toEqual([]);
});

test("two processes that make room in turn lose nothing of each other", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await withConversation(path);
  using first = writerOn(path);
  using second = writerOn(path);
  for (let n = 0; n < 120; n++) append(n % 3 === 0 ? first : second, `${n} ${TEXT}`);
  expect(logBytes(path)).toBeGreaterThan(2 * 1_048_576);
  await using rig = rigOn(path);
  const space = await rig.space();
  expect((await texts(space, "a")).length).toBe(120);
  expect(await space.check({ repair: false })).toEqual([]);
});

test.skipIf(!existsSync("/dev/full"))("a full disk is asked for room once", () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  symlinkSync("/dev/full", `${path}-wal`);
  using room = new LogRoom({ path, pageBytes: 4_096, framesMax: 8_000 });
  expect(room.isShort(100)).toBe(true);
  expect(() => room.grow()).toThrow();
  expect(room.isShort(100)).toBe(false);
});

test.skipIf(process.platform === "win32")("a disk with room for a part of it gets that part back", () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  writeFileSync(`${path}-wal`, "frames");
  const script = `import { LogRoom } from ${JSON.stringify(new URL("../../src/stores/sqlite/write/log-room.ts", import.meta.url))};
    const room = new LogRoom({ path: ${JSON.stringify(path)}, pageBytes: 4096, framesMax: 8000 });
    try { room.grow(); } catch { console.log("refused"); }`;
  const limited = `ulimit -f 100; exec ${JSON.stringify(process.execPath)} --input-type=module -e "$0"`;
  expect(execFileSync("sh", ["-c", limited, script], { encoding: "utf8" })).toBe("refused\n");
  expect(readFileSync(`${path}-wal`, "utf8")).toBe("frames");
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
  writer.tidyUp();
  writer.connection.sql.db.exec("ROLLBACK");
  reader.close();
  expect(logBytes(path)).toBeGreaterThan(0);
  writer.tidyUp();
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
  expect(logBytes(path)).toBeLessThan(80_000_000);
  expect((await space.head(conv("lane-7"))).headSeq).toBe(21);
});
