/** A backup of a store in use: everything acknowledged, whole or not at all. */
import { nodeDisk } from "#stores/jsonl/disk/node-disk";
import type { Disk } from "#stores/jsonl/disk/disk";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openHoldfast } from "#index";
import { isLogError } from "#log/errors";
import { parseSpaceId } from "#log/ids";
import { conv, Rig, texts, user } from "#store/contract/rig";
import type { Store } from "#store/store";
import { jsonlStore } from "#stores/jsonl/index";
import { sqliteStore } from "#stores/sqlite/index";
import { tempDir } from "../support/temp-dir.ts";

const PAGE_BYTES = 4_096;
const SPACE = parseSpaceId("default");
const kinds = [
  { kind: "sqlite", open: (path: string): Promise<Store> => sqliteStore({ path }) },
  { kind: "jsonl", open: async (path: string): Promise<Store> => jsonlStore({ dir: path }) },
] as const;

async function failure(work: Promise<unknown> | undefined): Promise<string> {
  try {
    await work;
    return "nothing failed";
  } catch (error) {
    return isLogError(error) ? error.code : String(error);
  }
}

describe.each(kinds)("a $kind store", ({ open }) => {
  test("is backed up while it is written to, with everything acknowledged before", async () => {
    using dir = tempDir();
    await using rig = new Rig({ open: () => open(join(dir.path, "store")) });
    const store = await rig.open();
    const space = store.space(SPACE);
    await rig.create(space, "a", [user("one", "m1"), user("two", "m2")]);
    await rig.fork(space, "a", "b", { entry: "m1" });
    await rig.append(space, "b", [user("mine")]);
    await rig.create(store.space(parseSpaceId("other")), "c", [user("elsewhere")]);
    const blob = await space.putBlob(conv("a"), new Uint8Array([1, 2, 3]));
    for (let n = 0; n < 100; n++) await rig.append(space, "a", [user(`before ${n}`)]);
    const ticks: number[] = [];
    const backup = store.backup?.({
      to: join(dir.path, "copy"),
      onProgress: (done, total) => ticks.push(done / total),
    });
    for (let n = 0; n < 100; n++) await rig.append(space, "a", [user(`during ${n}`)]);
    expect(await backup).toMatchObject({ to: join(dir.path, "copy"), conversations: 3 });
    {
      await using copy = await open(join(dir.path, "copy"));
      expect(await copy.space(SPACE).check({ repair: false })).toEqual([]);
    }
    expect(ticks.at(-1)).toBe(1);

    await using copied = new Rig({ open: () => open(join(dir.path, "copy")) });
    const copy = await copied.open();
    const found = copy.space(SPACE);
    const said = await texts(found, "a");
    expect(said.slice(0, 102)).toEqual([
      "one",
      "two",
      ...Array.from({ length: 100 }, (_, n) => `before ${n}`),
    ]);
    expect(said.slice(102)).toEqual(Array.from({ length: said.length - 102 }, (_, n) => `during ${n}`));
    expect(await texts(found, "b")).toEqual(["one", "mine"]);
    expect(await texts(copy.space(parseSpaceId("other")), "c")).toEqual(["elsewhere"]);
    expect([...(await found.getBlob(conv("a"), blob))]).toEqual([1, 2, 3]);
    expect(await found.check({ repair: false })).toEqual([]);
    // It is a store like any other: it can be written to, and searched.
    await copied.append(found, "a", [user("afterwards")]);
    expect((await found.search({ query: "afterwards", limit: 9 })).length).toBe(1);
    expect((await found.search({ query: "elsewhere", limit: 9 })).length).toBe(0);
  });

  test("replaces nothing, makes no folder, and leaves nothing behind when it cannot be made", async () => {
    using dir = tempDir();
    await using rig = new Rig({ open: () => open(join(dir.path, "store")) });
    const store = await rig.open();
    await rig.create(store.space(SPACE), "a");
    writeFileSync(join(dir.path, "taken"), "mine");
    mkdirSync(join(dir.path, "folder"));
    for (const to of ["taken", "folder", "store", join("no", "such")])
      expect(await failure(store.backup?.({ to: join(dir.path, to) })), to).toBe("invalid_request");
    expect(statSync(join(dir.path, "taken")).size).toBe(4);
    expect(
      readdirSync(dir.path)
        .filter((name) => !name.startsWith("store"))
        .toSorted(),
    ).toEqual(["folder", "taken"]);
    await store.close();
    expect(await failure(store.backup?.({ to: join(dir.path, "late") }))).toBe("store_gone");
  });

  test.skipIf(process.platform === "win32")("is backed up for its owner alone", async () => {
    using dir = tempDir();
    await using rig = new Rig({ open: () => open(join(dir.path, "store")) });
    const store = await rig.open();
    await rig.create(store.space(SPACE), "a");
    await store.backup?.({ to: join(dir.path, "copy") });
    expect(statSync(join(dir.path, "copy")).mode & 0o077).toBe(0);
  });
});

