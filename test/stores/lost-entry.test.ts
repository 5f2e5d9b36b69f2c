import { DatabaseSync } from "node:sqlite";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { Rig } from "#store/contract/rig";
import { jsonlStore } from "#stores/jsonl/index";
import { sqliteStore } from "#stores/sqlite/index";
import { readsAroundLostEntry } from "../support/lost-entry.ts";
import { tempDir } from "../support/temp-dir.ts";

test("a SQLite store reads on after a lost row, and takes new entries", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = new Rig({ open: (nowMs) => sqliteStore({ path, nowMs }) });
  await readsAroundLostEntry(rig, {
    appends: true,
    async lose() {
      const database = new DatabaseSync(path);
      database.exec("DELETE FROM entries WHERE seq = 3");
      database.close();
    },
  });
});

test("a JSONL store reads on after a damaged batch, and takes no new entries: a key may be lost with it", async () => {
  using dir = tempDir();
  await using rig = new Rig({ open: async (nowMs) => jsonlStore({ dir: dir.path, nowMs }) });
  await readsAroundLostEntry(rig, {
    appends: false,
    async lose() {
      const file = join(dir.path, "default", "a.jsonl");
      const bytes = readFileSync(file);
      bytes.write("X", bytes.indexOf('"two"') + 1);
      writeFileSync(file, bytes);
    },
  });
});
