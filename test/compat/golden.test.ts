/**
 * Goal: whatever version a store was written in, it opens for good. Method: the files of each version lie here as that
 * version wrote them and never change; they are read, written on, and compared with what was read then.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { decodeEntry } from "#log/codec";
import { FORMAT_VERSION } from "#log/entry";
import { detailsOf, isInternal } from "#log/message";
import { metadataOf } from "#log/summary";
import { recordedEvents } from "#turn/rules/attempt-record";
import { openHoldfast } from "#open";
import { runCli } from "../edges/cli/cli-run.ts";
import { user } from "../support/a-log.ts";
import { tempDir } from "../support/temp-dir.ts";
import { readingOf } from "./reading.ts";

const VERSIONS = [1, 2] as const;
const KINDS = ["jsonl", "sqlite"] as const;

function golden(version: number, ...path: readonly string[]): string {
  return join(import.meta.dirname, "golden", `v${version}`, ...path);
}

function expectedOf(version: number): unknown {
  return JSON.parse(readFileSync(golden(version, "expected.json"), "utf8"));
}

/** The golden files copied to where they may be written to, by kind of store. */
const copies = {
  jsonl: (version: number, folder: string): string => {
    cpSync(golden(version, "jsonl"), join(folder, "logs"), { recursive: true });
    return `jsonl:${join(folder, "logs")}`;
  },
  sqlite: (version: number, folder: string): string => {
    writeFileSync(join(folder, "store.db"), gunzipSync(readFileSync(golden(version, "store.db.gz"))));
    return `sqlite:${join(folder, "store.db")}`;
  },
};

test("there are golden files of every version", () => {
  expect(VERSIONS.at(-1)).toBe(FORMAT_VERSION);
});

test.each(VERSIONS)("an export of version %i imports and reads as the conversation did", async (version) => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  expect((await runCli(store, ["import", golden(version, "export.jsonl")])).status).toBe(0);
  await using holdfast = await openHoldfast({ store });
  expect(await readingOf(holdfast)).toEqual(expectedOf(version));
});

test.each(KINDS.flatMap((kind) => VERSIONS.map((version) => [kind, version] as const)))(
  "a %s store of version %i reads as it did, word for word",
  async (kind, version) => {
    using folder = tempDir();
    const store = copies[kind](version, folder.path);
    {
      await using holdfast = await openHoldfast({ store, readOnly: true });
      expect(await readingOf(holdfast)).toEqual(expectedOf(version));
      const fork = await holdfast.conversation("fork");
      expect((await fork.branch()).slice(1).map(({ id }) => id)).toEqual([
        "u1",
        "a1",
        "r1",
        "mc",
        "a2",
        "f1",
      ]);
      const found = await holdfast.check({ repair: false });
      const unproven = version === 1 ? ["chat", "fork"] : [];
      expect(found.map(({ conversation, severity }) => [conversation, severity])).toEqual(
        unproven.map((conversation) => [conversation, "note"]),
      );
    }
    await using holdfast = await openHoldfast({ store });
    const chat = await holdfast.conversation("chat");
    expect((await chat.append(user("again"), { key: "turn-1" })).deduped).toBe(true);
    const { toSeq } = await chat.append(user("on"));
    expect((await chat.head()).headSeq).toBe(toSeq);
    const written = await Array.fromAsync(chat.log(), ({ v }) => v);
    expect([...new Set(written)]).toEqual([...new Set([version, FORMAT_VERSION])]);
    expect((await chat.context()).messages).toHaveLength(3);
    expect(await holdfast.search("parser")).toHaveLength(1);
  },
);

test("what version 2 wrote, and what it took over from version 1, means what it meant", async () => {
  using folder = tempDir();
  await using holdfast = await openHoldfast({ store: copies.sqlite(2, folder.path), readOnly: true });
  const chat = await holdfast.conversation("chat");
  const entries = await Array.fromAsync(chat.log(), (stored) => decodeEntry(stored));
  expect((await chat.usage()).inputTokens).toBe(10);
  expect(metadataOf(entries)).toEqual({ tags: ["a"], pinned: true, colour: "red" });
  const messages = entries.filter((entry) => entry.type === "message" && isInternal(entry));
  expect(messages.map((entry) => entry.type === "message" && detailsOf(entry))).toEqual([
    { kept: 1 },
    { kept: 2 },
  ]);
  const updates = entries.flatMap((entry) => (entry.type === "update" ? (recordedEvents(entry) ?? []) : []));
  expect(updates.map(({ type }) => type)).toEqual(["other", "final_text", "other", "text"]);
});
