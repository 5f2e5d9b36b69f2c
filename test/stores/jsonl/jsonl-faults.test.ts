import { expect, test } from "vitest";
import { conv, user } from "#store/contract/rig";
import type { Disk } from "#stores/jsonl/disk/disk";
import { FaultyDisk, systemError } from "../../support/faulty-disk.ts";
import {
  append,
  bytesOf,
  commitEnds,
  create,
  failure,
  FILE,
  idsIn,
  snapshot,
  spaceOn,
  threeBatches,
} from "../../support/jsonl-rig.ts";

test("a disk that is full after any number of bytes leaves nothing of the batch, and the next append works", async () => {
  const start = await threeBatches();
  const before = Buffer.from(bytesOf(start));
  for (let room = 0; room < 700; room += 7) {
    const disk = start.copy();
    const space = spaceOn(disk);
    disk.spaceLeft = room;
    expect((await failure(append(space, "a", [user("x".repeat(400), "m5")]))).code).toBe("disk_full");
    expect(await idsIn(space)).toEqual(["a-root", "m1", "m2", "m3", "m4"]);
    expect(before.equals(bytesOf(disk))).toBe(true);
    disk.spaceLeft = Number.POSITIVE_INFINITY;
    await append(space, "a", [user("y", "m6")]);
    expect(await idsIn(space)).toEqual(["a-root", "m1", "m2", "m3", "m4", "m6"]);
    expect(await idsIn(spaceOn(disk))).toEqual(["a-root", "m1", "m2", "m3", "m4", "m6"]);
  }
});

test("a failed sync, a failed cut after it, or a failed create is told and leaves no half of anything", async () => {
  const disk = await threeBatches();
  const space = spaceOn(disk);
  const failing = new Set<string>();
  disk.onOperation = (operation) => {
    if (failing.has(operation)) throw systemError("EIO");
  };
  failing.add("sync");
  expect((await failure(append(space, "a", [user("x", "m5")]))).code).toBe("store_failed");
  expect((await failure(create(space, "b"))).code).toBe("store_failed");
  failing.delete("sync");
  expect(await idsIn(space)).toEqual(["a-root", "m1", "m2", "m3", "m4"]);
  expect(disk.files().has("/logs/default/b.jsonl")).toBe(false);
  failing.add("write").add("truncate");
  expect((await failure(append(space, "a", [user("x", "m5")]))).code).toBe("store_failed");
  failing.clear();
  await append(space, "a", [user("y", "m6")]);
  await create(space, "b");
  expect(await idsIn(spaceOn(disk))).toEqual(["a-root", "m1", "m2", "m3", "m4", "m6"]);
});

test("a read-only disk is told as such, and reads go on", async () => {
  const disk = await threeBatches();
  const space = spaceOn(disk);
  disk.onOperation = (operation) => {
    if (["write", "create", "makeFolder", "link", "truncate"].includes(operation)) throw systemError("EROFS");
  };
  expect((await failure(append(space, "a", [user("x")]))).code).toBe("read_only");
  expect((await failure(create(space, "b"))).code).toBe("read_only");
  expect((await failure(space.putBlob(conv("a"), new Uint8Array(9)))).code).toBe("read_only");
  expect((await idsIn(space)).length).toBe(5);
});

test("a store opened for reading only writes nothing, not even a lock", async () => {
  const disk = await threeBatches();
  disk.plant(FILE, bytesOf(disk).slice(0, -3));
  const before = snapshot(disk);
  const space = spaceOn(disk, { readOnly: true });
  const refused = [
    append(space, "a", [user("x")]),
    create(space, "b"),
    space.erase(conv("a")),
    space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 1 }),
    space.putBlob(conv("a"), new Uint8Array(9)),
    space.check({ repair: true }),
  ];
  for (const work of refused) expect((await failure(work)).code).toBe("read_only");
  expect((await space.list({ limit: 9 })).conversations.length).toBe(1);
  expect((await idsIn(space)).length).toBe(4);
  expect(snapshot(disk)).toEqual(before);
});

test("a file removed, replaced or cut short under a live writer is an error, never a new file", async () => {
  const start = await threeBatches();
  const accidents: readonly ((disk: FaultyDisk) => Promise<void>)[] = [
    (disk) => disk.remove(FILE),
    (disk) => disk.rename("/logs/default/other.jsonl", FILE),
    async (disk) => disk.plant(FILE, bytesOf(disk).slice(0, commitEnds(bytesOf(disk))[0])),
  ];
  for (const accident of accidents) {
    const disk = start.copy();
    disk.plant("/logs/default/other.jsonl", bytesOf(start));
    const space = spaceOn(disk);
    await append(space, "a", [user("mine", "m5")]);
    await accident(disk);
    const left = bytesOf(disk);
    expect((await failure(append(space, "a", [user("lost")]))).code).toBe("store_gone");
    expect(Buffer.from(bytesOf(disk)).equals(left)).toBe(true);
  }
});

test("relaxed batches are not synced, full ones are", async () => {
  const disk = await threeBatches();
  const space = spaceOn(disk);
  const seen: string[] = [];
  disk.onOperation = (operation) => void seen.push(operation);
  await append(space, "a", [{ type: "title", title: "one" }], "relaxed");
  expect(seen.includes("sync")).toBe(false);
  await append(space, "a", [{ type: "title", title: "two" }]);
  // The first one of a process also syncs what it found.
  expect(seen.filter((operation) => operation === "sync").length).toBe(2);
  await append(space, "a", [{ type: "title", title: "three" }]);
  expect(seen.filter((operation) => operation === "sync").length).toBe(3);
});

test("listing reads the ends of a file, not its middle", async () => {
  const disk = new FaultyDisk();
  const space = spaceOn(disk);
  await create(space, "a");
  for (let n = 0; n < 20; n++) await append(space, "a", [user("x".repeat(100_000))]);
  await append(space, "a", [{ type: "title", title: "T" }]);
  let read = 0;
  const counting = new Proxy<Disk>(disk, {
    get(target, name) {
      if (name !== "open") return Reflect.get(target, name, target).bind(target) as unknown;
      return async (...given: Parameters<Disk["open"]>) => {
        const file = await target.open(...given);
        const plain = file.read.bind(file);
        file.read = (at, length) => {
          read += length;
          return plain(at, length);
        };
        return file;
      };
    },
  });
  const [listed] = (await spaceOn(counting).list({ limit: 9 })).conversations;
  expect([listed?.title, listed?.headSeq, listed?.damage]).toEqual(["T", 22, null]);
  expect(read).toBeLessThan(40_000);
});

test("damage in what processes wrote that each appended once is damage, not a torn tail", async () => {
  const disk = new FaultyDisk();
  await create(spaceOn(disk), "a");
  for (const id of ["m1", "m2", "m3"]) await append(spaceOn(disk), "a", [user(id, id)]);
  const bytes = Buffer.from(bytesOf(disk));
  bytes.write("X", bytes.indexOf('"id":"m2"') + 6);
  disk.plant(FILE, bytes);
  const damaged = spaceOn(disk);
  expect((await failure(append(damaged, "a", [user("x", "m4")]))).code).toBe("damaged");
  expect(bytes.equals(bytesOf(disk))).toBe(true);
});
