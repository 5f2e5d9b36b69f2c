/** What lists show, in files from before appends kept it and in lines that cannot hold it. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHoldfast, user } from "#index";
import { decodeEntry } from "#log/codec";
import { summaryOf } from "#log/projections/summary-of";
import type { Summary } from "#log/summary";
import { conv } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import { append, create, spaceOn } from "../../support/jsonl-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { spaceOf } from "#conversation/on-space";

const GOLDEN = join(import.meta.dirname, "../../compat/golden/v1/jsonl");

async function counted(space: SpaceStore, id: string): Promise<Summary> {
  const entries = await space.read({ conversation: conv(id), limit: 99_999 });
  const { segments } = await space.head(conv(id));
  return summaryOf(
    entries.map((stored) => decodeEntry(stored)),
    segments,
  );
}

async function listed(space: SpaceStore, id: string): Promise<Summary | null | undefined> {
  const { conversations } = await space.list({ limit: 99 });
  return conversations.find(({ conversation }) => conversation === id)?.summary;
}

test("an old file is not counted until it is written, and then has every number", async () => {
  using dir = tempDir();
  cpSync(GOLDEN, dir.path, { recursive: true });
  const store = `jsonl:${dir.path}`;
  await using holdfast = await openHoldfast({ store });
  const space = spaceOf(holdfast);
  expect(await listed(space, "chat")).toBe(null);
  const chat = await holdfast.conversation("chat");
  const before = await chat.usage();
  expect(before).toEqual((await counted(space, "chat")).usage);
  await space.acquire({ conversation: conv("chat"), writer: "w", leaseMs: 0 });
  expect(await listed(space, "chat")).toBe(null);
  await chat.append(user("on"));
  await using other = await openHoldfast({ store });
  for (const seen of [space, spaceOf(other)]) {
    expect(await listed(seen, "chat")).toEqual(await counted(seen, "chat"));
    expect((await seen.head(conv("chat"))).summary).toEqual(await counted(seen, "chat"));
  }
  expect(await chat.usage()).toEqual(before);
});

test("an old file is counted on demand, where a filter asks for what nobody kept", async () => {
  using dir = tempDir();
  cpSync(GOLDEN, dir.path, { recursive: true });
  await using holdfast = await openHoldfast({ store: `jsonl:${dir.path}`, readOnly: true });
  const all = await Array.fromAsync(holdfast.list({ filter: { archived: false } }));
  expect(all.map(({ conversation }) => conversation).toSorted()).toEqual(["chat", "fork"]);
  for (const { conversation, summary } of all)
    expect(summary).toEqual(await counted(spaceOf(holdfast), conversation));
});

test("what is too long for a commit line is left out of it, and counted again when it is needed", async () => {
  const disk = new FaultyDisk();
  const space = spaceOn(disk);
  await create(space, "a");
  for (let at = 0; at < 6; at++)
    await append(space, "a", [{ type: "metadata", metadata: { [`part${at}`]: "x".repeat(4_000) } }]);
  expect(await listed(spaceOn(disk), "a")).toBe(null);
  await append(spaceOn(disk), "a", [{ type: "metadata", metadata: { part0: null } }]);
  expect(await listed(spaceOn(disk), "a")).toBe(null);
  await append(spaceOn(disk), "a", [{ type: "metadata", metadata: { part1: null, part2: null } }]);
  const seen = spaceOn(disk);
  const summary = await listed(seen, "a");
  expect(Object.keys(summary?.metadata ?? {})).toEqual(["part3", "part4", "part5"]);
  expect(summary).toEqual(await counted(seen, "a"));
});
