import { nodeDisk } from "#stores/jsonl/disk/node-disk";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseConversationId, parseSpaceId } from "#log/ids";
import { conv, texts, user } from "#store/contract/rig";
import { prepare } from "#store/prepare";
import type { Store } from "#store/store";
import type { SpaceStore } from "#store/facets";
import { jsonlStore } from "#stores/jsonl/index";
import { append, create, failure, idsIn, idsAndTime, SPACE } from "../../support/jsonl-rig.ts";
import { filesUnder, secretsUnder } from "../../support/files-under.ts";
import { tempDir } from "../../support/temp-dir.ts";

function open(dir: string, lockWaitMs: number = 2_000): Store {
  return jsonlStore({ dir, lockWaitMs });
}

function handle(dir: string, lockWaitMs?: number): SpaceStore {
  return open(dir, lockWaitMs).space(SPACE);
}

test("files are for their owner alone", async () => {
  using dir = tempDir();
  const space = handle(join(dir.path, "logs"));
  await create(space, "a", [user("x")]);
  await append(space, "a", [user("y")]);
  await space.putBlob(conv("a"), new Uint8Array(5_000));
  await space.putBlob(conv("a"), crypto.getRandomValues(new Uint8Array(50)));
  const modes = filesUnder(dir.path).map(
    (path) => (statSync(path).mode & 0o777).toString(8) + (statSync(path).isFile() ? " file" : " folder"),
  );
  expect([...new Set(modes)].toSorted()).toEqual(["600 file", "700 folder"]);
  expect(modes.filter((mode) => mode.endsWith("file")).length).toBe(4);
});

test("every id has a file of its own, also where case is folded, and none can leave the folder", async () => {
  using dir = tempDir();
  const store = open(dir.path);
  const space = store.space(parseSpaceId("Acme:EU"));
  const ids = [
    "abc",
    "ABC",
    "Abc",
    "a:b",
    "con",
    "nul.txt",
    "a.jsonl",
    "a.torn-3",
    "x".repeat(128),
    "X".repeat(128),
    "Xx".repeat(64),
  ];
  for (const id of ids) await create(space, id, [user(id)]);
  for (const id of ids) expect(await texts(space, id)).toEqual([id]);
  const names = filesUnder(dir.path).map((path) => path.toLowerCase());
  expect(new Set(names).size).toBe(names.length);
  const again = open(dir.path);
  expect(await again.spaces()).toEqual(["Acme:EU"]);
  const listed = (await again.space(parseSpaceId("Acme:EU")).list({ limit: 99 })).conversations.map(
    (one) => one.conversation as string,
  );
  expect(listed.toSorted()).toEqual(ids.toSorted());
  for (const bad of ["../a", "a/b", "a\\b", ".a", "", "a\0", "-a", "a.", "a@b"]) {
    expect(() => parseConversationId(bad)).toThrow(expect.objectContaining({ code: "invalid_id" }));
  }
});

test("a second writer waits, then is told that the first is busy; nothing is written", async () => {
  using dir = tempDir();
  const space = handle(dir.path, 20);
  await create(space, "a");
  await append(space, "a", [user("one")]);
  const lock = await nodeDisk.lock(join(dir.path, "default", ".a.lock"));
  const before = readFileSync(join(dir.path, "default", "a.jsonl"));
  expect((await failure(append(space, "a", [user("two")]))).code).toBe("busy");
  expect(await texts(space, "a")).toEqual(["one"]);
  expect(readFileSync(join(dir.path, "default", "a.jsonl")).equals(before)).toBe(true);
  lock?.release();
  await append(space, "a", [user("two")]);
  expect(await texts(handle(dir.path), "a")).toEqual(["one", "two"]);
});

