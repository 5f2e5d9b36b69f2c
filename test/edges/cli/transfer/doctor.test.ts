import {
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tempDir } from "../../../support/temp-dir.ts";
import { runHere } from "../cli-here.ts";
import { jsonLines, ROOT, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());
const [sqlite = "", jsonl = ""] = stores.addresses;
const file = join(stores.dir, "logs", "default", "chat.jsonl");

async function diagnosis(
  store: string,
  ...args: readonly string[]
): Promise<{ status: number | null; report: unknown }> {
  const { status, out } = await runHere(store, ["doctor", "--json", ...args]);
  return { status, report: jsonLines(out)[0] };
}

beforeAll(async () => {
  for (const store of [sqlite, jsonl]) {
    await runHere(store, ["new", "--id", "chat"]);
    const each = [
      said("user", "first", { id: "m1" }),
      said("user", "second", { id: "m2" }),
      said("user", "third"),
    ];
    await runHere(store, ["append", "chat", "--each"], each.join("\n"));
    await runHere(
      store,
      ["append", "chat"],
      Array.from({ length: 200 }, (_, at) => said("user", `${"x".repeat(500)} ${at}`)).join("\n"),
    );
  }
});

test("a name for a copy is refused where no copy is asked for", async () => {
  expect((await runHere(sqlite, ["doctor", "--as", "copy"])).status).toBe(2);
});

test("a store that is not there is not called healthy", async () => {
  expect((await diagnosis(`sqlite:${join(stores.dir, "nowhere.db")}`)).status).toBe(5);
});

test("a batch that was cut off is reported with its position, and set aside only on request", async () => {
  truncateSync(file, statSync(file).size - 10);
  const size = statSync(file).size;
  const torn = await diagnosis(jsonl);
  expect(torn).toMatchObject({
    status: 6,
    report: {
      ok: false,
      findings: [{ conversation: "chat", severity: "torn", reachableSeq: 4, repaired: false }],
    },
  });
  expect(statSync(file).size).toBe(size);
  expect(await diagnosis(jsonl, "--repair")).toMatchObject({
    status: 0,
    report: { findings: [{ repaired: true }] },
  });
  expect(statSync(file).size).toBeLessThan(size);
  expect(await diagnosis(jsonl)).toMatchObject({ status: 0, report: { findings: [] } });
});

test("damage in the middle is reported with its byte and what can be read, stays untouched, and can be salvaged", async () => {
  const bytes = readFileSync(file);
  const at = bytes.indexOf('"m2"');
  writeFileSync(file, bytes.fill("Z", at + 1, at + 2));
  const before = readFileSync(file);
  const found = await diagnosis(jsonl, "--repair");
  expect(found).toMatchObject({
    status: 6,
    report: { ok: false, findings: [{ conversation: "chat", severity: "damage", reachableSeq: 2 }] },
  });
  const { position } = (found.report as { findings: readonly { position: number }[] }).findings[0] ?? {
    position: -1,
  };
  expect(position).toBeGreaterThan(0);
  expect(position).toBeLessThanOrEqual(at);
  expect((await runHere(jsonl, ["context", "chat"])).status).toBe(6);
  const saved = await runHere(jsonl, ["doctor", "--salvage", "chat", "--as", "saved", "--json"]);
  expect(jsonLines(saved.out)).toMatchObject([
    {
      conversation: "saved",
      from: "chat",
      reachableSeq: 2,
      position,
      restEntries: 1,
      lost: [{ fromSeq: 3, toSeq: 3 }],
      leftOut: [],
    },
  ]);
  const copied = jsonLines((await runHere(jsonl, ["log", "saved", "--json"])).out);
  const [root, m1, gap, third] = copied;
  expect(copied).toHaveLength(4);
  expect([m1?.["id"], gap?.["type"], gap?.["data"]]).toEqual(["m1", "custom", { fromSeq: 3, toSeq: 3 }]);
  expect([gap?.["parentId"], third?.["parentId"]]).toEqual([root?.["id"], gap?.["id"]]);
  expect((await runHere(jsonl, ["append", "saved"], said("user", "on"))).status).toBe(0);
  expect(readFileSync(file)).toEqual(before);
});

test("the log of a damaged conversation is printed with its gap, and then the command fails", async () => {
  for (const [args, lines] of [
    [[], 4],
    [["--json"], 3],
    [["--after", "1", "--json"], 2],
    [["--after", "3", "--json"], 1],
  ] as const) {
    const { status, out } = await runHere(jsonl, ["log", "chat", ...args]);
    expect(status).toBe(6);
    expect(out.trimEnd().split("\n")).toHaveLength(lines);
  }
});

