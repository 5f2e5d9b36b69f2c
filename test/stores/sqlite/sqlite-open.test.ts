/** What opening a SQLite store may touch: nothing that is not its own, and nothing at all when it only reads. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { isLogError } from "#log/errors";
import { openHoldfast } from "#index";
import { texts, user } from "#store/contract/rig";
import { toLogError } from "#stores/sqlite/sqlite-errors";
import { sqliteStore } from "#stores/sqlite/index";
import { rigOn, snapshot, writeOne } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("makes its folder and all its files readable by their owner only", async () => {
  using dir = tempDir();
  const path = join(dir.path, "deep", "er", "s.db");
  await using rig = rigOn(path);
  await rig.create(await rig.space(), "a", [user("hello")]);
  expect([modeOf(join(dir.path, "deep")), modeOf(join(dir.path, "deep", "er"))]).toEqual([0o700, 0o700]);
  for (const name of ["s.db", "s.db-wal", "s.db-shm"])
    expect(modeOf(join(dir.path, "deep", "er", name))).toBe(0o600);
  expect(readdirSync(join(dir.path, "deep", "er")).toSorted()).toEqual(["s.db", "s.db-shm", "s.db-wal"]);
});

test("leaves one file behind when it is closed", async () => {
  using dir = tempDir();
  await writeOne(join(dir.path, "s.db"));
  expect(readdirSync(dir.path)).toEqual(["s.db"]);
});

test("opens an empty file that is already there", async () => {
  using dir = tempDir();
  writeFileSync(join(dir.path, "s.db"), "");
  await writeOne(join(dir.path, "s.db"));
  await using rig = rigOn(join(dir.path, "s.db"));
  expect(await texts(await rig.space(), "a")).toEqual(["kept"]);
});

test.each([
  ["a text file", (path: string): void => writeFileSync(path, "These are my notes.\n".repeat(50))],
  [
    "a SQLite file of another program",
    (path: string): void =>
      new DatabaseSync(path).exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)"),
  ],
])("refuses %s and leaves it untouched", async (_, write) => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  write(path);
  const before = snapshot(dir.path);
  for (const readOnly of [false, true]) {
    await expect(sqliteStore({ path, readOnly })).rejects.toMatchObject({ code: "invalid_request" });
  }
  expect(snapshot(dir.path)).toEqual(before);
});

test("refuses a folder", async () => {
  using dir = tempDir();
  for (const readOnly of [false, true])
    await expect(sqliteStore({ path: dir.path, readOnly })).rejects.toMatchObject({
      code: "invalid_request",
    });
  expect(readdirSync(dir.path)).toEqual([]);
});

test("refuses a newer schema and leaves it untouched, byte for byte", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await writeOne(path);
  const newer = new DatabaseSync(path);
  newer.exec("PRAGMA user_version = 99");
  newer.close();
  const before = snapshot(dir.path);
  for (const readOnly of [false, true]) {
    await expect(sqliteStore({ path, readOnly })).rejects.toMatchObject({ code: "unsupported_version" });
  }
  expect(snapshot(dir.path)).toEqual(before);
});

test("refuses a newer schema that still lies in the log beside the file", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await writeOne(path);
  const newer = new DatabaseSync(path);
  newer.exec("PRAGMA user_version = 99");
  const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
  const crashed = join(dir.path, "crashed.db");
  writeFileSync(crashed, file);
  writeFileSync(`${crashed}-wal`, log);
  newer.close();
  await expect(sqliteStore({ path: crashed })).rejects.toMatchObject({ code: "unsupported_version" });
  expect(readFileSync(crashed).equals(file)).toBe(true);
  expect(readFileSync(`${crashed}-wal`).equals(log)).toBe(true);
});

test("refuses to write once another process has migrated the file", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  const other = new DatabaseSync(path);
  other.exec("PRAGMA user_version = 99");
  await expect(rig.append(space, "a", [user("late")])).rejects.toMatchObject({ code: "unsupported_version" });
  other.exec("PRAGMA user_version = 1");
  other.close();
  await rig.append(space, "a", [user("fine")]);
  expect(await texts(space, "a")).toEqual(["fine"]);
});

test.skipIf(!existsSync("/proc/locks"))(
  "keeps its lock on the file, whatever else it opens it for",
  async () => {
    using dir = tempDir();
    const path = join(dir.path, "s.db");
    const locks = (): number =>
      readFileSync("/proc/locks", "utf8").split(`:${statSync(path).ino} `).length - 1;
    await using rig = rigOn(path);
    const space = await rig.space();
    expect(locks()).toBeGreaterThan(0);
    await rig.create(space, "a");
    await rig.space();
    await space.check({ repair: false });
    expect(locks()).toBeGreaterThan(0);
  },
);

test("waits for a process that lets nobody in, as the first one after a crash does, and then opens", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await writeOne(path);
  const first = new DatabaseSync(path);
  first.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE conversations SET title = 'seen'");
  await expect(sqliteStore({ path, busyMs: 5 })).rejects.toMatchObject({ code: "busy" });
  await using rig = rigOn(path);
  const opening = rig.space();
  first.exec("COMMIT");
  first.close();
  expect((await (await opening).head("a")).title).toBe("seen");
});

test("cannot be made in a folder that cannot be written to", async () => {
  using dir = tempDir();
  const folder = join(dir.path, "locked");
  mkdirSync(folder);
  chmodSync(folder, 0o500);
  const opened = await sqliteStore({ path: join(folder, "s.db") }).catch((error: unknown) => error);
  // The system lets its administrator write everywhere; then the mapping of its refusals is all there is to see.
  if (isLogError(opened)) expect(opened.code).toBe("read_only");
  for (const code of ["EROFS", "EACCES"])
    expect(toLogError(Object.assign(new Error(code), { code }), "s.db").code).toBe("read_only");
  expect(toLogError(Object.assign(new Error("readonly"), { errcode: 8 }), "s.db").code).toBe("read_only");
  chmodSync(folder, 0o700);
  if (!isLogError(opened)) await (opened as AsyncDisposable)[Symbol.asyncDispose]();
});

test("is gone, in a friendly way, after it was closed, however often", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"));
  const store = await rig.open();
  const space = store.space("x");
  await rig.create(space, "a");
  const accepted = rig.append(space, "a", [user("accepted")]);
  await Promise.all([store.close(), store.close()]);
  expect((await accepted).toSeq).toBe(2);
  await expect(rig.append(space, "a", [user("late")])).rejects.toMatchObject({ code: "store_gone" });
  await expect(space.head("a")).rejects.toMatchObject({ code: "store_gone" });
});

test("an empty file that others can read becomes a store for its owner alone", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  writeFileSync(path, "", { mode: 0o644 });
  chmodSync(path, 0o644);
  await using rig = rigOn(path);
  await rig.create(await rig.space(), "a", [user("hello")]);
  for (const name of readdirSync(dir.path)) expect(modeOf(join(dir.path, name))).toBe(0o600);
});

test.each([":memory:", "file:s.db", "file::memory:?cache=shared"])(
  "refuses %s, which is no path, and makes no file of that name",
  async (path) => {
    const before = readdirSync(process.cwd());
    await expect(sqliteStore({ path })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(openHoldfast({ store: `sqlite:${path}` })).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect(readdirSync(process.cwd())).toEqual(before);
  },
);
