/** A store that is only read, and never written to. */
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { isLogError } from "#log/errors";
import { texts, user } from "#store/contract/rig";
import { sqliteStore } from "#stores/sqlite/index";
import { ReadConnection } from "#stores/sqlite/read/read-connection";
import { rigOn, snapshot, writeOne } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

test("reads without writing anything, not even beside the file", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await writeOne(path);
  const before = snapshot(dir.path);
  await using rig = rigOn(path, { readOnly: true });
  const space = await rig.space();
  expect(await texts(space, "a")).toEqual(["kept"]);
  expect(await space.search({ query: "kept", limit: 5 })).toHaveLength(1);
  expect(await space.check({ repair: false })).toEqual([]);
  await expect(rig.append(space, "a", [user("no")])).rejects.toMatchObject({ code: "read_only" });
  expect(snapshot(dir.path)).toEqual(before);
});

test("a read-only store follows a writer that comes and goes", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await writeOne(path);
  await using reading = rigOn(path, { readOnly: true });
  const space = await reading.space();
  expect(await texts(space, "a")).toEqual(["kept"]);
  {
    await using writing = rigOn(path);
    await writing.append(await writing.space(), "a", [user("more", "m2")]);
    expect(await texts(space, "a")).toEqual(["kept", "more"]);
  }
  expect(await texts(space, "a")).toEqual(["kept", "more"]);
});

test("says that there is no store instead of making one to read from", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await expect(sqliteStore({ path, readOnly: true })).rejects.toMatchObject({ code: "store_gone" });
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "");
  await expect(sqliteStore({ path, readOnly: true })).rejects.toMatchObject({ code: "store_gone" });
  expect(statSync(path).size).toBe(0);
});

test("opened by a link, it keeps its log beside the file itself, and a read-only look shows all that was acknowledged", async () => {
  using dir = tempDir();
  const [real, links] = [join(dir.path, "real"), join(dir.path, "links")];
  for (const folder of [real, links]) mkdirSync(folder);
  symlinkSync(join(real, "s.db"), join(links, "l.db"));
  expect(
    isLogError(await sqliteStore({ path: join(links, "l.db") }).catch((e: unknown) => e), "invalid_request"),
  ).toBe(true);
  expect(readdirSync(real)).toEqual([]);
  await writeOne(join(real, "s.db"));
  await using writing = rigOn(join(links, "l.db"));
  await writing.append(await writing.space(), "a", [user("acknowledged", "m9")]);
  expect(readdirSync(links)).toEqual(["l.db"]);
  await using reading = rigOn(join(links, "l.db"), { readOnly: true });
  expect(await texts(await reading.space(), "a")).toEqual(["kept", "acknowledged"]);
  expect(await (await reading.space()).check({ repair: false })).toEqual([]);
});

test("who reads a file that another process is just opening waits for it, and reads on", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await writeOne(path);
  const reads = new ReadConnection(path, true);
  const other = new DatabaseSync(path);
  other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE search_cursor SET entry = 7; COMMIT");
  // The first look fails before this returns; the others come after the file is free.
  const looked = reads.read((reader) => reader.sql.get<[number]>("SELECT entry FROM search_cursor")?.[0]);
  other.close();
  expect(await looked).toBe(7);
  reads.close();
});
