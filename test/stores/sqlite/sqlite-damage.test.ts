/** What a SQLite store says when rows are gone or spoilt though the file itself is whole. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { conv, user } from "#store/contract/rig";
import { systemIdsAndTime } from "#store/prepare";
import { sqliteStore } from "#stores/sqlite/index";
import { rigOn } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

test("finds damage and says where it is", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "gap", [user("one"), user("two"), user("three")]);
  await rig.create(space, "torn", [user("one"), user("two")]);
  await rig.create(space, "fine", [user("one")]);
  const other = new DatabaseSync(path);
  other.exec(
    "DELETE FROM entries WHERE seq = 3 AND conversation = (SELECT row FROM conversations WHERE id = 'gap')",
  );
  other.exec(
    "UPDATE entries SET payload = '{\"mess' WHERE seq = 3 AND conversation = (SELECT row FROM conversations WHERE id = 'torn')",
  );
  other.close();
  const progress: number[] = [];
  const findings = await space.check({ repair: false, onProgress: (done) => progress.push(done) });
  expect(
    findings.map(({ conversation, reachableSeq, severity }) => [conversation, reachableSeq, severity]),
  ).toEqual([
    ["gap", 2, "damage"],
    ["torn", 2, "damage"],
  ]);
  expect(progress).toEqual([1, 2, 3]);
});

test("never leaves out a lost node of a branch without a word", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  const six = ["one", "two", "three", "four", "five", "six"].map((text) => user(text));
  await rig.create(space, "middle", six);
  await rig.create(space, "leaf", six);
  const other = new DatabaseSync(path);
  const lose = (id: string, seq: number): void =>
    other.exec(
      `DELETE FROM entries WHERE seq = ${seq} AND conversation = (SELECT row FROM conversations WHERE id = '${id}')`,
    );
  lose("middle", 6);
  lose("leaf", 7);
  other.close();
  for (const id of ["middle", "leaf"])
    await expect(space.page({ conversation: conv(id), limit: 3 })).rejects.toMatchObject({
      code: "damaged",
      details: { conversation: id, depth: id === "leaf" ? 6 : 5 },
    });
});

test("a log that has lost entries, in the middle or at its end, does not read as a shorter one", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using store = await sqliteStore({ path });
  const holdfast = new Holdfast(store, "default", systemIdsAndTime);
  for (const id of ["middle", "end"])
    await (await holdfast.create({ id })).append([user("one"), user("two"), user("three")]);
  const other = new DatabaseSync(path);
  for (const [id, seq] of [
    ["middle", 2],
    ["end", 4],
  ])
    other.exec(
      `DELETE FROM entries WHERE seq = ${seq} AND conversation = (SELECT row FROM conversations WHERE id = '${id}')`,
    );
  other.close();
  for (const [id, seq] of [
    ["middle", 2],
    ["end", 4],
  ] as const)
    await expect(
      (async () => Array.fromAsync((await holdfast.conversation(id)).log()))(),
    ).rejects.toMatchObject({
      code: "damaged",
      details: { conversation: id, seq },
    });
});

test("an answer of the writer that cannot be read fails whoever waits, and the next one is answered", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  for (const id of ["deep", "flat"]) await rig.create(space, id);
  const other = new DatabaseSync(path);
  const levels = 6_000;
  const metadata = `{"x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  // As a version without a limit could have written it; threads cannot copy it.
  other.prepare("UPDATE conversations SET summary = ? WHERE id = 'deep'").run(`{"metadata":${metadata}}`);
  other.close();
  const acquire = (id: string): Promise<unknown> =>
    space.acquire({ conversation: conv(id), writer: "w", leaseMs: 0 });
  await expect(acquire("deep")).rejects.toMatchObject({ code: "store_failed" });
  expect(await acquire("flat")).toMatchObject({ conversation: "flat" });
});
