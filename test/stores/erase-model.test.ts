/**
 * Goal: whatever is erased in whatever order, every living conversation reads as before, and nothing stays that none
 * of them can see.
 * Method: fast-check makes up a family of forks with branches, hidden nodes and blobs, and erases some of it; what each
 * conversation shows is written down before and compared after; all files are searched for words nobody sees.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Rig } from "#store/contract/rig";
import { jsonlStore } from "#stores/jsonl/index";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { sqliteStore } from "#stores/sqlite/index";
import { erasesAsModelled } from "../support/erase-acts.ts";
import { FaultyDisk } from "../support/faulty-disk.ts";
import { tempDir } from "../support/temp-dir.ts";

function wordsOn(disk: FaultyDisk): ReadonlySet<string> {
  const words = new Set<string>();
  for (const bytes of disk.files().values())
    for (const found of Buffer.from(bytes)
      .toString("latin1")
      .match(/word\d{5}/g) ?? [])
      words.add(found);
  return words;
}

const stores = {
  memory: () => {
    const backing = inMemoryBacking();
    return new Rig({ open: async (nowMs) => inMemoryStore({ backing, nowMs }) });
  },
  jsonl: (_: string, disk: FaultyDisk) =>
    new Rig({ open: async (nowMs) => jsonlStore({ dir: "/logs", disk, nowMs }) }),
  sqlite: (dir: string) => new Rig({ open: (nowMs) => sqliteStore({ path: join(dir, "s.db"), nowMs }) }),
};

test.each([
  ["memory", 150],
  ["jsonl", 150],
  ["sqlite", 12],
] as const)(
  "the %s store: an erase changes nothing for the living and leaves nothing else",
  async (name, numRuns) => {
    await erasesAsModelled(numRuns, async (work) => {
      using dir = tempDir();
      const disk = new FaultyDisk();
      await using rig = stores[name](dir.path, disk);
      const visible = await work(rig);
      if (name === "jsonl") expect([...wordsOn(disk)].filter((found) => !visible.has(found))).toEqual([]);
    });
  },
  60_000,
);
