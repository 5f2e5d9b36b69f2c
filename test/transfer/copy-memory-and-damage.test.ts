import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Memory } from "#agent/memory/memory";
import type { Holdfast } from "#conversation/holdfast";
import type { StoredEntry } from "#log/entry";
import { openHoldfast } from "#open";
import { inMemoryStore } from "#stores/in-memory/index";
import { copySpace } from "#transfer/copy-space";
import { tempDir } from "../support/temp-dir.ts";
import { spaceOf } from "#conversation/on-space";

const GOLDEN = join(import.meta.dirname, "../compat/golden/v1/jsonl");
const empty = (): Promise<Holdfast> => openHoldfast({ store: inMemoryStore() });

/** The entries of every log, without the version they were written in. */
async function entriesOf(holdfast: Holdfast): Promise<object> {
  const logs: { [id: string]: readonly Omit<StoredEntry, "v">[] } = {};
  for await (const { conversation } of holdfast.listAll()) {
    const entries = await spaceOf(holdfast).read({ conversation, limit: 10_000 });
    logs[conversation] = entries.map(({ v: _, ...entry }) => entry);
  }
  return logs;
}

test("logs from before there were links are copied whole, and gone on with", async () => {
  using dir = tempDir();
  cpSync(GOLDEN, join(dir.path, "logs"), { recursive: true });
  await using from = await openHoldfast({ store: `jsonl:${join(dir.path, "logs")}` });
  const to = await empty();
  const first = await copySpace(from, to);
  expect([first.left, first.entries > 0]).toEqual([[], true]);
  expect(await entriesOf(to)).toEqual(await entriesOf(from));
  expect((await copySpace(from, to)).entries).toBe(0);
  for await (const { conversation } of from.list())
    await (await from.conversation(conversation)).title("later");
  const again = await copySpace(from, to);
  expect([again.left, again.entries]).toEqual([[], again.copied]);
  expect(await entriesOf(to)).toEqual(await entriesOf(from));
  expect(await to.check({ repair: false })).toEqual([]);
});

test("of a damaged log what is proven is copied, it is named, and the others are copied", async () => {
  using dir = tempDir();
  const store = `jsonl:${join(dir.path, "logs")}`;
  {
    await using made = await openHoldfast({ store });
    for (const id of ["sound", "torn"]) {
      const chat = await made.create({ id });
      for (const text of ["one", "two", "three"])
        await chat.append({ type: "message", message: { role: "user", content: [{ type: "text", text }] } });
    }
  }
  const file = join(dir.path, "logs", "default", "torn.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace('"two"', '"owt"'));
  await using from = await openHoldfast({ store, readOnly: true });
  const to = await empty();
  const { left, copied } = await copySpace(from, to);
  expect(left).toMatchObject([{ conversation: "torn", code: "damaged" }]);
  expect((await spaceOf(to).head("sound")).headSeq).toBe(4);
  const torn = await spaceOf(to)
    .head("torn")
    .catch(() => null);
  expect([copied, (torn?.headSeq ?? 0) <= 2]).toEqual([1, true]);
});

test("memory that the target has of its own is neither mixed with what comes nor erased for it", async () => {
  const [from, to] = [await empty(), await empty()];
  await new Memory(from).save("user", { key: "theirs", content: "theirs" });
  await new Memory(to).save("user", { key: "mine", content: "mine" });
  expect((await copySpace(from, to)).left).toMatchObject([{ conversation: "memory.user", code: "diverged" }]);
  await new Memory(from).removeForever("user", "theirs");
  await new Memory(from).save("user", { key: "new", content: "new" });
  expect((await copySpace(from, to)).left).toMatchObject([
    { conversation: "memory.user.2", code: "diverged" },
  ]);
  expect((await new Memory(to).list("user")).map(({ key }) => key)).toEqual(["mine"]);
});

test("what was removed for ever goes from a copy, also after the copy was added to nowhere else", async () => {
  const [from, to] = [await empty(), await empty()];
  const memory = new Memory(from);
  for (const key of ["keep", "forget"]) await memory.save("user", { key, content: `the ${key}` });
  await copySpace(from, to);
  await memory.removeForever("user", "forget");
  await memory.removeForever("user", "keep");
  const { erased, left } = await copySpace(from, to);
  expect([erased, left]).toEqual([["memory.user"], []]);
  expect(JSON.stringify(await entriesOf(to))).not.toContain("the forget");
  // One that was written to in the target is not only a copy any more.
  await memory.save("user", { key: "again", content: "again" });
  await copySpace(from, to);
  await new Memory(to).save("user", { key: "mine", content: "mine" });
  await memory.removeForever("user", "again");
  expect((await copySpace(from, to)).left).toMatchObject([{ code: "diverged" }]);
  expect((await new Memory(to).list("user")).map(({ key }) => key)).toContain("mine");
});

test("copies at once that find memory replaced erase it once, and none stumbles over another", async () => {
  const [from, to] = [await empty(), await empty()];
  const memory = new Memory(from);
  for (const key of ["keep", "forget"]) await memory.save("user", { key, content: `the ${key}` });
  await copySpace(from, to);
  await memory.removeForever("user", "forget");
  const copies = await Promise.all([1, 2, 3, 4].map(() => copySpace(from, to)));
  expect(copies.flatMap(({ left }) => left)).toEqual([]);
  expect(await entriesOf(to)).toEqual(await entriesOf(from));
});
