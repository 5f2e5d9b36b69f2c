/** The write-ahead log: it has room ahead where syncs are cheap, and it does not grow for ever. */
import { copyFileSync, existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { conv, texts, user } from "../../src/store/contract/rig.ts";
import { LogRoom } from "../../src/stores/sqlite/write/log-room.ts";
import type { Writer } from "../../src/stores/sqlite/write/writer.ts";
import { appendOf, rigOn, writerOn } from "../support/sqlite-rig.ts";
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
