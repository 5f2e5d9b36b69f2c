/** What only the SQLite store promises beside groups: honest when it cannot write, and seen by others. */
import { spawn } from "node:child_process";
import { renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { conv, readTail, texts, user } from "#store/contract/rig";
import { HANG_MS } from "../../support/hang.ts";
import { appendOf, rigOn, writerOn } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

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

test("what is refused because the folder was moved away is not there when it comes back", async () => {
  using dir = tempDir();
  const [here, away] = [join(dir.path, "here"), join(dir.path, "away")];
  await using rig = rigOn(join(here, "s.db"));
  const space = await rig.space();
  await rig.create(space, "a");
  renameSync(here, away);
  for (const text of ["refused", "again"])
    await expect(rig.append(space, "a", [user(text)])).rejects.toMatchObject({ code: "store_gone" });
  renameSync(away, here);
  await rig.append(space, "a", [user("kept")]);
  expect(await texts(space, "a")).toEqual(["kept"]);
});

test("is busy while another process writes for too long, and does not hold up the event loop meanwhile", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  const other = new DatabaseSync(path);
  {
    await using rig = rigOn(path, { busyMs: 60 });
    const space = await rig.space();
    await rig.create(space, "a");
    other.exec("BEGIN IMMEDIATE");
    await expect(rig.append(space, "a", [user("x")])).rejects.toMatchObject({ code: "busy" });
  }
  await using rig = rigOn(path, { busyMs: HANG_MS });
  const space = await rig.space();
  const waiting = rig.append(space, "a", [user("waited")]);
  for (let ticks = 0; ticks < 20; ticks++) await new Promise((tick) => setTimeout(tick, 1));
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
  const tailed = readTail(right, "a", 1, 2);
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
  const tailed = readTail(space, "a", 1, 1);
  using writer = writerOn(path);
  expect(writer.runGroup([appendOf("a", [user("from elsewhere")])])[0]?.ok).toBe(true);
  expect((await tailed).map((entry) => entry.seq)).toEqual([2]);
});

test("lets a script end that forgot to close it, after what it had begun to write", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  const store = JSON.stringify(join(import.meta.dirname, "../../../src/stores/sqlite/index.ts"));
  const prepared = JSON.stringify(join(import.meta.dirname, "../../../src/store/prepare.ts"));
  const script = `
    import { sqliteStore } from ${store}; import { prepare, systemIdsAndTime } from ${prepared};
    const space = (await sqliteStore({ path: ${JSON.stringify(path)} })).space("default");
    (async () => { for await (const _ of space.tail({ conversation: "a", after: 0 })); })().catch(() => undefined);
    space.create({ conversation: "a", key: null, ...prepare([{ type: "conversation" }], systemIdsAndTime) });`;
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
