/** What an erase leaves on the disk, who else may be at it at the same time, and what keeps it from happening. */
import { nodeDisk } from "#stores/jsonl/disk/node-disk";
import type { Disk } from "#stores/jsonl/disk/disk";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isLogError } from "#log/errors";
import { conv, entryId, texts, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { jsonlStore } from "#stores/jsonl/index";
import { append, create, failure, idsAndTime, SPACE } from "../../support/jsonl-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

const SECRET = "the planted secret";

function handle(dir: string, disk: Disk = nodeDisk): SpaceStore {
  return jsonlStore({ dir, disk }).space(SPACE);
}

async function fork(
  space: SpaceStore,
  source: string,
  target: string,
  more: { readonly entry?: string; readonly cwd?: string } = {},
): Promise<void> {
  await space.fork({
    source: conv(source),
    conversation: conv(target),
    ...(more.entry === undefined ? {} : { entry: entryId(more.entry) }),
    ...(more.cwd === undefined ? {} : { cwd: more.cwd }),
    id: entryId(idsAndTime.newId()),
    time: idsAndTime.now(),
    key: null,
  });
}

/** The real disk, with something else happening once, right before an operation on a file. */
function disturbed(
  operation: "open" | "rename",
  file: string,
  disturb: () => Promise<unknown>,
): Disk & { arm(): void } {
  let armed = false;
  const before = async (path: string): Promise<void> => {
    if (!armed || !path.endsWith(`/${file}`)) return;
    armed = false;
    await disturb();
  };
  return {
    ...nodeDisk,
    arm: () => void (armed = true),
    async open(path, mode) {
      if (operation === "open") await before(path);
      return nodeDisk.open(path, mode);
    },
    async rename(from, to) {
      if (operation === "rename") await before(to);
      return nodeDisk.rename(from, to);
    },
  };
}

function logsIn(dir: string): readonly string[] {
  return readdirSync(join(dir, "default")).filter((name) => name.endsWith(".jsonl"));
}

function holding(dir: string, words: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(dir, name);
    return statSync(path).isFile() && readFileSync(path).includes(words);
  });
}

test("erasing a source and its fork at the same time leaves nothing of either", async () => {
  using dir = tempDir();
  const other = handle(dir.path);
  const disk = disturbed("rename", "a.jsonl", () => other.erase(conv("b")));
  const space = handle(dir.path, disk);
  await create(space, "a", [user(SECRET, "m1")]);
  await fork(space, "a", "b");
  disk.arm();
  await space.erase(conv("a"));
  expect(logsIn(dir.path)).toEqual([]);
  expect(holding(dir.path, SECRET)).toEqual([]);
});

test("handles that erase a chain of forks in any order at the same time leave only what the living one inherits", async () => {
  for (let round = 0; round < 12; round++) {
    using dir = tempDir();
    const space = handle(dir.path);
    await create(space, "a", [user("kept", "m1"), user(SECRET, "m2")]);
    await fork(space, "a", "b");
    await append(space, "b", [user(SECRET, "b1")]);
    await fork(space, "b", "c");
    await fork(space, "b", "d", { entry: "m1" });
    const doomed = ["a", "b", "c"].map((_, at, all) => all[(at + round) % all.length] ?? "");
    const reads = texts(handle(dir.path), "d", 1);
    await Promise.all(doomed.map((id) => handle(dir.path).erase(conv(id))));
    expect(await reads).toEqual(["kept"]);
    expect(await texts(handle(dir.path), "d", 1)).toEqual(["kept"]);
    expect(holding(dir.path, SECRET)).toEqual([]);
    await space.erase(conv("d"));
    expect(logsIn(dir.path)).toEqual([]);
  }
});

test("a fork erased in the middle of a line takes its folder, and what only it could see, along", async () => {
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a", [user("kept", "m1"), user(SECRET, "m2")]);
  await fork(space, "a", "f1", { cwd: "/secret/folder" });
  await fork(space, "f1", "f2", { entry: "m1" });
  await space.erase(conv("a"));
  await space.erase(conv("f1"));
  expect(holding(dir.path, SECRET)).toEqual([]);
  expect(holding(dir.path, "/secret/folder")).toEqual([]);
  expect(await texts(handle(dir.path), "f2")).toEqual(["kept"]);
  expect(await space.check({ repair: false })).toEqual([]);
});

