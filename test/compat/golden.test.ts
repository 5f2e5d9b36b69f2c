/**
 * Goal: whatever version a store was written in, it opens for good. Method: the files of each version lie here as that
 * version wrote them and never change; they are read, written on, and compared with what was read then.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openHoldfast } from "#open";
import { runCli } from "../edges/cli-run.ts";
import { user } from "../support/a-log.ts";
import { tempDir } from "../support/temp-dir.ts";
import { readingOf } from "./reading.ts";

const GOLDEN = join(import.meta.dirname, "golden", "v1");
const expected: unknown = JSON.parse(readFileSync(join(GOLDEN, "expected.json"), "utf8"));

/** The golden files copied to where they may be written to, by kind of store. */
const copies = {
  jsonl: (folder: string): string => {
    cpSync(join(GOLDEN, "jsonl"), join(folder, "logs"), { recursive: true });
    return `jsonl:${join(folder, "logs")}`;
  },
  sqlite: (folder: string): string => {
    writeFileSync(join(folder, "store.db"), gunzipSync(readFileSync(join(GOLDEN, "store.db.gz"))));
    return `sqlite:${join(folder, "store.db")}`;
  },
};

test("an export of version 1 imports and reads as the conversation did", async () => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  expect((await runCli(store, ["import", join(GOLDEN, "export.jsonl")])).status).toBe(0);
  await using holdfast = await openHoldfast({ store });
  expect(await readingOf(holdfast)).toEqual(expected);
});

test.each(["jsonl", "sqlite"] as const)(
  "a %s store of version 1 reads as it did, word for word",
  async (kind) => {
    using folder = tempDir();
    const store = copies[kind](folder.path);
    {
      await using holdfast = await openHoldfast({ store, readOnly: true });
      expect(await readingOf(holdfast)).toEqual(expected);
      const fork = await holdfast.conversation("fork");
      expect((await fork.branch()).slice(1).map(({ id }) => id)).toEqual([
        "u1",
        "a1",
        "r1",
        "mc",
        "a2",
        "f1",
      ]);
      expect(await holdfast.check({ repair: false })).toEqual([]);
    }
    await using holdfast = await openHoldfast({ store });
    const chat = await holdfast.conversation("chat");
    expect((await chat.append(user("again"), { key: "turn-1" })).deduped).toBe(true);
    const { toSeq } = await chat.append(user("on"));
    expect((await chat.head()).headSeq).toBe(toSeq);
    expect((await chat.context()).messages).toHaveLength(3);
    expect(await holdfast.search("parser")).toHaveLength(1);
  },
);
