/**
 * Goal: a migration may be cut off at any call and run again, by several at once, or follow what is written: the log is the same.
 * Method: a source in memory, as an app can bring one of its own; the target fails at its n-th write, before or after it was carried out.
 */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";
import { followMigration, migrateInto } from "#transfer/migrate/migrate-space";
import type { MigrationSource, SourcePiece } from "#transfer/migrate/migration-source";
import { verifyMigration } from "#transfer/migrate/verify-migration";

const PNG = "aGVsbG8=";

function piece(n: number): SourcePiece {
  const content =
    n === 3 ? [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }] : `message ${n}`;
  const messages = [
    { role: "user", content },
    ...(n % 2 === 0 ? [{ role: "assistant", content: `reply ${n}` }] : []),
  ];
  return { key: `old/${n}`, place: `row ${n}`, time: null, shape: null, messages };
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
        Array.from({ length: pieces }, (_, n) => piece(n)),
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

test("a conversation that one source has made is no other's", async () => {
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "default");
  await migrateInto(holdfast, new ListSource(1, 2));
  const other = new ListSource(1, 3, "another list");
  expect((await migrateInto(holdfast, other)).left).toMatchObject([{ code: "conversation_exists" }]);
  expect(await textsOf(holdfast, "c0")).toHaveLength(3);
});
