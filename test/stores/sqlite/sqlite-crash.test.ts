/**
 * Goal: a power cut at any moment leaves every acknowledged batch whole and no batch half.
 * Method: a write-ahead log is written from front to back, so a cut leaves a prefix of it, and behind that nothing or
 * the zeros a file system may leave there. A run of appends is written, the file is copied beside every prefix of its log, at each frame
 * boundary and inside frames, and each copy is opened and looked at.
 * Writers with planted mistakes show that the look would see them.
 */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { conv, user } from "#store/contract/rig";
import { prepare, systemIdsAndTime } from "#store/prepare";
import type { GroupCommand } from "#stores/sqlite/thread/messages";
import { createFile } from "#stores/sqlite/files";
import { sqliteStore } from "#stores/sqlite/index";
import { Writer } from "#stores/sqlite/write/writer";
import { appendOf } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

const LOG_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4_096;
const ZEROS = Buffer.alloc(65_536);
const space = "default" as never;

/** A batch that was acknowledged when the log had this size. */
interface Acked {
  readonly ids: readonly string[];
  readonly logBytes: number;
}

type WriteBatch = (writer: Writer, commands: readonly GroupCommand[]) => void;

function write(writer: Writer, commands: readonly GroupCommand[]): void {
  for (const outcome of writer.runGroup(commands)) expect(outcome.ok).toBe(true);
}

/** A run of groups over three conversations: small and large batches, branches, a large payload. */
function runBatches(path: string, writeBatch: WriteBatch): readonly Acked[] {
  const writer = new Writer({ path: createFile(path), busyMs: 0, bytesMax: null });
  const acked: Acked[] = [];
  const logBytes = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  for (const id of ["a", "b", "c"]) {
    const first = prepare([{ type: "conversation", id: `${id}-root` }], systemIdsAndTime);
    write(writer, [
      { kind: "create", space, durability: "full", request: { conversation: conv(id), ...first } },
    ]);
    acked.push({ ids: [`${id}-root`], logBytes: logBytes() });
  }
  for (let round = 0; round < 8; round++) {
    const commands = ["a", "b", "c"].map((id) => {
      const bodies = Array.from({ length: 1 + ((round * 2) % 5) }, (_, n) =>
        user("text ".repeat(n === 1 ? 20_000 : 100), `${id}-${round}-${n}`),
      );
      const aside: EntryBody = { ...user("aside", `${id}-${round}-aside`), parentId: `${id}-root` };
      return appendOf(id, [...bodies, aside]);
    });
    writeBatch(writer, commands);
    for (const { request } of commands)
      acked.push({ ids: request.drafts.map((draft) => draft.id), logBytes: logBytes() });
  }
  return acked;
}

/** What a cut did that it must not: a batch half there, a head that does not fit, an acknowledged batch missing. */
function faultsAt(path: string, acked: readonly Acked[], cutBytes: number): readonly string[] {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA synchronous = OFF"); // what is found counts, and is thrown away
  try {
    const found = new Set(
      db
        .prepare("SELECT id FROM entries")
        .all()
        .map((row) => String(row["id"])),
    );
    const heads = db
      .prepare(
        "SELECT id FROM conversations c WHERE head_seq <> (SELECT count(*) FROM entries e WHERE e.conversation = c.row)",
      )
      .all();
    const faults = heads.map((row) => `the head of ${String(row["id"])} does not fit`);
    for (const { ids, logBytes } of acked) {
      const there = ids.filter((id) => found.has(id)).length;
      if (there !== 0 && there !== ids.length) faults.push(`${ids[0]}: ${there} of ${ids.length}`);
      if (there === 0 && logBytes <= cutBytes) faults.push(`${ids[0]}: acknowledged and gone`);
    }
    return faults;
  } finally {
    db.close();
  }
}

/** The faults found over all cuts, and how many cuts there were. */
function cutEverywhere(
  folder: string,
  writeBatch: WriteBatch,
): { readonly cuts: number; readonly faults: ReadonlySet<string> } {
  const path = join(folder, "s.db");
  const acked = runBatches(path, writeBatch);
  const [file, log] = [join(folder, "file"), readFileSync(`${path}-wal`)];
  copyFileSync(path, file);
  const faults = new Set<string>();
  let cuts = 0;
  for (let frame = LOG_HEADER_BYTES; frame <= log.length; frame += FRAME_BYTES) {
    for (const inside of [0, 7, 24, 2_000, FRAME_BYTES - 1]) {
      if (frame + inside > log.length) continue;
      const cut = join(folder, "cut");
      mkdirSync(cut);
      copyFileSync(file, join(cut, "s.db"));
      writeFileSync(join(cut, "s.db-wal"), log.subarray(0, frame + inside));
      if (cuts % 2 === 1) appendFileSync(join(cut, "s.db-wal"), ZEROS);
      for (const fault of faultsAt(join(cut, "s.db"), acked, frame + inside)) faults.add(fault);
      rmSync(cut, { recursive: true });
      cuts++;
    }
  }
  return { cuts, faults };
}

test("every prefix of the log opens with each acknowledged batch whole and none half", () => {
  using dir = tempDir();
  const { cuts, faults } = cutEverywhere(dir.path, write);
  expect([...faults]).toEqual([]);
  expect(cuts).toBeGreaterThan(500);
});

test("the check sees a writer that splits a batch into two transactions", () => {
  using dir = tempDir();
  const { faults } = cutEverywhere(dir.path, (writer, commands) => {
    for (const command of commands) {
      if (command.kind !== "append") continue;
      const { drafts } = command.request;
      const half = Math.ceil(drafts.length / 2);
      for (const part of [drafts.slice(0, half), drafts.slice(half)])
        write(writer, [{ ...command, request: { ...command.request, drafts: part } }]);
    }
  });
  expect([...faults].some((fault) => fault.includes(" of "))).toBe(true);
});

test("the check sees a writer that acknowledges before it commits", () => {
  using dir = tempDir();
  let held: readonly GroupCommand[] = [];
  const { faults } = cutEverywhere(dir.path, (writer, commands) => {
    if (held.length > 0) write(writer, held);
    held = commands;
  });
  expect([...faults].some((fault) => fault.includes("gone"))).toBe(true);
});

test("a store opened on a cut log goes on where it ends", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  runBatches(path, write);
  const log = readFileSync(`${path}-wal`);
  for (const part of [0.3, 0.7]) {
    const cut = join(dir.path, `cut-${part}.db`);
    copyFileSync(path, cut);
    writeFileSync(`${cut}-wal`, log.subarray(0, Math.floor(log.length * part)));
    await using store = await sqliteStore({ path: cut });
    const conversations = store.space(space);
    const { headSeq } = await conversations.head(conv("a"));
    const { request } = appendOf("a", [user("after the cut")]);
    expect((await conversations.append(request)).fromSeq).toBe(headSeq + 1);
    expect(await conversations.check({ repair: false })).toEqual([]);
  }
});
