/**
 * Goal: an old file is brought up to date whole or not at all.
 * Method: the file of version 1 that is kept for good; the migration is broken off after every step, once by a failure
 * and once by a connection that is gone, and the file is opened again.
 */
import { gunzipSync } from "node:zlib";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { conv, user } from "#store/contract/rig";
import { migrationSteps, SCHEMA_VERSION } from "#stores/sqlite/tables/schema";
import { rigOn } from "../support/sqlite-rig.ts";
import { tempDir } from "../support/temp-dir.ts";

const GOLDEN = join(import.meta.dirname, "..", "compat", "golden", "v1", "store.db.gz");

function goldenFile(folder: string): string {
  const path = join(folder, "s.db");
  writeFileSync(path, gunzipSync(readFileSync(GOLDEN)));
  return path;
}

function versionOf(path: string): number {
  const db = new DatabaseSync(path);
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  db.close();
  return version;
}

const steps = Array.from({ length: SCHEMA_VERSION }, (_, done) => done);

test.each(steps)(
  "a migration that was broken off after %s steps leaves the old file, which then opens",
  async (done) => {
    using dir = tempDir();
    const path = goldenFile(dir.path);
    const old = versionOf(path);
    const broken = new DatabaseSync(path);
    broken.exec("BEGIN IMMEDIATE");
    for (const step of migrationSteps(old).slice(0, done)) broken.exec(step);
    broken.close(); // without a commit, as a process that dies
    expect(versionOf(path)).toBe(old);
    await using rig = rigOn(path);
    const space = await rig.space();
    const before = (await space.head(conv("chat"))).headSeq;
    await rig.append(space, "chat", [user("on")]);
    expect((await space.head(conv("chat"))).headSeq).toBe(before + 1);
    const found = await space.check({ repair: false });
    expect(
      found.map(({ severity, conversation, unprovenSeq }) => [severity, conversation, unprovenSeq]),
    ).toEqual(expect.arrayContaining([["note", "chat", before]]));
    expect(found.every(({ severity }) => severity === "note")).toBe(true);
    expect(versionOf(path)).toBe(SCHEMA_VERSION);
  },
);
