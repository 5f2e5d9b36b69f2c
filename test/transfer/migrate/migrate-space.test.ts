/**
 * Goal: a migration may be cut off at any call and run again, by several at once, or follow what is written: the log is the same.
 * Method: a source in memory, as an app can bring one of its own; the target fails at its n-th write, before or after it was carried out.
 */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { Json } from "#log/json/json-text";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";
import { followMigration, migrateInto } from "#transfer/migrate/migrate-space";
import type { MigrationSource, SourcePiece } from "#transfer/migrate/migration-source";
import { pieceBodies } from "#transfer/migrate/ready-pieces";
import { verifyMigration } from "#transfer/migrate/verify-migration";

const PNG = "aGVsbG8=";

function piece(n: number, source = "list"): SourcePiece {
  const content =
    n === 3 ? [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }] : `message ${n}`;
  const messages = [
    { role: "user", content },
    ...(n % 2 === 0 ? [{ role: "assistant", content: `reply ${n}` }] : []),
  ];
  return { key: `${source}/${n}`, place: `row ${n}`, time: null, shape: null, messages };
}

class ListSource implements MigrationSource {
  readonly id: string;
  readonly name: string = "a list";
  readonly mapping: readonly string[] = [];
  readonly lists: Map<string, SourcePiece[]> = new Map();

  constructor(conversations: number, pieces: number, id = "list") {
    this.id = id;
    for (let c = 0; c < conversations; c++)
      this.lists.set(
        `c${c}`,
        Array.from({ length: pieces }, (_, n) => piece(n, id)),
      );
  }

  async conversations(): Promise<readonly { source: string; version: string }[]> {
    return [...this.lists].map(([source, { length }]) => ({ source, version: String(length) }));
  }

  async read(source: string): Promise<readonly SourcePiece[]> {
    return [...(this.lists.get(source) ?? [])];
  }

  async close(): Promise<void> {}
}

class Cut extends Error {}

/** The store, until so many calls that write were made of it; the last one is carried out or not. */
function cutAfter(store: Store, calls: number, landed: boolean): Store {
  let left = calls;
  const writes = new Set(["create", "append", "putBlob"]);
  return decorateStore(store, {
    around: async (call, verb) => {
      if (!writes.has(verb)) return call();
      if (left-- > 0) return call();
      if (landed) await call();
      throw new Cut();
    },
  });
}

async function textsOf(holdfast: Holdfast, id: string): Promise<readonly unknown[]> {
  const branch = await (await holdfast.conversation(id)).branch();
  return branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

test("cut off at any write and run again, every message is there once, in order", async () => {
  const source = new ListSource(1, 6);
  await using whole = inMemoryStore();
  const clean = new Holdfast(whole, "default");
  await migrateInto(clean, source);
  const expected = await textsOf(clean, "c0");
  expect(expected).toHaveLength(9);
  for (let at = 0; at <= 9; at++)
    for (const landed of [true, false]) {
      await using store = inMemoryStore();
      const cut = new Holdfast(cutAfter(store, at, landed), "default");
      await migrateInto(cut, source).catch((error: unknown) => expect(error).toBeInstanceOf(Cut));
      const holdfast = new Holdfast(store, "default");
      await migrateInto(holdfast, source);
      expect(await textsOf(holdfast, "c0"), `cut at ${at}, ${landed}`).toEqual(expected);
      expect(await migrateInto(holdfast, source)).toMatchObject({ brought: 0, messages: 0, left: [] });
      expect(await verifyMigration(holdfast, source)).toMatchObject({ same: 9, ahead: 0, differences: [] });
    }
});

test("several at once write each message once", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  const source = new ListSource(3, 8);
  await Promise.all([1, 2, 3].map(() => migrateInto(holdfast, source)));
  expect(await verifyMigration(holdfast, source)).toMatchObject({ same: 36, ahead: 0, differences: [] });
});

test("what is written there while it follows is brought, until it is stopped", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  const source = new ListSource(2, 2);
  const stop = new AbortController();
  let looks = 0;
  const clock = {
    sleep: async () => {
      if (++looks > 3) return stop.abort();
      source.lists.get("c0")?.push(piece(looks + 1));
      if (looks === 2) source.lists.set("c9", [piece(0)]);
    },
  };
  const result = await followMigration(holdfast, source, { signal: stop.signal, clock });
  expect(result).toMatchObject({ conversations: 3, brought: 3, left: [] });
  expect(await verifyMigration(holdfast, source)).toMatchObject({ same: 8 + 3 + 2, differences: [] });
});

test("a message that stands in another place than there is a difference", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  const source = new ListSource(1, 3);
  await migrateInto(holdfast, source);
  const list = source.lists.get("c0") ?? [];
  source.lists.set("c0", [piece(1), piece(0), ...list.slice(2)]);
  const { differences } = await verifyMigration(holdfast, source);
  expect(differences).toMatchObject([
    { place: "row 1", number: 1, there: { content: "message 1" }, here: { content: "message 0" } },
  ]);
});

