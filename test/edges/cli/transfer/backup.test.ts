import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runHere } from "../cli-here.ts";
import { jsonLines, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());
const [sqlite = "", jsonl = ""] = stores.addresses;

beforeAll(async () => {
  for (const store of [sqlite, jsonl]) {
    await runHere(store, ["new", "--id", "chat"]);
    await runHere(store, ["append", "chat"], said("user", "remember this"));
  }
});

describe.each([
  { kind: "sqlite", store: sqlite },
  { kind: "jsonl", store: jsonl },
])("holdfast backup of a $kind store", ({ kind, store }) => {
  test("makes a store that opens like the one it was made of", async () => {
    const to = join(stores.dir, `copy-${kind}`);
    const { status, out } = await runHere(store, ["backup", to, "--json"]);
    expect(status).toBe(0);
    const [value] = jsonLines(out);
    expect(value).toMatchObject({ schemaVersion: 1, store, to, conversations: 1 });
    expect(value?.["bytes"]).toBeGreaterThan(0);
    const copy = `${kind}:${to}`;
    expect((await runHere(copy, ["show", "chat"])).out).toContain("remember this");
    expect((await runHere(copy, ["doctor"])).status).toBe(0);
  });

  test("takes an address of its own kind for a place, and refuses one of another kind", async () => {
    const other = kind === "sqlite" ? "jsonl" : "sqlite";
    const to = join(stores.dir, `addressed-${kind}`);
    expect((await runHere(store, ["backup", `${kind}:${to}`])).status).toBe(0);
    expect(existsSync(to)).toBe(true);
    const before = readdirSync(stores.dir);
    expect((await runHere(store, ["backup", `${other}:${to}-2`])).status).toBe(2);
    expect((await runHere(store, ["backup", to])).status).toBe(2);
    expect(readdirSync(stores.dir)).toEqual(before);
  });
});

test("there is nothing to back up where there is no store, and nothing is made", async () => {
  const to = join(stores.dir, "of-nothing");
  for (const store of [
    "memory:",
    `sqlite:${join(stores.dir, "none.db")}`,
    `jsonl:${join(stores.dir, "none")}`,
  ])
    expect((await runHere(store, ["backup", to])).status, store).not.toBe(0);
  expect(existsSync(to)).toBe(false);
  expect(existsSync(join(stores.dir, "none.db"))).toBe(false);
});
