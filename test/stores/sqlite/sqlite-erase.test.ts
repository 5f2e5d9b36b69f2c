/**
 * Goal: what is erased is in no byte of any file, and what a living fork inherits still reads.
 * Method: secrets are planted in everything a conversation can hold, the search index included; after the erase every
 * file of the store is searched for them while it is open.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import type { EntryBody } from "#log/entry";
import { parseSpaceId } from "#log/ids";
import { conv, entryId, texts, user } from "#store/contract/rig";
import { rigOn, writerOn } from "../../support/sqlite-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

/** The secrets that some byte of some file still holds. */
function leaked(folder: string, secrets: readonly string[]): readonly string[] {
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString("latin1"));
  return secrets.filter((secret) =>
    files.some((bytes) => bytes.includes(secret) || bytes.includes(secret.toLowerCase())),
  );
}

/** Random enough not to be there by chance, lower case, so that the index holds it as it is. */
const secretOf = (n: number): string => `qz${(n * 7_919_777_331).toString(36)}jxw${n}`;

const NO_ROWS = { conversations: 0, entries: 0, segments: 0, hides: 0, keys: 0, blobs: 0, search: 0 };

function rowsIn(path: string): Readonly<Record<string, number>> {
  const db = new DatabaseSync(path, { readOnly: true });
  const count = (table: string): number =>
    Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
  const rows = Object.fromEntries(
    ["conversations", "entries", "segments", "hides", "keys", "blobs", "search"].map((table) => [
      table,
      count(table),
    ]),
  );
  db.close();
  return rows;
}

test("leaves no byte of an erased conversation in any file, while a fork reads what it inherited", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(
    space,
    "a",
    [user("shared start", "m1"), user("shared end", "m2"), user(secretOf(1), "m3")],
    secretOf(2),
  );
  await rig.fork(space, "a", "b", { entry: "m2" });
  await rig.append(space, "b", [user("of the fork")]);
  const secrets: EntryBody[] = [
    { type: "title", title: secretOf(3) },
    { type: "label", target: entryId("m1"), label: secretOf(4) },
    { type: "tool_intent", call: "c", name: "run", input: { command: secretOf(5) } },
    { type: "compaction", summary: secretOf(6) },
    { ...user(`${secretOf(7)} ${"incompressible ".repeat(10)}`, "side"), parentId: "m1" },
  ];
  await rig.append(space, "a", secrets, { key: secretOf(8) });
  await space.putBlob(conv("a"), Buffer.from(`blob ${secretOf(9)}`));
  for (let n = 100; n < 400; n += 10) {
    await rig.append(
      space,
      "a",
      Array.from({ length: 10 }, (_, m) => user(`${"words around it ".repeat(m * 3)}${secretOf(n + m)}`)),
    );
  }
  expect(await space.search({ query: secretOf(150), limit: 9 })).toHaveLength(1);
  const planted = [1, 2, 3, 4, 5, 6, 7, 8, 9, ...Array.from({ length: 300 }, (_, n) => 100 + n)].map(
    secretOf,
  );
  expect(leaked(dir.path, planted)).toHaveLength(planted.length);
  await space.erase(conv("a"));
  expect(leaked(dir.path, planted)).toEqual([]);
  expect(await texts(await rig.space(), "b")).toEqual(["shared start", "shared end", "of the fork"]);
  await expect(space.head(conv("a"))).rejects.toMatchObject({ code: "conversation_not_found" });
  expect(await space.search({ query: "shared", limit: 9 })).toEqual([]);
  await expect(rig.create(space, "a")).rejects.toMatchObject({ code: "conversation_exists" });
  expect(await space.check({ repair: false })).toEqual([]);
  await space.erase(conv("b"));
  expect(rowsIn(path)).toEqual(NO_ROWS);
  await rig.create(space, "a", [user("anew")]);
  expect(await texts(space, "a")).toEqual(["anew"]);
});

test("keeps of erased ancestors exactly what the forks that are left can see", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  const hide = (target: string): EntryBody => ({ type: "hide", target });
  await rig.create(space, "a", [user("a1", "a1"), user("a2", "a2"), user("a3", "a3"), user("a4", "a4")]);
  await rig.fork(space, "a", "b", { entry: "a3" });
  await rig.append(space, "b", [user("b1", "b1"), hide("a1")]);
  await rig.fork(space, "b", "c", { entry: "a2" });
  await rig.append(space, "c", [user("c1", "c1")]);
  await rig.append(space, "b", [hide("a2")]);
  const entriesOf = (id: string): readonly string[] => {
    const db = new DatabaseSync(path, { readOnly: true });
    const rows = db
      .prepare(
        "SELECT e.id FROM entries e JOIN conversations c ON c.row = e.conversation WHERE c.id = ? ORDER BY seq",
      )
      .all(id);
    db.close();
    return rows.map((row) => String(row["id"]));
  };
  await space.erase(conv("a"));
  expect(entriesOf("a")).toEqual(["a-root", "a1", "a2", "a3"]);
  expect(await texts(space, "b")).toEqual(["a1", "a2", "a3", "b1"]);
  await space.erase(conv("b"));
  expect(entriesOf("a")).toEqual(["a-root", "a1", "a2"]);
  expect(entriesOf("b")).toHaveLength(1);
  const page = await (await rig.space()).page({ conversation: conv("c"), limit: 9 });
  expect(page.entries.map((entry) => entry.id)).toEqual(["c1", "a2", "a1", "a-root"]);
  expect([...page.hidden]).toEqual(["a1"]);
  await space.erase(conv("c"));
  expect(rowsIn(path)).toEqual(NO_ROWS);
});

