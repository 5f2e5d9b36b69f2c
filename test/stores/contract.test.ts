import { AssertionError } from "node:assert";
import { describe, expect, test } from "vitest";
import { storeContract } from "#store/contract/store-contract";
import type { ContractSubject } from "#store/contract/rig";
import { conv, Rig, user } from "#store/contract/rig";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { subjects } from "../support/subjects.ts";
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decorateStore } from "#store/decorate";
import { storePort } from "#store/port";
import type { Store } from "#store/store";
import type { Command, GroupCommand } from "#stores/sqlite/thread/messages";
import { createFile } from "#stores/sqlite/files";
import { jsonlStore } from "#stores/jsonl/index";
import { sqliteStore } from "#stores/sqlite/index";
import { writeVerbs } from "#stores/sqlite/verbs";
import { Writer } from "#stores/sqlite/write/writer";
import { FaultyDisk } from "../support/faulty-disk.ts";
import { tempDir } from "../support/temp-dir.ts";

type PoweredSubject = Disposable & ContractSubject & { cutPower(): Promise<void> };

/** Files on a disk in memory, of which a power cut leaves what was synced and nothing else. */
function jsonlOnPower(): PoweredSubject {
  let disk = new FaultyDisk();
  return {
    open: async (nowMs) => jsonlStore({ dir: "/logs", disk, nowMs }),
    async cutPower() {
      const safe = [...disk.outcomes()].find(({ name }) => name === "nothing unsynced");
      if (safe !== undefined) disk = safe.disk;
    },
    [Symbol.dispose]: () => undefined,
  };
}

const SYNC_FULL = 2;

/**
 * A SQLite file that is written to without a thread, so that it can be seen after which commit SQLite synced its log.
 * A power cut leaves the log up to there.
 */
function sqliteOnPower(): PoweredSubject {
  const dir = tempDir();
  let life = 0;
  let syncedBytes = 0;
  let writer: Writer | null = null;
  const path = (): string => join(dir.path, `${life}.db`);
  const send = async (command: Command): Promise<unknown> => {
    writer ??= new Writer({ path: createFile(path()), busyMs: 0, bytesMax: null });
    const [outcome] = writer.runGroup([command as GroupCommand]);
    if (writer.connection.synchronous() === SYNC_FULL) syncedBytes = statSync(`${path()}-wal`).size;
    if (outcome?.ok !== true) throw new Error(outcome?.error.message);
    return outcome.value;
  };
  const open = async (nowMs: () => number): Promise<Store> => {
    const store = await sqliteStore({ path: path(), nowMs });
    return storePort(decorateStore(store, { verbs: (_, id) => writeVerbs({ space: id, send, nowMs }) }));
  };
  return {
    open,
    async cutPower() {
      const [from, log] = [path(), readFileSync(`${path()}-wal`).subarray(0, syncedBytes)];
      life++;
      if (existsSync(from)) copyFileSync(from, path());
      writeFileSync(`${path()}-wal`, log);
      writer = null;
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

const anywhere = storeContract.filter((promise) => promise.needsPowerCut !== true);
const onPower = storeContract.filter((promise) => promise.needsPowerCut === true);

describe.each(subjects)("the $name store", (subject) => {
  test.each(anywhere)("$group: $name", async (promise) => {
    // Thousands of synced files would cost a minute here and show nothing more: large.e2e.test.ts has a real disk.
    const inMemory = subject.name === "jsonl" && promise.group === "large";
    using data = inMemory ? jsonlOnPower() : subject.make();
    await promise.run(data);
  });
});

test.each(onPower)("$group: $name: counts as kept only where the power was cut", async (promise) => {
  const backing = inMemoryBacking();
  const run = promise.run({ open: async () => inMemoryStore({ backing }) });
  await expect(run).rejects.toThrow(AssertionError);
});

describe.each([
  { name: "jsonl", make: jsonlOnPower },
  { name: "sqlite", make: sqliteOnPower },
])("the $name store, when the power goes,", (subject) => {
  test.each(onPower)("$group: $name", async (promise) => {
    using data = subject.make();
    await promise.run(data);
  });

  test("loses what was asked for as relaxed and may be: the cut is a real one", async () => {
    using data = subject.make();
    await using rig = new Rig(data);
    const space = await rig.space();
    await rig.create(space, "a", [user("kept", "m1")]);
    await rig.append(space, "a", [{ type: "update", data: "…" }]);
    await rig.cutPower();
    expect((await (await rig.space()).head(conv("a"))).headSeq).toBe(2);
  });
});
