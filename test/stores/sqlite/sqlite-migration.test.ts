/**
 * Goal: an old file is brought up to date whole or not at all, and one that is only read stays as it is.
 * Method: the golden file of log format 1, which has the tables of a preview, and a migration with one more step than there is.
 * The migration is broken off after every step, as by a process that dies, and the file is opened again.
 */
import { gunzipSync } from "node:zlib";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { conv, user } from "#store/contract/rig";
import { migrate, STEPS, SCHEMA_VERSION, schemaVersionOf } from "#stores/sqlite/tables/schema";
import { rigOn } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

const GOLDEN = join(import.meta.dirname, "../../compat/golden/v1/store.db.gz");

function goldenFile(folder: string): string {
  const path = join(folder, "s.db");
  writeFileSync(path, gunzipSync(readFileSync(GOLDEN)));
  return path;
}

function versionOf(path: string): number {
  using db = new DatabaseSync(path);
  return schemaVersionOf(db);
}

const counts = Array.from({ length: STEPS.length + 1 }, (_, done) => done);

test.each(counts)(
  "a migration that was broken off after %s steps leaves the old file, which then opens",
  async (done) => {
    using dir = tempDir();
    const path = goldenFile(dir.path);
    const broken = new DatabaseSync(path);
    broken.exec("BEGIN IMMEDIATE");
    for (const step of STEPS.slice(0, done)) step(broken);
    broken.close(); // without a commit, as a process that dies
    expect(versionOf(path)).toBe(0);
    await using rig = rigOn(path);
    const space = await rig.space();
    const before = (await space.head(conv("chat"))).headSeq;
    await rig.append(space, "chat", [user("on")]);
    expect((await space.head(conv("chat"))).headSeq).toBe(before + 1);
    const findings = await space.check({ repair: false });
    expect(
      findings.map(({ severity, conversation, unprovenSeq }) => [severity, conversation, unprovenSeq]),
    ).toEqual(expect.arrayContaining([["note", "chat", before]]));
    expect(findings.every(({ severity }) => severity === "note")).toBe(true);
    expect(versionOf(path)).toBe(SCHEMA_VERSION);
  },
);

test("a migration runs the steps that the file has not had, each once, and records the version", () => {
  using dir = tempDir();
  using db = new DatabaseSync(goldenFile(dir.path));
  const runs: string[] = [];
  const steps = [...STEPS, () => runs.push("second")];
  migrate(db, steps.slice(0, -1));
  expect([runs, schemaVersionOf(db)]).toEqual([[], SCHEMA_VERSION]);
  migrate(db, steps);
  migrate(db, steps);
  expect([runs, schemaVersionOf(db)]).toEqual([["second"], SCHEMA_VERSION + 1]);
});

test("an older file that is only read stays as it is, byte for byte, and is searched", async () => {
  using dir = tempDir();
  const path = goldenFile(dir.path);
  const before = readFileSync(path);
  await using rig = rigOn(path, { readOnly: true });
  const space = await rig.space();
  expect(await space.search({ query: "parser", limit: 9 })).toHaveLength(1);
  expect((await space.list({ limit: 9 })).conversations).toHaveLength(2);
  expect((await space.runs({ limit: 9 })).runs).toEqual([]);
  expect(readFileSync(path).equals(before)).toBe(true);
});