test("a writer that is killed lets go of its lock", async () => {
  using dir = tempDir();
  const space = handle(dir.path, 20);
  await create(space, "a");
  await append(space, "a", [user("one")]);
  const disk = new URL("../../../src/stores/jsonl/disk/node-disk.ts", import.meta.url).href;
  const holdfast = `const { nodeDisk } = await import(${JSON.stringify(disk)});
    await nodeDisk.lock(${JSON.stringify(join(dir.path, "default", ".a.lock"))});
    console.log("locked"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", holdfast], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  expect((await failure(append(space, "a", [user("two")]))).code).toBe("busy");
  child.kill("SIGKILL");
  await once(child, "exit");
  await append(space, "a", [user("two")]);
  expect(await texts(space, "a")).toEqual(["one", "two"]);
});

test("a folder that may not be written is told as read-only", async ({ skip }) => {
  if (process.getuid?.() === 0) skip("root may write everywhere; jsonl-faults.test.ts covers the answer");
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a");
  chmodSync(join(dir.path, "default"), 0o500);
  expect((await failure(append(space, "a", [user("x")]))).code).toBe("read_only");
  expect((await failure(create(space, "b"))).code).toBe("read_only");
  expect(await idsIn(space)).toEqual(["a-root"]);
  chmodSync(join(dir.path, "default"), 0o700);
});

test("an erased conversation leaves no byte, name or lock behind, torn files and blobs included", async () => {
  using dir = tempDir();
  const space = handle(dir.path);
  const secret = "hunter2hunter2";
  await create(space, "a", [user(`keep nothing of ${secret}`)]);
  await append(space, "a", [{ type: "title", title: secret }]);
  await space.putBlob(conv("a"), new TextEncoder().encode(secret));
  const file = join(dir.path, "default", "a.jsonl");
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from(`{"id":"${secret}`)]));
  await append(space, "a", [user("next")]);
  writeFileSync(join(dir.path, "default", ".a.new-0123456789abcdef"), secret);
  await create(space, "a.torn-7", [user("another conversation")]);
  expect(secretsUnder(dir.path, secret).length).toBe(4);
  await space.erase(conv("a"));
  expect(secretsUnder(dir.path, secret)).toEqual([]);
  expect(readdirSync(join(dir.path, "default"))).toEqual(["a.torn-7.jsonl"]);
});

test("a blob is packed when that is smaller, and a changed one is damage", async () => {
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a");
  const digest = await space.putBlob(conv("a"), new Uint8Array(100_000));
  const path = join(dir.path, "default", "a.blobs", `${digest}.zst`);
  expect(statSync(path).size).toBeLessThan(1_000);
  writeFileSync(path, "junk");
  expect((await failure(space.getBlob(conv("a"), digest))).code).toBe("damaged");
  expect(await space.check({ repair: true })).toMatchObject([{ conversation: "a", severity: "damage" }]);
  await space.putBlob(conv("a"), new Uint8Array(100_000));
  expect((await space.getBlob(conv("a"), digest)).length).toBe(100_000);
});

test("every character of a payload stands in the file as it was given", async () => {
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a");
  const payloads = [
    '{"customType":"x","data":{"n":12345678901234567890,"f":1.0,"e":1e400,"10":1,"9":2,"a":1,"a":2}}',
    '{"customType":"x","data":"nul \\u0000, lone \\ud800, separators \u2028\u2029, bom \ufeff, 😀"}',
  ];
  for (const payload of payloads) await append(space, "a", [`{"type":"custom",${payload.slice(1)}`]);
  const text = readFileSync(join(dir.path, "default", "a.jsonl"), "utf8");
  for (const payload of payloads)
    expect(text.split("\n").some((line) => line.endsWith(payload.slice(1)))).toBe(true);
  await append(space, "a", ['{"type":"custom","customType":"x","data":"\ud800"}']);
  const stored = await handle(dir.path).read({ conversation: conv("a"), limit: 9, types: ["custom"] });
  expect(stored.map((entry) => entry.payload)).toEqual([...payloads, '{"customType":"x","data":"\\ud800"}']);
});

test("asking for what is not there makes no file", async () => {
  using dir = tempDir();
  const space = handle(join(dir.path, "logs"));
  expect((await failure(append(space, "a", [user("x")]))).code).toBe("conversation_not_found");
  expect((await failure(space.erase(conv("a")))).code).toBe("conversation_not_found");
  expect((await space.list({ limit: 9 })).conversations).toEqual([]);
  expect(existsSync(join(dir.path, "logs"))).toBe(false);
});

test("two handles that create one conversation under one key make it once", async () => {
  using dir = tempDir();
  const request = {
    conversation: conv("a"),
    ...prepare([{ type: "conversation", id: "root" }], idsAndTime, "new/a"),
  };
  const results = await Promise.all(Array.from({ length: 6 }, () => handle(dir.path).create(request)));
  expect(results.filter((result) => !result.deduped).length).toBe(1);
  expect(readdirSync(join(dir.path, "default"))).toEqual(["a.jsonl"]);
});

test("a closed store answers that it is closed, and a tail that waits for it ends", async () => {
  using dir = tempDir();
  const store = open(dir.path);
  const space = store.space(SPACE);
  await create(space, "a");
  const tail = failure(Array.fromAsync(space.tail({ conversation: conv("a"), after: 1 })));
  await store.close();
  expect((await tail).code).toMatch(/^(?:nothing failed|store_gone)$/);
  expect((await failure(space.list({ limit: 1 }))).code).toBe("store_gone");
});
