/**
 * Goal: the rows of runs that a store keeps are those that its log gives.
 * Method: random batches of all that a row depends on, by one writer, on every store; rows are asked for in between, so
 * that what was folded or written before has to be gone on with. SQLite besides: what an append writes, what an older
 * file becomes, and what a check finds.
 */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeEntry } from "#log/codec";
import type { EntryBody } from "#log/entry";
import { runsOf } from "#log/runs/run-folder";
import type { Run } from "#log/runs/run-row";
import { conv, Rig, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { sqliteStore } from "#stores/sqlite/index";
import { migrationSteps } from "#stores/sqlite/tables/migrations";
import { parseSpaceId } from "#log/ids";
import { rigOn } from "../support/sqlite-rig.ts";
import { subjects } from "../support/subjects.ts";
import { tempDir } from "../support/temp-dir.ts";

const name = fc.constantFrom("r1", "r2", "r3");
const count = fc.integer({ min: 0, max: 9 });
const usage = fc.record({ inputTokens: count, outputTokens: count, costMicros: count }, { requiredKeys: [] });
const body: fc.Arbitrary<EntryBody> = fc.oneof(
  fc.record(
    { type: fc.constant("run_start"), run: name, trigger: name, mailbox: name },
    { requiredKeys: ["type", "run", "trigger"] },
  ),
  fc.record({
    type: fc.constant("run_end"),
    run: name,
    status: fc.constantFrom("completed", "failed", "cancelled", "open"),
  }),
  fc.record(
    { type: fc.constant("turn_start"), turn: name, run: name, prompt: name },
    { requiredKeys: ["type", "turn"] },
  ),
  fc.record({ type: fc.constant("turn_end"), turn: name, outcome: fc.constant("completed"), usage }),
  fc.record({ type: fc.constant("attempt_end"), turn: name, class: name, usage }),
  fc.record({ type: fc.constant("steer"), steer: name, state: fc.constantFrom("accepted", "delivered") }),
  fc.record({
    type: fc.constant("message"),
    message: fc.record(
      { role: fc.constant("assistant"), content: fc.constant([]), usage },
      { requiredKeys: ["role", "content"] },
    ),
  }),
  fc.constant(user("words")),
  fc.constant<EntryBody>({ type: "title", title: "x" }),
);

async function kept(space: SpaceStore, id: string): Promise<readonly Run[]> {
  return (await space.runs({ conversation: conv(id), limit: 999 })).runs;
}

async function read(space: SpaceStore, id: string): Promise<readonly Run[]> {
  const entries = await space.read({ conversation: conv(id), limit: 9_999 });
  return runsOf(
    conv(id),
    entries.map((stored) => decodeEntry(stored)),
  );
}

describe.each(subjects)("in the $name store", (subject) => {
  test("the rows of runs are what folding the log gives, whatever is appended", async () => {
    using data = subject.make();
    await using rig = new Rig(data);
    const space = await rig.space();
    let made = 0;
    const batches = fc.array(fc.array(body, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const id = `c${++made}`;
        await rig.create(space, id);
        for (const [nth, bodies] of all.entries()) {
          await rig.append(space, id, bodies, { durability: "relaxed" });
          if (nth % 2 === 0) expect(await kept(space, id)).toEqual(await read(space, id));
        }
        expect(await kept(space, id)).toEqual(await read(space, id));
      }),
      { numRuns: 25 },
    );
    const again = await rig.space();
    for (let nth = 1; nth <= made; nth++)
      expect(await kept(again, `c${nth}`)).toEqual(await read(again, `c${nth}`));
  });
});

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

/** The file as the version before wrote it: no rows, and nothing counted in heads. */
function asVersion6(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`DROP TABLE runs; PRAGMA user_version = 6;
    UPDATE conversations SET summary = json_remove(summary, '$.run.counted', '$.run.mailbox', '$.turn.run')`);
  db.close();
}

test("a file of the version before gets the rows that its logs give, and may be asked without them", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  {
    await using rig = rigOn(path);
    await withRuns(rig);
  }
  asVersion6(path);
  const broken = new DatabaseSync(path);
  broken.exec("BEGIN IMMEDIATE");
  for (const step of migrationSteps(6)) step(broken);
  broken.close(); // without a commit, as a process that dies
  const old = await sqliteStore({ path, readOnly: true });
  const asked = old.space(parseSpaceId("default"));
  const before = await kept(asked, "a");
  expect(before.map(({ run, steps, status }) => [run, steps, status])).toEqual([
    ["r1", 1, "completed"],
    ["r2", 1, "running"],
  ]);
  expect((await asked.runs({ mailbox: "x", limit: 9 })).runs).toEqual(before.slice(0, 1));
  await old.close();
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.append(space, "b", [user("on", "n1")]);
  expect(await kept(space, "a")).toEqual(before);
  await rig.append(space, "a", [{ ...reply, id: "n2" }]);
  expect(await kept(space, "a")).toEqual(await read(space, "a"));
  expect((await kept(space, "a")).map(({ steps }) => steps)).toEqual([1, 2]);
  expect(await space.check({ repair: false })).toEqual([]);
});

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
