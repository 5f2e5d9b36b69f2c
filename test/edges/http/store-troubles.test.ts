/** A store that is busy, full or gone behind the server: one clear error each, and whoever can be answered is. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import { sqliteStore } from "#stores/sqlite/index";
import { user } from "#log/message";
import { tempDir } from "../../support/temp-dir.ts";
import { posted, told } from "./raw-requests.ts";
import { serve } from "./served.ts";

test("a file that another program writes to for too long is busy: a write is told so, reading goes on, and so do writes after it", async () => {
  using folder = tempDir();
  const path = join(folder.path, "store.db");
  const holdfast = new Holdfast(await sqliteStore({ path, busyMs: 60 }), "default");
  await using served = await serve({ holdfast });
  const token = await served.token("write");
  const client = served.client(token);
  await holdfast.create({ id: "c", title: "Before" });
  const another = new DatabaseSync(path);
  another.exec("begin immediate");
  const asked = posted(token, { title: "Not now" }, { "idempotency-key": "t" });
  const refused = await served.ask("/api/conversations/c/title", asked);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await told(refused)).toEqual({ status: 423, code: "busy" });
  const [view, list] = await Promise.all([
    client.getConversation({ conversation: "c" }),
    client.listConversations(),
  ]);
  expect([view.title, list.conversations.length]).toEqual(["Before", 1]);
  another.exec("rollback");
  another.close();
  expect(await client.setTitle({ conversation: "c", title: "Now" }, { key: "t" })).toMatchObject({
    deduped: false,
  });
});

test("a disk without room is told as one: nothing is half written, and what is stored is read", async () => {
  using folder = tempDir();
  const path = join(folder.path, "store.db");
  const holdfast = new Holdfast(await sqliteStore({ path, bytesMax: 600_000 }), "default");
  await using served = await serve({ holdfast });
  const client = served.client(await served.token("write"));
  await holdfast.create({ id: "c" });
  let stored = 0;
  const fill = async (): Promise<void> => {
    for (; stored < 100; stored++)
      await client.appendEntries({ conversation: "c", entries: [user(`${stored} ${"x".repeat(20_000)}`)] });
  };
  await expect(fill()).rejects.toMatchObject({ status: 507, code: "disk_full" });
  expect(stored).toBeGreaterThan(0);
  const { messages } = await client.getContext({ conversation: "c" });
  expect(messages).toHaveLength(stored);
  expect((await client.health()).ok).toBe(true);
});

test("a file that is gone is told as gone, and a server on another store hears nothing of it", async () => {
  using folder = tempDir();
  const path = join(folder.path, "store.db");
  await using served = await serve({ holdfast: new Holdfast(await sqliteStore({ path }), "default") });
  await using other = await serve({ store: `sqlite:${join(folder.path, "other.db")}` });
  const client = served.client(await served.token("write"));
  await served.holdfast.create({ id: "c" });
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  await expect(client.setTitle({ conversation: "c", title: "x" })).rejects.toMatchObject({
    status: 503,
    code: "store_gone",
  });
  const beside = other.client(await other.token("write"));
  expect(await beside.createConversation({ id: "d" })).toMatchObject({ conversation: "d" });
});

test("of a log that is damaged the records in front of it are listed, with what is wrong and where", async () => {
  using folder = tempDir();
  const store = `jsonl:${folder.path}`;
  {
    await using holdfast = await openHoldfast({ store });
    const conversation = await holdfast.create({ id: "c" });
    for (const words of ["one", "two", "three", "four"]) await conversation.append([user(words)]);
  }
  const files = readdirSync(folder.path, { recursive: true, encoding: "utf8" });
  const file = join(folder.path, files.find((name) => name.endsWith(".jsonl")) ?? "");
  const bytes = readFileSync(file);
  bytes[bytes.indexOf("three")] = 0xff;
  writeFileSync(file, bytes);
  await using served = await serve({ store });
  const client = served.client(await served.token("read"));
  const { records, damage, headSeq, next } = await client.listRecords({ conversation: "c" });
  expect([records.map(({ seq }) => seq), headSeq, next]).toEqual([[1, 2, 3], 3, null]);
  expect(damage).toMatchObject({ reachableSeq: 3, position: expect.any(Number) as number });
  const back = await client.listRecords({ conversation: "c", before: 3, limit: 1 });
  expect([back.records.map(({ seq }) => seq), back.previous, back.next]).toEqual([[2], 2, 2]);
  const typed = await client.listRecords({ conversation: "c", types: ["conversation"] });
  expect(typed.records.map(({ type }) => type)).toEqual(["conversation"]);
  expect((await client.getRecord({ conversation: "c", seq: 3 })).line).toContain('"two"');
  await expect(client.getRecord({ conversation: "c", seq: 4 })).rejects.toMatchObject({ code: "damaged" });
});

test("a record that is no JSON any more is listed as unreadable, and one that is gone is not made up", async () => {
  using folder = tempDir();
  const path = join(folder.path, "store.db");
  await using served = await serve({ holdfast: new Holdfast(await sqliteStore({ path }), "default") });
  const conversation = await served.holdfast.create({ id: "c" });
  await conversation.append([user("one"), user("two"), user("three")]);
  const other = new DatabaseSync(path);
  other.exec("UPDATE entries SET payload = '{\"mess' WHERE seq = 3");
  other.exec("DELETE FROM entries WHERE seq = 2");
  other.close();
  const client = served.client(await served.token("read"));
  const { records, damage } = await client.listRecords({ conversation: "c" });
  expect(records.map(({ seq, unreadable }) => [seq, unreadable])).toEqual([
    [1, false],
    [3, true],
    [4, false],
  ]);
  expect(damage).toBeNull();
  const unreadable = await client.getRecord({ conversation: "c", seq: 3 });
  expect([unreadable.seq, unreadable.line.includes('"mess')]).toEqual([3, true]);
  await expect(client.getRecord({ conversation: "c", seq: 2 })).rejects.toMatchObject({ status: 404 });
});
