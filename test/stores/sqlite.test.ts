/** What only the SQLite store promises about writing: one sync for many, full or not at all, and honest when it cannot. */
import { spawn } from "node:child_process";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { EntryBody } from "../../src/log/entry.ts";
import { conv, take, texts, user } from "../../src/store/contract/rig.ts";
import { acquireOf, appendOf, rigOn, writerOn } from "../support/sqlite-rig.ts";
import { tempDir } from "../support/temp-dir.ts";
import type { HeadView } from "../../src/store/store.ts";

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
    "CREATE TRIGGER doom BEFORE INSERT ON entries WHEN new.type = 'title' BEGIN SELECT RAISE(ABORT, 'doomed'); END",
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

test("acknowledges nothing of a group whose commit fails", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  using writer = writerOn(path);
  const { sql } = writer.connection;
  // A constraint that is looked at when the transaction ends, and can never hold.
  sql.db.exec(
    "PRAGMA foreign_keys = ON; CREATE TABLE wish (x PRIMARY KEY, y REFERENCES wish (x) DEFERRABLE INITIALLY DEFERRED)",
  );
  sql.db.exec(
    "CREATE TRIGGER doom AFTER INSERT ON entries WHEN new.type = 'title' BEGIN INSERT INTO wish VALUES (1, 2); END",
  );
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

test("says that the disk is full, keeps what it had, and goes on when there is room again", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"), { bytesMax: 400_000 });
  const space = await rig.space();
  await rig.create(space, "old", [user("x".repeat(30_000))]);
  await rig.create(space, "a");
  let written = 0;
  const refusals: unknown[] = [];
  for (let n = 0; n < 60 && refusals.length === 0; n++) {
    try {
      await rig.append(space, "a", [user(`${n} ${"y".repeat(20_000)}`)]);
      written++;
    } catch (error) {
      refusals.push(error);
    }
  }
  expect(refusals).toMatchObject([{ code: "disk_full" }]);
  expect(written).toBeGreaterThan(3);
  expect(await texts(space, "a")).toHaveLength(written);
  await space.erase(conv("old"));
  await rig.append(space, "a", [user("there is room again")]);
  expect(await texts(space, "a")).toHaveLength(written + 1);
  expect(await space.check({ repair: false })).toEqual([]);
});

test("notices that its file was deleted, and never writes into what nobody can open again", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  for (const side of ["", "-wal", "-shm"]) rmSync(`${path}${side}`);
  await expect(rig.append(space, "a", [user("lost")])).rejects.toMatchObject({ code: "store_gone" });
  await using again = rigOn(path);
  await again.create(await again.space(), "a", [user("new")]);
  await expect(rig.append(space, "a", [user("lost")])).rejects.toMatchObject({ code: "store_gone" });
  expect(await texts(await again.space(), "a")).toEqual(["new"]);
});

test("is busy while another process writes for too long, and does not hold up the event loop meanwhile", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path, { busyMs: 60 });
  const space = await rig.space();
  await rig.create(space, "a");
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 1);
  await expect(rig.append(space, "a", [user("x")])).rejects.toMatchObject({ code: "busy" });
  clearInterval(ticking);
  expect(ticks).toBeGreaterThan(5);
  const waiting = rig.append(space, "a", [user("waited")]);
  other.exec("ROLLBACK");
  other.close();
  await waiting;
  expect(await texts(space, "a")).toEqual(["waited"]);
});

test("two handles see each other's appends at once, also through a tail", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"));
  const [left, right] = [await rig.space(), await rig.space()];
  await rig.create(left, "a");
  const tailed = take(right, "a", 1, 2);
  await rig.append(left, "a", [user("one")]);
  expect(await texts(right, "a")).toEqual(["one"]);
  await rig.append(right, "a", [user("two")]);
  expect((await tailed).map((entry) => entry.seq)).toEqual([2, 3]);
  expect(await texts(left, "a")).toEqual(["one", "two"]);
});

test("tails what another process commits", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  const tailed = take(space, "a", 1, 1);
  using writer = writerOn(path);
  expect(writer.runGroup([appendOf("a", [user("from elsewhere")])])[0]?.ok).toBe(true);
  expect((await tailed).map((entry) => entry.seq)).toEqual([2]);
});

test("lets a script end that forgot to close it, after what it had begun to write", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  const store = JSON.stringify(join(import.meta.dirname, "../../src/stores/sqlite/index.ts"));
  const prepared = JSON.stringify(join(import.meta.dirname, "../../src/store/prepare.ts"));
  const script = `
    import { sqliteStore } from ${store}; import { prepare, systemMint } from ${prepared};
    const space = (await sqliteStore({ path: ${JSON.stringify(path)} })).space("default");
    (async () => { for await (const _ of space.tail({ conversation: "a", after: 0 })); })().catch(() => undefined);
    space.create({ conversation: "a", key: null, ...prepare([{ type: "conversation" }], systemMint) });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  const code = await new Promise((resolve) => child.on("exit", resolve));
  expect(code).toBe(0);
  await using rig = rigOn(path);
  expect((await (await rig.space()).head(conv("a"))).headSeq).toBe(1);
});

test("keeps large payloads exact and small on disk, also for a fork", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  const big = `{"type":"message","id":"big","message":{"role":"user","content":[{"type":"text","text":"${"Grüße 解析 \\u0000\\ud800 ".repeat(100_000)}"}],"n":12345678901234567890}}`;
  await rig.create(space, "a", [user("small"), big]);
  await rig.fork(space, "a", "b");
  const [stored] = (await space.page({ conversation: conv("b"), limit: 1 })).entries;
  expect(stored?.payload).toBe(`{${big.slice(big.indexOf('"message":{'))}`);
  expect(statSync(path).size + statSync(`${path}-wal`).size).toBeLessThan(big.length / 2);
  expect((await space.search({ query: "解析", limit: 9 })).map((hit) => hit.entry)).toEqual(["big"]);
});

test("gives a fork the blobs its source had, and none that came later", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"));
  const space = await rig.space();
  await rig.create(space, "a");
  const early = await space.putBlob(conv("a"), Buffer.from("early".repeat(1_000)));
  await rig.fork(space, "a", "b");
  await rig.append(space, "a", [user("on")]);
  const late = await space.putBlob(conv("a"), Buffer.from("late"));
  expect(Buffer.from(await space.getBlob(conv("b"), early)).toString()).toBe("early".repeat(1_000));
  await expect(space.getBlob(conv("b"), late)).rejects.toMatchObject({ code: "blob_not_found" });
});

test("makes its search index anew when asked to repair", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a", [user("needle one")]);
  expect(await space.search({ query: "needle", limit: 9 })).toHaveLength(1);
  const other = new DatabaseSync(path);
  other.exec("DROP TABLE search");
  other.close();
  await rig.append(space, "a", [user("needle two")]);
  await space.check({ repair: true });
  expect(await space.search({ query: "needle", limit: 9 })).toHaveLength(2);
});