test("a damaged SQLite file is not backed up as if it were sound", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  {
    await using rig = new Rig({ open: () => sqliteStore({ path }) });
    const space = await rig.space();
    await rig.create(
      space,
      "a",
      Array.from({ length: 200 }, () => user("x".repeat(2_000))),
    );
  }
  const file = openSync(path, "r+");
  const pages = statSync(path).size / PAGE_BYTES;
  // Pages of entries: those of the schema stand first.
  for (let page = pages - 30; page < pages - 20; page++)
    writeSync(file, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, page * PAGE_BYTES);
  closeSync(file);
  await using store = await sqliteStore({ path, readOnly: true });
  expect(await failure(store.backup?.({ to: join(dir.path, "copy.db") }))).toBe("damaged");
  expect(readdirSync(dir.path)).toEqual(["s.db"]);
});

test("a JSONL backup ends at the last whole batch of each log", async () => {
  using dir = tempDir();
  const at = (name: string): string => join(dir.path, name);
  await using rig = new Rig({ open: async () => jsonlStore({ dir: at("store") }) });
  const store = await rig.open();
  await rig.create(store.space(SPACE), "a", [user("one")]);
  appendFileSync(join(at("store"), "default", "a.jsonl"), '{"an unfinished');
  await store.backup?.({ to: at("copy") });
  await using copy = jsonlStore({ dir: at("copy") });
  expect(await texts(copy.space(SPACE), "a")).toEqual(["one"]);
  expect(await copy.space(SPACE).check({ repair: false })).toEqual([]);
});

test("a damaged JSONL log is backed up as it is, and does not keep the others from it", async () => {
  using dir = tempDir();
  const at = (name: string): string => join(dir.path, name);
  await using rig = new Rig({ open: async () => jsonlStore({ dir: at("store") }) });
  const store = await rig.open();
  await rig.create(store.space(SPACE), "a", [user("one")]);
  await rig.create(store.space(SPACE), "b", [user("two")]);
  writeFileSync(join(at("store"), "default", "a.jsonl"), "no log at all\n");
  await store.backup?.({ to: at("copy") });
  await using copy = jsonlStore({ dir: at("copy") });
  expect(await texts(copy.space(SPACE), "b")).toEqual(["two"]);
  expect(statSync(join(at("copy"), "default", "a.jsonl")).size).toBe(14);
});

test("a JSONL backup that an erase gets in the way of begins again, and is whole", async () => {
  using dir = tempDir();
  const at = (name: string): string => join(dir.path, name);
  await using other = jsonlStore({ dir: at("store") });
  let erased = false;
  const disk: Disk = {
    ...nodeDisk,
    async open(path, mode) {
      // The first copy is about to be made: the fork goes, and with it what was kept for it.
      if (mode === "create" && dirname(path).includes(".part") && !erased) {
        erased = true;
        await other.space(SPACE).erase(conv("b"));
        await other.space(SPACE).erase(conv("a"));
      }
      return nodeDisk.open(path, mode);
    },
  };
  await using rig = new Rig({ open: async () => jsonlStore({ dir: at("store"), disk }) });
  const store = await rig.open();
  const space = store.space(SPACE);
  await rig.create(space, "a", [user("one", "m1")]);
  await rig.fork(space, "a", "b");
  await rig.create(space, "c", [user("stays")]);
  expect(await store.backup?.({ to: at("copy") })).toMatchObject({ conversations: 1 });
  await using copy = jsonlStore({ dir: at("copy") });
  expect((await copy.space(SPACE).list({ limit: 9 })).conversations.map((one) => one.conversation)).toEqual([
    "c",
  ]);
  expect(await copy.space(SPACE).check({ repair: false })).toEqual([]);
});

test("the library backs up what it has open, and says when there is nothing to back up", async () => {
  using dir = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir.path, "s.db")}` });
  await holdfast.create({ id: "a", title: "kept" });
  await holdfast.backup(join(dir.path, "copy.db"));
  // The copy alone, wherever it is taken.
  copyFileSync(join(dir.path, "copy.db"), join(dir.path, "taken.db"));
  await using copy = await openHoldfast({ store: `sqlite:${join(dir.path, "taken.db")}`, readOnly: true });
  expect((await (await copy.conversation("a")).head()).title).toBe("kept");
  await using memory = await openHoldfast({ store: "memory:" });
  expect(await failure(memory.backup(join(dir.path, "none")))).toBe("invalid_request");
});
