/** Rows of runs in SQLite: what an append writes, and what a check finds. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { conv, Rig, user } from "#store/contract/rig";
import { rigOn } from "../../support/sqlite-rig.ts";
import { kept, read } from "../run-row-cases.ts";
import { tempDir } from "../../support/temp-dir.ts";

const reply: EntryBody = {
  type: "message",
  message: { role: "assistant", content: [], model: "m", usage: { outputTokens: 3 } },
};

async function withRuns(rig: Rig): Promise<void> {
  const space = await rig.space();
  await rig.create(space, "a", [
    user("one", "p1"),
    { type: "run_start", run: "r1", trigger: "chat", mailbox: "x" },
  ]);
  await rig.append(space, "a", [{ type: "turn_start", turn: "t1", run: "r1", prompt: "p1" }, reply]);
  await rig.append(space, "a", [{ type: "turn_end", turn: "t1", outcome: "completed" }]);
  await rig.append(space, "a", [{ type: "run_end", run: "r1", status: "completed" }]);
  await rig.append(space, "a", [{ type: "run_start", run: "r2", trigger: "chat" }]);
  await rig.append(space, "a", [{ type: "turn_start", turn: "t2", run: "r2", prompt: "p1" }, reply]);
  await rig.create(space, "b", [user("no run")]);
}

test("an append within a run writes no row of it; its start and its end do", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  await withRuns(rig);
  const db = new DatabaseSync(path);
  const rows = () => db.prepare("SELECT seq, finished IS NULL AS open FROM runs ORDER BY seq").all();
  expect(rows()).toMatchObject([
    { seq: 3, open: 0 },
    { seq: 8, open: 1 },
  ]);
  db.exec("CREATE TRIGGER no_row BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'a row was written'); END");
  const space = await rig.space();
  await rig.append(space, "a", [reply, { type: "turn_end", turn: "t2", outcome: "completed" }]);
  await expect(
    rig.append(space, "a", [{ type: "run_end", run: "r2", status: "completed" }]),
  ).rejects.toThrow();
  db.close();
  expect(await kept(space, "a")).toEqual(await read(space, "a"));
});

test("an erase leaves no row of a run in the file, also where a fork keeps some of the log", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  await withRuns(rig);
  const space = await rig.space();
  await rig.fork(space, "a", "fork");
  await space.erase(conv("a"));
  using db = new DatabaseSync(path);
  expect(db.prepare("SELECT run FROM runs").all()).toEqual([]);
});

test.each([
  ["is gone", "DELETE FROM runs WHERE seq = 3"],
  ["counts otherwise", "UPDATE runs SET finished = json_set(finished, '$.counted.steps', 7) WHERE seq = 3"],
])("a check finds a row of a run that %s", async (_, change) => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  await withRuns(rig);
  const space = await rig.space();
  expect(await space.check({ repair: false })).toEqual([]);
  const db = new DatabaseSync(path);
  db.exec(change);
  db.close();
  expect(await space.check({ repair: false })).toMatchObject([{ conversation: "a", severity: "damage" }]);
});
