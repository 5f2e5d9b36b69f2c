/** What a group of the SQLite store promises: one sync for many, full or not at all, and nothing left of what failed. */
import crypto from "node:crypto";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { EntryBody } from "#log/entry";
import { conv, texts, user } from "#store/contract/rig";
import type { HeadView } from "#store/requests";
import type { Writer } from "#stores/sqlite/write/writer";
import { acquireOf, appendOf, createOf, rigOn, writerOn } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

/** The commits in a write-ahead log: frames that carry the size of the database. */
function commitsIn(path: string): number {
  const log = readFileSync(`${path}-wal`);
  let commits = 0;
  for (let at = 32; at < log.length; at += 24 + 4_096) if (log.readUInt32BE(at + 4) !== 0) commits++;
  return commits;
}

test("syncs the disk before it acknowledges, and writes nothing when it would not be synced", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  using writer = writerOn(path);
  const { connection } = writer;
  expect(connection.transaction(true, () => connection.synchronous())).toBe(2);
  expect(connection.transaction(false, () => connection.synchronous())).toBe(1);
  expect(writer.runGroup([appendOf("a", [user("one")])])[0]?.ok).toBe(true);
  connection.sql.db.exec("PRAGMA synchronous = OFF");
  expect(writer.runGroup([appendOf("a", [user("two")])])).toMatchObject([
    { ok: false, error: { code: "store_failed" } },
  ]);
  expect(await texts(space, "a")).toEqual(["one"]);
});

test("commits what is appended together once, and refuses one of it without the others", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  for (const id of ["a", "b", "c", "d"]) await rig.create(space, id);
  const before = commitsIn(path);
  const orphan: EntryBody = { ...user("lost"), parentId: "nowhere" };
  const outcomes = await Promise.allSettled([
    rig.append(space, "a", [user("one")]),
    rig.append(space, "b", [user("half"), orphan]),
    rig.append(space, "c", [user("three")]),
    rig.append(space, "missing", [user("four")]),
    rig.append(space, "d", [user("five")]),
  ]);
  expect(
    outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "written")),
  ).toEqual(["written", "unknown_parent", "written", "conversation_not_found", "written"]);
  expect(commitsIn(path) - before).toBe(1);
  expect([await texts(space, "a"), await texts(space, "b"), await texts(space, "c")]).toEqual([
    ["one"],
    [],
    ["three"],
  ]);
});

test("undoes one append that fails while it is written, and keeps the others of its group", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  await rig.create(space, "b");
  using writer = writerOn(path);
  writer.connection.sql.db.exec(
    "CREATE TRIGGER failing BEFORE INSERT ON entries WHEN new.type = 'title' BEGIN SELECT RAISE(ABORT, 'doomed'); END",
  );
  const outcomes = writer.runGroup([
    appendOf("a", [user("one")]),
    appendOf("b", [user("half"), { type: "title", title: "doomed" }]),
    appendOf("a", [user("two")]),
  ]);
  expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, false, true]);
  expect([await texts(space, "a"), await texts(space, "b")]).toEqual([["one", "two"], []]);
  expect((await space.head(conv("b"))).headSeq).toBe(1);
});

test("what another process took over or wrote is seen by the next append, whatever this one remembers", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  using first = writerOn(path);
  using second = writerOn(path);
  const [mine] = first.runGroup([acquireOf("a", "first", 0)]);
  const { epoch, headSeq } = (mine as { value: HeadView }).value;
  const author = { kind: "owner", epoch, expected: headSeq } as const;
  expect(first.runGroup([appendOf("a", [user("one")], author)])).toMatchObject([{ ok: true }]);
  expect(second.runGroup([acquireOf("a", "second", 1_000_000)])).toMatchObject([{ ok: true }]);
  const late = { ...author, expected: headSeq + 1 };
  expect(first.runGroup([appendOf("a", [user("two")], late)])).toMatchObject([
    { ok: false, error: { code: "fenced" } },
  ]);
  expect(second.runGroup([appendOf("a", [user("three")])])).toMatchObject([
    { ok: false, error: { code: "busy" } },
  ]);
  expect(await texts(space, "a")).toEqual(["one"]);
});

/** A constraint that is looked at when the transaction ends, and cannot hold where a title was written. */
function doomTitles({ connection }: Writer): void {
  connection.sql.db.exec(
    "PRAGMA foreign_keys = ON; CREATE TABLE wish (x PRIMARY KEY, y REFERENCES wish (x) DEFERRABLE INITIALLY DEFERRED)",
  );
  connection.sql.db.exec(
    "CREATE TRIGGER failing AFTER INSERT ON entries WHEN new.type = 'title' BEGIN INSERT INTO wish VALUES (1, 2); END",
  );
}

test("acknowledges nothing of a group whose commit fails", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  using writer = writerOn(path);
  doomTitles(writer);
  const outcomes = writer.runGroup([
    appendOf("a", [user("one")]),
    appendOf("a", [{ type: "title", title: "doomed" }]),
    appendOf("a", [user("two")]),
  ]);
  expect(outcomes.map((outcome) => outcome.ok)).toEqual([false, false, false]);
  expect((await space.head(conv("a"))).headSeq).toBe(1);
  expect(writer.runGroup([appendOf("a", [user("after")])])[0]?.ok).toBe(true);
  expect(await texts(space, "a")).toEqual(["after"]);
});

test("a conversation whose commit failed leaves no name behind for the one that is made in its place", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  using writer = writerOn(path);
  doomTitles(writer);
  const branch: EntryBody = { ...user("side"), parentId: "m1" };
  const group = [createOf("lost", [user("one", "m1")]), appendOf("lost", [branch])];
  expect(
    writer.runGroup([...group, appendOf("lost", [{ type: "title", title: "doomed" }])]).map(({ ok }) => ok),
  ).toEqual([false, false, false]);
  expect(writer.runGroup([createOf("made", [user("one", "m1"), user("two", "m2")])])[0]?.ok).toBe(true);
  expect(writer.runGroup([appendOf("made", [branch])])).toMatchObject([{ ok: true }]);
  expect(await texts(space, "made")).toEqual(["one", "side"]);
  expect(await space.check({ repair: false })).toEqual([]);
});

test("hashes each text once and a batch by the digests of its entries, in the writer alone", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  await rig.create(await rig.space(), "a");
  using writer = writerOn(path);
  const said = ["é".repeat(1_000), "b".repeat(2_000), "c".repeat(3_000)];
  const append = appendOf(
    "a",
    said.map((text) => user(text)),
  );
  const hashed = vi.spyOn(crypto, "hash");
  syncBuiltinESMExports();
  try {
    expect(writer.runGroup([append])[0]?.ok).toBe(true);
    const bytes = hashed.mock.calls.map(([, data]) => Buffer.from(data as Uint8Array).length);
    const payloads = append.request.drafts.map(({ draft }) => Buffer.byteLength(draft.payload));
    expect(bytes).toHaveLength(said.length + 1);
    const beside = bytes.map((length, at) => length - (payloads[at] ?? 0));
    expect(Math.max(...beside)).toBeLessThan(512); // ids, times and types, and for the batch the digests
  } finally {
    hashed.mockRestore();
    syncBuiltinESMExports();
  }
});
