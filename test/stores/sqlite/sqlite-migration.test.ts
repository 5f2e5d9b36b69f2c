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
import { decodeEntry } from "#log/codec";
import { summaryOf } from "#log/projections/summary-of";
import { conv, user } from "#store/contract/rig";
import { migrationSteps } from "#stores/sqlite/tables/migrations";
import { SCHEMA_VERSION } from "#stores/sqlite/tables/schema";
import { rigOn } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

const GOLDEN = join(import.meta.dirname, "../../compat/golden/v1/store.db.gz");

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
    for (const step of migrationSteps(old).slice(0, done)) step(broken);
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

async function summaries(path: string): Promise<ReadonlyMap<string, unknown>> {
  await using rig = rigOn(path);
  const { conversations } = await (await rig.space()).list({ limit: 999 });
  return new Map(conversations.map(({ conversation, summary }) => [conversation, summary]));
}

test("a migration counts every log that can be read whole, and no other", async () => {
  using dir = tempDir();
  const path = goldenFile(dir.path);
  const damaged = new DatabaseSync(path);
  const victim = "SELECT row, id FROM conversations WHERE listed = 1 AND head_seq > 2 ORDER BY row LIMIT 1";
  const { row = 0, id = "" } = damaged.prepare(victim).get() ?? {};
  damaged.prepare("DELETE FROM entries WHERE conversation = ? AND seq = 2").run(row);
  damaged.close();
  const kept = await summaries(path);
  expect(kept.size).toBeGreaterThan(1);
  expect(kept.get(String(id))).toBe(null);
  await using rig = rigOn(path);
  const space = await rig.space();
  for (const [name, summary] of kept) {
    if (name === id) continue;
    const entries = await space.read({ conversation: conv(name), limit: 99_999 });
    const { segments } = await space.head(conv(name));
    const read = entries.map((stored) => decodeEntry(stored));
    expect(summary).toEqual(summaryOf(read, segments));
  }
});