test("what can be read of a damaged conversation is exported when asked, and imported elsewhere", async () => {
  const path = join(stores.dir, "rescued.jsonl");
  expect((await runHere(jsonl, ["export", "chat", "-o", path])).status).toBe(6);
  expect(existsSync(path)).toBe(false);
  expect((await runHere(jsonl, ["export", "chat", "--salvage", "-o", path])).status).toBe(0);
  const other = `sqlite:${join(stores.dir, "rescued.db")}`;
  expect((await runHere(other, ["import", path, "--id", "rescued"])).status).toBe(0);
  const types = jsonLines((await runHere(other, ["log", "rescued", "--json"])).out).map(({ type }) => type);
  expect(types).toEqual(["conversation", "message", "custom", "message"]);
});

test("a damaged conversation can be erased, by its whole id and with a word of what goes", async () => {
  const asked = await runHere(jsonl, ["erase", "chat", "--json"]);
  expect([asked.status, jsonLines(asked.err)[0]]).toMatchObject([
    2,
    { error: { details: { entries: null } } },
  ]);
  expect((await runHere(jsonl, ["erase", "cha", "--yes"])).status).toBe(2);
  expect(existsSync(file)).toBe(true);
  expect((await runHere(jsonl, ["erase", "chat", "--yes"])).status).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test("a lost or spoilt row of a SQLite store ends its log and its export with a failure", async () => {
  const path = join(stores.dir, "rows.db");
  const store = `sqlite:${path}`;
  const spoilers = {
    lost: "DELETE FROM entries WHERE seq = 3",
    spoilt: "UPDATE entries SET payload = '{\"mess' WHERE seq = 3",
  };
  for (const [id, spoil] of Object.entries(spoilers)) {
    await runHere(store, ["new", "--id", id]);
    const words = ["one", "two", "three"].map((text) => said("user", text));
    await runHere(store, ["append", id], words.join("\n"));
    const database = new DatabaseSync(path);
    database.exec(`${spoil} AND conversation = (SELECT row FROM conversations WHERE id = '${id}')`);
    database.close();
    const log = await runHere(store, ["log", id, "--json"]);
    expect([log.status, jsonLines(log.out).map(({ seq }) => seq)]).toEqual([6, [1, 2, 4]]);
    expect((await runHere(store, ["append", id], said("user", "on"))).status).toBe(0);
    expect((await runHere(store, ["export", id])).status).toBe(6);
    expect((await runHere(store, ["show", id])).status).toBe(6);
  }
  expect(await diagnosis(store)).toMatchObject({ status: 6, report: { findings: [{}, {}] } });
});

test("a damaged SQLite file is reported as such, and salvaging is not offered for it", async () => {
  const path = join(stores.dir, "store.db");
  expect(await diagnosis(sqlite)).toMatchObject({ status: 0, report: { ok: true, conversations: 1 } });
  const database = openSync(path, "r+");
  const size = statSync(path).size;
  writeSync(database, Buffer.alloc(Math.floor(size / 2)), 0, Math.floor(size / 2), Math.floor(size / 2));
  closeSync(database);
  expect(await diagnosis(sqlite)).toMatchObject({ status: 6, report: { ok: false } });
  expect((await runHere(sqlite, ["doctor", "--salvage", "chat"])).status).toBe(2);
});

test.each(["sqlite", "jsonl"])(
  "a %s log from before there were links is told up to where nothing proves it, and is healthy",
  async (kind) => {
    using dir = tempDir();
    const golden = join(ROOT, "test/compat/golden/v1");
    const path = join(dir.path, "store");
    if (kind === "jsonl") cpSync(join(golden, "jsonl"), path, { recursive: true });
    else writeFileSync(path, gunzipSync(readFileSync(join(golden, "store.db.gz"))));
    const { status, report } = await diagnosis(`${kind}:${path}`);
    const { ok, findings } = report as { ok: boolean; findings: readonly { [name: string]: unknown }[] };
    expect([status, ok]).toEqual([0, true]);
    expect(findings.map(({ conversation, severity }) => [conversation, severity])).toEqual([
      ["chat", "note"],
      ["fork", "note"],
    ]);
    const [chat] = findings;
    const entries = (await runHere(`${kind}:${path}`, ["log", "chat", "--json"])).out.trim().split("\n");
    expect(chat?.["unprovenSeq"]).toBe(entries.length);
  },
);

test("a row that was changed behind SQLite's back is damage, with the last entry that counts", async () => {
  using dir = tempDir();
  const path = join(dir.path, "store.db");
  await runHere(`sqlite:${path}`, ["new", "--id", "chat"]);
  await runHere(`sqlite:${path}`, ["append", "chat"], said("user", "first"));
  await runHere(`sqlite:${path}`, ["append", "chat"], said("user", "second"));
  const db = new DatabaseSync(path);
  db.exec("UPDATE entries SET payload = replace(payload, 'second', 'secoud') WHERE seq = 3");
  db.close();
  const { status, report } = await diagnosis(`sqlite:${path}`);
  expect([status, report]).toMatchObject([
    6,
    { findings: [{ conversation: "chat", severity: "damage", reachableSeq: 2 }] },
  ]);
});
