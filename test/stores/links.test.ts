/**
 * Goal: a log proves itself. A flipped byte, a lost, swapped or re-used row and a cut tail behind something that outlives
 * it are found, with the last entry that still counts; an erase leaves no digest of what it erased.
 * Method: a log of three batches in every store, spoilt where it lies, by someone who knows how it is kept.
 */
import { gunzipSync } from "node:zlib";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { conv, Rig, user } from "#store/contract/rig";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { jsonlStore } from "#stores/jsonl/index";
import { encodeBatch, isCommitLine, parseCommit, parseEntry } from "#stores/jsonl/file/framing";
import { emptyHead } from "#log/lineage/head";
import { rigOn } from "../support/sqlite-rig.ts";
import { tempDir } from "../support/temp-dir.ts";

/** Two batches of an owner's and one from outside. */
async function fill(rig: Rig): Promise<void> {
  const space = await rig.space();
  await rig.create(space, "a", [user("one", "one")]);
  await rig.append(space, "a", [user("two", "two"), user("three", "three")]);
  await rig.append(space, "a", [{ type: "title", title: "T" }], { author: { kind: "outside" } });
}

async function damage(rig: Rig): Promise<readonly (readonly [string | null, number | null])[]> {
  const findings = await (await rig.space()).check({ repair: false });
  const damaged = findings.filter(({ severity }) => severity === "damage");
  return damaged.map(({ conversation, reachableSeq }) => [conversation, reachableSeq] as const);
}

const IN_A = "conversation = (SELECT row FROM conversations WHERE id = 'a')";

const SPOILT: readonly { name: string; sql: string; reachable: number }[] = [
  {
    name: "a flipped byte",
    sql: `UPDATE entries SET payload = replace(payload, 'two', 'twp') WHERE seq = 3 AND ${IN_A}`,
    reachable: 2,
  },
  { name: "a lost row", sql: `DELETE FROM entries WHERE seq = 3 AND ${IN_A}`, reachable: 2 },
  {
    name: "a re-used row",
    sql: `UPDATE entries SET id = 'other', payload = '{"title":"U"}' WHERE seq = 5 AND ${IN_A}`,
    reachable: 4,
  },
  {
    name: "another time",
    sql: `UPDATE entries SET time = '2020-01-01T00:00:00.000Z' WHERE seq = 2 AND ${IN_A}`,
    reachable: 0,
  },
  {
    name: "another parent",
    sql: `UPDATE entries SET parent = 'a-root' WHERE seq = 4 AND ${IN_A}`,
    reachable: 2,
  },
  {
    name: "swapped batches",
    sql: `UPDATE entries SET seq = 100 + seq WHERE seq > 2 AND ${IN_A};
      UPDATE entries SET seq = CASE seq WHEN 105 THEN 3 ELSE seq - 99 END WHERE seq > 100 AND ${IN_A}`,
    reachable: 2,
  },
  {
    name: "a cut tail behind its head",
    sql: `DELETE FROM entries WHERE seq = 5 AND ${IN_A};
      UPDATE conversations SET head_seq = 4, title = NULL WHERE id = 'a'`,
    reachable: 4,
  },
];

test.each(SPOILT)("sqlite: $name is found, with the last entry that counts", async ({ sql, reachable }) => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = rigOn(path);
  await fill(rig);
  expect(await damage(rig)).toEqual([]);
  const other = new DatabaseSync(path);
  other.exec(sql);
  other.close();
  expect(await damage(rig)).toEqual([["a", reachable]]);
});

test("memory: a changed, a lost and a swapped entry are found", async () => {
  const backing = inMemoryBacking();
  await using rig = new Rig({ open: async (nowMs) => inMemoryStore({ backing, nowMs }) });
  await fill(rig);
  expect(await damage(rig)).toEqual([]);
  const log = backing.spaces.get("default")?.get("a");
  const [second, third] = [log?.rows.get(2), log?.rows.get(3)];
  if (log === undefined || second === undefined || third === undefined) throw new Error("not filled");
  log.rows.set(3, { ...third, payload: third.payload.replace("two", "twp") });
  expect(await damage(rig)).toEqual([["a", 2]]);
  log.rows.set(3, { ...second, seq: 3 });
  expect(await damage(rig)).toEqual([["a", 2]]);
  log.rows.delete(3);
  expect(await damage(rig)).toEqual([["a", 2]]);
  log.rows.set(3, third);
  expect(await damage(rig)).toEqual([]);
});

/** The lines of a JSONL log, and the way to put them back. */
function linesOf(path: string): {
  readonly lines: readonly Buffer[];
  readonly write: (lines: readonly Uint8Array[]) => void;
} {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return {
    lines: lines.map((line) => Buffer.from(line)),
    write: (some) => writeFileSync(path, some.map((line) => `${Buffer.from(line).toString()}\n`).join("")),
  };
}

function jsonlRig(dir: string): Rig {
  return new Rig({ open: async (nowMs) => jsonlStore({ dir, nowMs }) });
}