test("leaves no id of an erased entry, be it the leaf or the place of a fork", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"));
  const space = await rig.space();
  const [tip, place] = [secretOf(1), secretOf(2)];
  await rig.create(space, "a", [user("one", "m1"), user("two", place), user("three", tip)]);
  await rig.fork(space, "a", "b", { entry: place });
  await rig.fork(space, "b", "c", { entry: "m1" });
  await space.erase(conv("a"));
  expect(leaked(dir.path, [tip])).toEqual([]);
  expect(await texts(space, "b")).toEqual(["one", "two"]);
  await space.erase(conv("b"));
  expect(leaked(dir.path, [tip, place])).toEqual([]);
  expect(await texts(space, "c")).toEqual(["one"]);
  expect(await space.check({ repair: false })).toEqual([]);
});

test("keeps the blobs and large payloads of inherited nodes, and no others", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "a");
  const seen = await space.putBlob(conv("a"), Buffer.from("picture"));
  const unseen = await space.putBlob(conv("a"), Buffer.from("other picture"));
  const image: EntryBody = {
    type: "message",
    message: { role: "user", content: [{ type: "image", mediaType: "image/png", blob: seen }] },
  };
  await rig.append(space, "a", [image, user("L".repeat(100_000), "large")]);
  await rig.fork(space, "a", "b");
  await rig.append(space, "a", [user("M".repeat(100_000))]);
  await space.erase(conv("a"));
  expect(rowsIn(path)["blobs"]).toBe(2);
  expect(Buffer.from(await space.getBlob(conv("b"), seen)).toString()).toBe("picture");
  await expect(space.getBlob(conv("b"), unseen)).rejects.toMatchObject({ code: "blob_not_found" });
  expect(await texts(space, "b")).toEqual(["L".repeat(100_000)]);
});

test("indexes what is written after an erase, though rows are used again", async () => {
  using dir = tempDir();
  await using rig = rigOn(join(dir.path, "s.db"));
  const space = await rig.space();
  await rig.create(space, "a", [user("needle one")]);
  await rig.create(space, "b", [user("needle two"), user("needle three")]);
  expect(await space.search({ query: "needle", limit: 9 })).toHaveLength(3);
  await space.erase(conv("b"));
  await rig.create(space, "c", [user("needle four")]);
  const found = await space.search({ query: "needle", limit: 9 });
  expect(found.map((hit) => hit.text)).toEqual(["needle four", "needle one"]);
});

test("an erase that finds a reader on old pages says that it is done, and the bytes go in a later pause", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path, { busyMs: 0 });
  const space = await rig.space();
  await rig.create(space, "a", [user(secretOf(1))]);
  await rig.create(space, "b");
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec("BEGIN; SELECT count(*) FROM entries");
  await expect(space.erase(conv("a"))).rejects.toMatchObject({
    code: "busy",
    details: { erased: true },
  });
  await expect(space.head(conv("a"))).rejects.toMatchObject({ code: "conversation_not_found" });
  expect(leaked(dir.path, [secretOf(1)])).toEqual([secretOf(1)]);
  reader.close();
  await rig.append(space, "b", [user("on it goes")]);
  // The writer empties the log after it has answered, and before it takes up anything else.
  await rig.append(space, "b", [user("and on")]);
  expect(leaked(dir.path, [secretOf(1)])).toEqual([]);
});

test("erasing the source of nested forks looks at each of them once", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  const forks = 100;
  await using rig = rigOn(path);
  const space = await rig.space();
  await rig.create(space, "f0", [user("0", "m0"), user("not inherited", "x0")]);
  for (let n = 1; n <= forks; n++) {
    await rig.fork(space, `f${n - 1}`, `f${n}`, { entry: `m${n - 1}` });
    await rig.append(space, `f${n}`, [user(String(n), `m${n}`)]);
  }
  await rig.append(space, "f0", [{ type: "hide", target: entryId("x0") }]);
  using writer = writerOn(path);
  using get = vi.spyOn(StatementSync.prototype, "get");
  using all = vi.spyOn(StatementSync.prototype, "all");
  const request = { conversation: conv("f0") };
  expect(writer.runSolo({ kind: "erase", space: parseSpaceId("default"), request }).ok).toBe(true);
  expect(get.mock.calls.length + all.mock.calls.length).toBeLessThan(5 * forks);
  expect(await texts(await rig.space(), `f${forks}`)).toEqual(
    Array.from({ length: forks + 1 }, (_, n) => String(n)),
  );
});

test("a fork that was gone back in takes with it what no fork of its own goes through", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  const space = await rig.space();
  const secret = secretOf(7);
  await rig.create(space, "a", [user("one", "m1"), user(secret, "m2")]);
  await rig.fork(space, "a", "b");
  // Beside what b inherits, not after it.
  await rig.append(space, "b", [{ ...user("side", "s1"), parentId: "m1" }]);
  await rig.fork(space, "b", "c", { entry: "s1" });
  await space.erase(conv("a"));
  expect(leaked(dir.path, [secret])).toEqual([secret]);
  await space.erase(conv("b"));
  expect(leaked(dir.path, [secret])).toEqual([]);
  expect(await texts(await rig.space(), "c")).toEqual(["one", "side"]);
});