test("what was written there in the middle after the rest was brought is told, and brought nowhere else", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  const source = new ListSource(1, 6);
  const list = source.lists.get("c0") ?? [];
  source.lists.set("c0", list.toSpliced(2, 1));
  await migrateInto(holdfast, source);
  const before = await textsOf(holdfast, "c0");
  source.lists.set("c0", list);
  const { left } = await migrateInto(holdfast, source);
  expect(left).toMatchObject([{ code: "diverged", message: expect.stringContaining("row 2") }]);
  expect(await textsOf(holdfast, "c0")).toEqual(before);
  expect((await verifyMigration(holdfast, source)).differences).toMatchObject([{ place: "row 2" }]);
});

test("an app's own second write verifies, and is brought no second time", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  const source = new ListSource(1, 6);
  // One conversation that a migration has begun, and one that the app has made itself.
  const list = source.lists.get("c0") ?? [];
  source.lists.set("c0", list.slice(0, 2));
  await migrateInto(holdfast, source);
  source.lists.set("c0", list);
  source.lists.set("own", list);
  await holdfast.create({ id: "own", title: "Made by the app" });
  for (const id of ["c0", "own"]) {
    const conversation = await holdfast.conversation(id);
    const rest = id === "own" ? list : list.slice(2);
    for (const { key, messages } of rest)
      await conversation.append(await pieceBodies(conversation, { key, messages }), { key });
  }
  expect(await verifyMigration(holdfast, source)).toMatchObject({ same: 18, ahead: 0, differences: [] });
  expect(await migrateInto(holdfast, source)).toMatchObject({ brought: 0, messages: 0, left: [] });
  // The same keys with other words are not the same pieces.
  await using other = inMemoryStore();
  const strange = new Holdfast(other, "default");
  const conversation = await strange.create({ id: "own" });
  const said = {
    type: "message",
    message: { role: "user", content: [{ type: "text", text: "x" }] },
  } as const;
  await conversation.append([said], { key: list[0]?.key ?? "" });
  expect((await migrateInto(strange, source, { only: ["own"] })).left).toMatchObject([
    { code: "conversation_exists" },
  ]);
});

test("each tenant's conversations go into a space of its own, also those of one name", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  const source = new ListSource(0, 0);
  const tenants = new Map([
    ["acme", [piece(0), piece(1)]],
    ["umbrella", [piece(4)]],
  ]);
  source.conversations = async () =>
    [...tenants.keys()].map((space) => ({
      source: "support",
      version: "1",
      space,
      parent: "caused",
      mailbox: "m",
    }));
  source.read = async (_, space = "") => tenants.get(space) ?? [];
  expect(await migrateInto(holdfast, source)).toMatchObject({ conversations: 2, brought: 2, messages: 5 });
  expect(await textsOf(holdfast.inSpace("acme"), "support")).toHaveLength(3);
  expect(await textsOf(holdfast.inSpace("umbrella"), "support")).toHaveLength(2);
  expect(await Array.fromAsync(holdfast.listAll())).toEqual([]);
  const [listed] = await Array.fromAsync(holdfast.inSpace("acme").list());
  expect(listed?.summary).toMatchObject({ parent: { conversation: "caused" }, metadata: { mailbox: "m" } });
  expect(await verifyMigration(holdfast, source)).toMatchObject({ same: 5, differences: [] });
  tenants.set("umbrella", [piece(3)]);
  expect((await verifyMigration(holdfast, source)).differences).toHaveLength(1);
});

test("ids and internal messages are carried, and a difference in them is found", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  const source = new ListSource(0, 0);
  const text = (words: string): Json => ({ role: "user", content: words });
  const marks = [{ id: "m-1" }, { id: "<2@example.org>", internal: true }, { id: "m-1" }];
  const pieces = marks.map((mark, n): SourcePiece =>
    Object.assign(piece(n), { messages: [text(`${n}`)], marks: [mark] }),
  );
  const own = { role: "user", content: [{ type: "text", text: "own" }], internal: true, message_id: "m-9" };
  source.lists.set("c", [...pieces, { ...piece(9), shape: "holdfast", messages: [own] }]);
  await migrateInto(holdfast, source);
  const branch = await (await holdfast.conversation("c")).branch();
  const said = branch.flatMap((entry) => (entry.type === "message" ? [entry] : []));
  expect(said.map(({ id }) => id)).toEqual(["m-1", said[1]?.id, said[2]?.id, "m-9"]);
  expect(said.map(({ message }) => message.internal === true)).toEqual([false, true, false, true]);
  expect(said.slice(1, 3).map(({ message }) => message.details)).toEqual([
    { migratedFrom: "<2@example.org>" },
    { migratedFrom: "m-1" },
  ]);
  expect(await verifyMigration(holdfast, source)).toMatchObject({ same: 4, differences: [] });
  const [first, second, ...rest] = source.lists.get("c") ?? [];
  if (first === undefined || second === undefined) throw new Error("no pieces");
  for (const changed of [{ id: "m-7" }, { id: "m-1", internal: true }]) {
    source.lists.set("c", [{ ...first, marks: [changed] }, second, ...rest]);
    expect((await verifyMigration(holdfast, source)).differences).toMatchObject([{ number: 1 }]);
  }
});

test("a conversation that one source has made is no other's", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  await migrateInto(holdfast, new ListSource(1, 2));
  const other = new ListSource(1, 3, "another list");
  expect((await migrateInto(holdfast, other)).left).toMatchObject([{ code: "conversation_exists" }]);
  expect(await textsOf(holdfast, "c0")).toHaveLength(3);
});