test("a check finds what an erase that was cut off left, and a repair removes it", async () => {
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a", [user("kept", "m1"), user(SECRET, "m2")]);
  await fork(space, "a", "b");
  await fork(space, "a", "c", { entry: "m1" });
  await space.erase(conv("a"));
  const log = join(dir.path, "default", "a.jsonl");
  const left = readFileSync(log);
  await space.erase(conv("b"));
  writeFileSync(log, left);
  const fresh = handle(dir.path);
  expect(await fresh.check({ repair: false })).toMatchObject([
    { conversation: "a", severity: "note", repaired: false },
  ]);
  expect(await fresh.check({ repair: true })).toMatchObject([{ conversation: "a", repaired: true }]);
  expect(holding(dir.path, SECRET)).toEqual([]);
  expect(await texts(fresh, "c")).toEqual(["kept"]);
  const again = readFileSync(log);
  await fresh.erase(conv("c"));
  writeFileSync(log, again);
  expect(await handle(dir.path).check({ repair: true })).toMatchObject([{ conversation: "a" }]);
  expect(logsIn(dir.path)).toEqual([]);
});

test.each([
  ["the envelope", '"seq"'],
  ["the origin", '"origin"'],
])("a source is not erased while a fork with damage in %s may stand on it", async (_, word) => {
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a", [user("kept", "m1")]);
  await fork(space, "a", "b");
  await append(space, "b", [user("mine", "b1")]);
  const log = join(dir.path, "default", "b.jsonl");
  const sound = readFileSync(log);
  const broken = Buffer.from(sound);
  broken.write("#", sound.indexOf(word) + 2);
  writeFileSync(log, broken);
  expect(await failure(handle(dir.path).erase(conv("a")))).toMatchObject({
    code: "damaged",
    details: { conversation: "b" },
  });
  await create(space, "unrelated");
  await handle(dir.path).erase(conv("unrelated"));
  writeFileSync(log, broken.subarray(0, broken.indexOf("b1")));
  expect((await failure(handle(dir.path).erase(conv("a")))).code).toBe("damaged");
  writeFileSync(log, sound);
  expect(await texts(handle(dir.path), "b")).toEqual(["kept", "mine"]);
  writeFileSync(log, broken);
  await handle(dir.path).erase(conv("b"));
  await handle(dir.path).erase(conv("a"));
  expect(logsIn(dir.path)).toEqual([]);
});

test("a folder named like a log is listed as damaged and keeps nobody from their work", async () => {
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a", [user("one", "m1")]);
  mkdirSync(join(dir.path, "default", "stray.jsonl"));
  for (const each of [space, handle(dir.path)]) {
    const { conversations } = await each.list({ limit: 9 });
    const damaged = conversations.filter((listed) => listed.damage !== null);
    expect(damaged.map((listed) => listed.conversation)).toEqual(["stray"]);
    await append(each, "a", [user("more")]);
    expect(await each.check({ repair: true })).toMatchObject([{ conversation: "stray", severity: "damage" }]);
    expect((await failure(each.head(conv("stray")))).code).toBe("damaged");
  }
  expect(await space.search({ query: "one", limit: 9 })).toHaveLength(1);
  await space.erase(conv("a"));
  expect(logsIn(dir.path)).toEqual(["stray.jsonl"]);
});

test("running out of file handles is a reason to try again, not damage", async () => {
  using dir = tempDir();
  const full = Object.assign(new Error("too many open files"), { code: "EMFILE" });
  const disk = disturbed("open", "a.jsonl", () => Promise.reject(full));
  const space = handle(dir.path, disk);
  await create(space, "a", [user("one", "m1")]);
  for (const verb of [
    () => space.list({ limit: 9 }),
    () => space.head(conv("a")),
    () => handle(dir.path, disk).check({ repair: false }),
  ]) {
    disk.arm();
    expect((await failure(verb())).code).toBe("busy");
  }
  expect((await space.list({ limit: 9 })).conversations).toHaveLength(1);
});

test("a search passes over a conversation that goes while it runs", async () => {
  using dir = tempDir();
  const other = handle(dir.path);
  const disk = disturbed("open", "b.jsonl", () => other.erase(conv("b")));
  const space = handle(dir.path, disk);
  for (const id of ["a", "b", "c"]) await create(space, id, [user("found", `${id}1`)]);
  await space.list({ limit: 9 });
  disk.arm();
  const hits = await space.search({ query: "found", limit: 9 });
  expect(hits.map((hit) => hit.conversation).toSorted()).toEqual(["a", "c"]);
  const named = space.search({ query: "found", limit: 9, conversation: conv("b") });
  expect(isLogError(await named.catch((error: unknown) => error), "conversation_not_found")).toBe(true);
});

test("a fork is read while its source is being erased", async () => {
  using dir = tempDir();
  const other = handle(dir.path);
  const disk = disturbed("open", "a.jsonl", () => other.erase(conv("a")));
  const space = handle(dir.path, disk);
  await create(space, "a", [user("one", "m1"), user("two", "m2")]);
  await append(space, "a", [{ ...user("side", "s1"), parentId: "m1" }]);
  await fork(space, "a", "b");
  expect(await texts(space, "b")).toEqual(["one", "side"]);
  disk.arm();
  expect(await texts(space, "b")).toEqual(["one", "side"]);
  expect(await failure(space.head(conv("a")))).toMatchObject({ code: "conversation_not_found" });
});
