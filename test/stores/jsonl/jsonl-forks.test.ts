import { nodeDisk } from "#stores/jsonl/disk/node-disk";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { conv, entryId, texts, user } from "#store/contract/rig";
import type { Store } from "#store/store";
import type { SpaceStore } from "#store/facets";
import { jsonlStore } from "#stores/jsonl/index";
import { append, create, failure, idsAndTime, SPACE } from "../../support/jsonl-rig.ts";
import { secretsUnder } from "../../support/files-under.ts";
import { tempDir } from "../../support/temp-dir.ts";

function open(dir: string, lockWaitMs: number = 2_000): Store {
  return jsonlStore({ dir, lockWaitMs });
}

function handle(dir: string, lockWaitMs?: number): SpaceStore {
  return open(dir, lockWaitMs).space(SPACE);
}

function forkOfA(): Parameters<SpaceStore["fork"]>[0] {
  return {
    source: conv("a"),
    conversation: conv("b"),
    id: entryId("fork"),
    time: idsAndTime.now(),
    key: null,
  };
}

test("what a fork inherited outlives its source, renumbered, for handles that were open before", async () => {
  using dir = tempDir();
  const mine = handle(dir.path);
  const theirs = handle(dir.path);
  const secret = "swordfish";
  await create(mine, "a", [user("one", "m1"), user(secret, "m2")]);
  await append(mine, "a", [{ ...user("side", "s1"), parentId: "m1" }, { ...user(secret, "s2") }]);
  const digest = await mine.putBlob(conv("a"), new TextEncoder().encode("picture"));
  await append(mine, "a", [
    {
      type: "message",
      id: "s3",
      parentId: "s1",
      message: { role: "user", content: [{ type: "image", mediaType: "image/png", blob: digest }] },
    },
  ]);
  const other = await mine.putBlob(conv("a"), new TextEncoder().encode(secret));
  await mine.fork({ ...forkOfA(), entry: entryId("s3") });
  await append(mine, "b", [user("mine", "n1")]);
  await append(mine, "b", [{ ...user("beside", "n2"), parentId: "s1" }]);
  expect(await texts(theirs, "b")).toEqual(["one", "side", "beside"]);
  await theirs.entry(conv("a"), entryId("m2"));
  await mine.erase(conv("a"));
  for (const space of [mine, theirs, handle(dir.path)]) {
    expect(await texts(space, "b")).toEqual(["one", "side", "beside"]);
    expect((await failure(space.head(conv("a")))).code).toBe("conversation_not_found");
    expect(Buffer.from(await space.getBlob(conv("b"), digest)).toString()).toBe("picture");
    expect((await failure(space.getBlob(conv("b"), other))).code).toBe("blob_not_found");
  }
  await append(theirs, "b", [{ type: "leaf", target: "n1" }]);
  expect(await texts(mine, "b")).toEqual(["one", "side", "mine"]);
  expect(secretsUnder(dir.path, secret)).toEqual([]);
});

test("conversations forked from each other in a circle are refused at once", async () => {
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a", [user("one", "m1")]);
  await space.fork(forkOfA());
  const folder = join(dir.path, "default");
  const file = readFileSync(join(folder, "b.jsonl"), "utf8");
  writeFileSync(join(folder, "a.jsonl"), file.replaceAll('"conversation":"a"', '"conversation":"b"'));
  const fresh = handle(dir.path);
  const answers = await Promise.all(["a", "b", "a"].map((id) => failure(fresh.head(conv(id)))));
  expect(answers.map((answer) => answer.code)).toEqual(["damaged", "damaged", "damaged"]);
  expect((await fresh.list({ limit: 9 })).conversations.length).toBe(2);
});

test("a fork whose source is gone says so, and can be erased", async () => {
  using dir = tempDir();
  const space = handle(dir.path);
  await create(space, "a", [user("one", "m1")]);
  await space.fork(forkOfA());
  const fresh = handle(dir.path);
  await nodeDisk.remove(join(dir.path, "default", "a.jsonl"));
  expect((await failure(fresh.head(conv("b")))).code).toBe("damaged");
  expect(await fresh.check({ repair: false })).toMatchObject([{ conversation: "b", severity: "damage" }]);
  await fresh.erase(conv("b"));
  expect((await failure(fresh.head(conv("b")))).code).toBe("conversation_not_found");
});

test("an erase and a fork at the same time end with the fork readable or refused", async () => {
  for (let round = 0; round < 20; round++) {
    using dir = tempDir();
    const [left, right] = [handle(dir.path), handle(dir.path)];
    await create(left, "a", [user("one", "m1")]);
    const fork = right.fork(forkOfA());
    const [, forked] = await Promise.allSettled([left.erase(conv("a")), fork]);
    if (forked.status === "fulfilled") expect(await texts(handle(dir.path), "b")).toEqual(["one"]);
    else
      expect(forked.reason).toMatchObject({
        code: expect.stringMatching(/^(?:conversation_not_found|store_gone)$/) as string,
      });
  }
});