test("jsonl: an entry that was changed together with its checksum is found by its link", async () => {
  using dir = tempDir();
  const folder = join(dir.path, "store");
  await using rig = jsonlRig(folder);
  await fill(rig);
  expect(await damage(rig)).toEqual([]);
  const { lines, write } = linesOf(join(folder, "default", "a.jsonl"));
  const at = lines.findIndex((line) => isCommitLine(line));
  const commit = parseCommit(lines[at] ?? Buffer.alloc(0));
  if (commit === null) throw new Error("no commit");
  const entries = lines.slice(0, at).flatMap((line) => parseEntry(line, commit.v) ?? []);
  const changed = entries.map((entry) =>
    Object.assign(entry, { payload: entry.payload.replace("one", "eno") }),
  );
  const { from, to, by, epoch, key, digest, synced, prev, link } = commit;
  const head = { ...emptyHead("a", null, commit.createdAt), updatedAt: commit.updatedAt };
  const leaf = { ...head.leaf, id: commit.leaf };
  const given = { from, to, by, epoch, key, digest, synced, prev, ...(link === undefined ? {} : { link }) };
  const batch = encodeBatch(changed, given, { ...head, leaf });
  // The rest of the chain of checksums is made anew too: what is left of it is the first batch alone.
  write(
    Buffer.from(batch.bytes)
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => Buffer.from(line)),
  );
  expect(await damage(rig)).toEqual([["a", 0]]);
});

test("jsonl: a flipped byte and swapped batches are found, and a tail that was cut behind a fork", async () => {
  using dir = tempDir();
  const folder = join(dir.path, "store");
  const path = join(folder, "default", "a.jsonl");
  await using rig = jsonlRig(folder);
  await fill(rig);
  const { lines, write } = linesOf(path);
  const ends = lines.flatMap((line, at) => (isCommitLine(line) ? [at + 1] : []));
  const [first = 0, second = 0] = ends;
  write(lines.map((line) => Buffer.from(line.toString().replace("two", "twp"))));
  expect(await damage(rig)).toEqual([["a", 2]]);
  write([...lines.slice(0, first), ...lines.slice(second), ...lines.slice(first, second)]);
  expect(await damage(rig)).toEqual([["a", 2]]);
  write(lines);
  expect(await damage(rig)).toEqual([]);
  await rig.fork(await rig.space(), "a", "b", { entry: "one" });
  write(lines.slice(0, second)); // whole in itself, and shorter than the fork remembers it
  expect(await damage(rig)).toEqual([["a", 4]]);
});

test.each(["sqlite", "jsonl"] as const)(
  "%s: an erase leaves no link of what it erased, and what forks keep proves itself",
  async (kind) => {
    using dir = tempDir();
    const path = join(dir.path, "s.db");
    const folder = join(dir.path, "store");
    const open = (): Rig => (kind === "sqlite" ? rigOn(path) : jsonlRig(folder));
    const links: string[] = [];
    {
      await using rig = open();
      await fill(rig);
      const space = await rig.space();
      await rig.fork(space, "a", "b", { entry: "one" });
      links.push(
        ...[(await space.head(conv("a"))).link, (await space.head(conv("a"))).ownerLink].map(String),
      );
      await space.erase(conv("a"));
      expect(await damage(rig)).toEqual([]);
      await rig.append(space, "b", [user("mine")]);
      expect(await damage(rig)).toEqual([]);
    }
    const bytes = kind === "sqlite" ? readFileSync(path) : readFileSync(join(folder, "default", "a.jsonl"));
    for (const link of links) {
      expect(link).toMatch(/^[0-9a-f]{64}$/);
      expect(bytes.includes(kind === "sqlite" ? Buffer.from(link, "hex") : link)).toBe(false);
    }
  },
);

const GOLDEN = join(import.meta.dirname, "..", "compat", "golden", "v1");

test.each(["sqlite", "jsonl"] as const)(
  "%s: a log of version 1 is written on, and proves itself from there",
  async (kind) => {
    using dir = tempDir();
    const path = join(dir.path, "s.db");
    const folder = join(dir.path, "store");
    if (kind === "sqlite") writeFileSync(path, gunzipSync(readFileSync(join(GOLDEN, "store.db.gz"))));
    else {
      mkdirSync(join(folder, "default"), { recursive: true });
      for (const name of ["chat.jsonl", "fork.jsonl"])
        copyFileSync(join(GOLDEN, "jsonl", "default", name), join(folder, "default", name));
    }
    await using rig = kind === "sqlite" ? rigOn(path) : jsonlRig(folder);
    const space = await rig.space();
    const { headSeq, link } = await space.head(conv("chat"));
    expect(link).toBeNull();
    expect(await damage(rig)).toEqual([]);
    await rig.append(space, "chat", [user("written on")]);
    await rig.append(space, "chat", [user("and on")]);
    const after = await space.head(conv("chat"));
    expect([after.headSeq, after.link]).toEqual([headSeq + 2, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(await damage(rig)).toEqual([]);
    if (kind === "jsonl") return;
    const other = new DatabaseSync(path);
    other.exec(
      `UPDATE entries SET payload = replace(payload, 'written on', 'written of') WHERE seq = ${headSeq + 1}`,
    );
    other.close();
    expect(await damage(rig)).toEqual([["chat", headSeq]]);
  },
);
