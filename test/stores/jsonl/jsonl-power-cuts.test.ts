/**
 * Goal: no power cut, at any moment and whatever it leaves of unsynced bytes, loses something acknowledged, shows a
 * part of a batch, or keeps the next append from being read.
 * Method: a script of writes runs on a disk whose power goes at operation 0, 1, 2 and so on. For each cut, every
 * disk that may be found afterwards (test/support/faulty-disk.ts says which) is opened, compared with the diary of
 * what was begun and acknowledged, written to, and opened again. The same checker must find planted bugs. With HOLDFAST_SOAK
 * a write is torn at each of its bytes, else at each near its ends and one of five between.
 */
import type { Disk, DiskFile } from "#stores/jsonl/disk/disk";
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { isLogError } from "#log/errors";
import type { EntryBody } from "#log/entry";
import { conv, entryId, texts, user } from "#store/contract/rig";
import { type IdsAndTime, prepare } from "#store/prepare";
import { parseSpaceId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import { jsonlStore } from "#stores/jsonl/index";
import { FaultyDisk, PowerLoss } from "../../support/faulty-disk.ts";

const STRIDE = process.env["HOLDFAST_SOAK"] === undefined ? 5 : 1;
const DIR = "/logs";
const idsAndTime: IdsAndTime = { now: () => "2026-01-01T00:00:00.000Z", newId: () => "unused" };

interface DiaryBatch {
  readonly ids: readonly string[];
  readonly durability: "full" | "relaxed";
  readonly key: string | null;
  acked: boolean;
}
type Diary = Map<string, DiaryBatch[]>;

function spaceOn(disk: Disk): SpaceStore {
  return jsonlStore({ dir: DIR, disk, nowMs: () => 0, lockWaitMs: 0 }).space(parseSpaceId("default"));
}

/** Does a write and keeps a diary of it: begun before, acknowledged after. */
async function noted(
  diary: Diary,
  id: string,
  batch: Omit<DiaryBatch, "acked">,
  work: () => Promise<unknown>,
): Promise<void> {
  const entry: DiaryBatch = { ...batch, acked: false };
  diary.set(id, [...(diary.get(id) ?? []), entry]);
  await work();
  entry.acked = true;
}

async function append(
  space: SpaceStore,
  id: string,
  bodies: readonly EntryBody[],
  how: { durability?: "full" | "relaxed"; key?: string; diary?: Diary } = {},
): Promise<void> {
  const { durability = "full", key = null, diary = new Map() } = how;
  const batch = { ids: bodies.map((body) => body.id ?? ""), durability, key };
  await noted(diary, id, batch, () =>
    space.append({
      conversation: conv(id),
      author: { kind: "once" },
      durability,
      ...prepare(bodies, idsAndTime, key),
    }),
  );
}

const update = (id: string): EntryBody => ({ type: "update", id, data: "…" });

async function script(space: SpaceStore, diary: Diary): Promise<void> {
  const first: readonly EntryBody[] = [{ type: "conversation", id: "root" }, user("zwölf 😀", "m1")];
  await noted(diary, "a", { ids: ["root", "m1"], durability: "full", key: null }, () =>
    space.create({ conversation: conv("a"), ...prepare(first, idsAndTime) }),
  );
  await append(space, "a", [user("two", "m2"), user("three", "m3")], { key: "k1", diary });
  await append(space, "a", [update("u1")], { durability: "relaxed", diary });
  await append(space, "a", [update("u2"), update("u3")], { durability: "relaxed", diary });
  await append(space, "a", [user("four", "m4"), user("five", "m5")], { diary });
  await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 0 });
  await noted(diary, "b", { ids: ["fork"], durability: "full", key: null }, () =>
    space.fork({
      source: conv("a"),
      entry: entryId("m2"),
      conversation: conv("b"),
      id: entryId("fork"),
      time: idsAndTime.now(),
      key: null,
    }),
  );
  await append(space, "b", [user("mine", "n1"), update("n2")], { diary });
}

/** What is wrong with a disk found after a power cut, in the light of the diary; null when nothing is. */
async function verdict(disk: FaultyDisk, diary: Diary): Promise<string | null> {
  try {
    for (const [id, batches] of diary) {
      const wrong = await verdictOn(disk, id, batches);
      if (wrong !== null) return `${id}: ${wrong}`;
    }
    return null;
  } catch (error) {
    return `failed with ${String(error)}`;
  }
}

async function idsIn(space: SpaceStore, id: string): Promise<readonly string[] | null> {
  try {
    return (await space.read({ conversation: conv(id), limit: 1_000 })).map((entry) => entry.id);
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}

async function verdictOn(
  disk: FaultyDisk,
  id: string,
  batches: readonly DiaryBatch[],
): Promise<string | null> {
  const space = spaceOn(disk);
  const found = await idsIn(space, id);
  const listed = (await space.list({ limit: 10 })).conversations.find((one) => one.conversation === id);
  // A full batch takes everything before it to the disk.
  const kept = batches.findLastIndex((batch) => batch.acked && batch.durability === "full") + 1;
  if (found === null) return kept > 0 || listed ? "an acknowledged conversation is lost" : null;
  const whole =
    batches.findIndex((_, at) =>
      same(
        found,
        batches.slice(0, at + 1).flatMap((batch) => batch.ids),
      ),
    ) + 1;
  if (whole === 0) return `a batch is half there: ${found.join(" ")}`;
  if (whole < kept) return `acknowledged entries are lost: ${found.join(" ")}`;
  if (listed?.headSeq !== found.length || listed.damage !== null)
    return `listed as ${JSON.stringify(listed)}`;
  await append(space, id, [user("after", `${id}-after`)]);
  const expected = [...found, `${id}-after`];
  if (!same(await idsIn(space, id), expected)) return "the next append is not read";
  const again = spaceOn(disk.copy());
  if (!same(await idsIn(again, id), expected)) return "the second opening differs";
  for (const batch of batches.slice(0, whole)) {
    if (batch.key !== null && (await again.findAppend(conv(id), batch.key)) === null)
      return `the key ${batch.key} is lost`;
  }
  if ((await texts(again, id)).length === 0) return "the branch cannot be read";
  const finding = (await again.check({ repair: false })).find((one) => one.conversation === id);
  return finding === undefined ? null : `check says ${finding.message}`;
}

function same(left: readonly string[] | null, right: readonly string[]): boolean {
  return left !== null && left.length === right.length && left.every((id, at) => id === right[at]);
}

type Bug = { readonly disk?: (disk: FaultyDisk) => Disk; readonly space?: (space: SpaceStore) => SpaceStore };

function stateOf(disk: FaultyDisk, diary: Diary): string {
  const hash = createHash("sha256").update(JSON.stringify([...diary]));
  for (const [path, bytes] of disk.files()) if (!path.includes(".new-")) hash.update(path).update(bytes);
  return hash.digest("hex");
}

/** Cuts the power at every operation of the script; every wrong disk found, and how many were looked at. */
async function cutEverywhere(
  bug: Bug = {},
  stopAtFirst: boolean = false,
): Promise<{ readonly wrong: readonly string[]; readonly looked: number }> {
  const wrong: string[] = [];
  const seen = new Set<string>();
  let looked = 0;
  for (let at = 0; ; at++) {
    const disk = new FaultyDisk(at);
    const diary: Diary = new Map();
    const space = spaceOn(bug.disk?.(disk) ?? disk);
    await script(bug.space?.(space) ?? space, diary).catch((error: unknown) => {
      if (!(error instanceof PowerLoss)) throw error;
    });
    for (const outcome of disk.outcomes(STRIDE)) {
      // A cut at a sync leaves what the cut at the write before it left.
      const state = stateOf(outcome.disk, diary);
      if (seen.has(state)) continue;
      seen.add(state);
      looked++;
      const found = await verdict(outcome.disk, diary);
      if (found !== null) wrong.push(`cut at ${at}, ${outcome.name}: ${found}`);
      if (found !== null && stopAtFirst) return { wrong, looked };
    }
    if (!disk.off) return { wrong, looked };
  }
}

test("no power cut loses what was acknowledged or shows half a batch", async () => {
  const { wrong, looked } = await cutEverywhere();
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(looked).toBeGreaterThan(4_000 / STRIDE);
});

test("a power cut while an unfinished batch is set aside is no worse than the first", async () => {
  const whole = new FaultyDisk();
  await script(spaceOn(whole), new Map());
  const [path, bytes] = [...whole.files()].find(([name]) => name.endsWith("/a.jsonl")) ?? [
    "",
    new Uint8Array(),
  ];
  const lost = bytes.length - 300;
  const diary: Diary = new Map();
  await script(spaceOn(new FaultyDisk()), diary);
  const wrong: string[] = [];
  for (let at = 0; ; at++) {
    const disk = whole.copy();
    disk.plant(path, bytes.slice(0, lost));
    const cut = disk.copy(at);
    const found = (await idsIn(spaceOn(cut), "a")) ?? [];
    const kept = (diary.get("a") ?? []).filter((batch) => batch.ids.every((id) => found.includes(id)));
    const after: Diary = new Map([["a", kept]]);
    await append(spaceOn(cut), "a", [user("again", "x1"), user("and again", "x2")], { diary: after }).catch(
      (error: unknown) => {
        if (!(error instanceof PowerLoss)) throw error;
      },
    );
    for (const outcome of cut.outcomes(STRIDE)) {
      const torn = Buffer.from(bytes.slice(lastCommitEnd(bytes.slice(0, lost)), lost));
      const safe = [...outcome.disk.files().values()].some((file) => Buffer.from(file).includes(torn));
      const said = safe ? await verdict(outcome.disk, after) : "the unfinished bytes are lost";
      if (said !== null) wrong.push(`cut at ${at}, ${outcome.name}: ${said}`);
    }
    if (!cut.off) break;
  }
  expect(wrong.slice(0, 5)).toEqual([]);
});

function lastCommitEnd(bytes: Uint8Array): number {
  const text = Buffer.from(bytes);
  return text.indexOf("\n", text.lastIndexOf('\n{"commit":', text.lastIndexOf("\n") - 1) + 1) + 1;
}

/** A disk whose files, or folders, say they are synced and are not. */
function forgetful(disk: FaultyDisk, what: "files" | "folders"): Disk {
  const deaf = (file: DiskFile): DiskFile =>
    new Proxy(file, {
      get: (target, name) => (name === "sync" ? async () => undefined : bound(target, name)),
    });
  return new Proxy<Disk>(disk, {
    get(target, name) {
      if (what === "folders" && name === "syncFolder") return async () => undefined;
      if (what === "files" && name === "open") {
        return async (...[path, mode]: Parameters<Disk["open"]>) => {
          const file = await target.open(path, mode);
          return path.endsWith(".jsonl") ? deaf(file) : file;
        };
      }
      return bound(target, name);
    },
  });
}

function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function"
    ? (value as (...given: readonly unknown[]) => unknown).bind(target)
    : value;
}

test("the checker finds a missing sync of the file", async () => {
  const { wrong } = await cutEverywhere({ disk: (disk) => forgetful(disk, "files") }, true);
  expect(wrong).toEqual([expect.stringContaining("lost")]);
});

test("the checker finds a missing sync of the folder", async () => {
  const { wrong } = await cutEverywhere({ disk: (disk) => forgetful(disk, "folders") }, true);
  expect(wrong).toEqual([expect.stringContaining("lost")]);
});

test("the checker finds a batch that is committed in two parts", async () => {
  const split = (space: SpaceStore): SpaceStore => ({
    ...space,
    async append(request) {
      const result = await space.append({ ...request, drafts: request.drafts.slice(0, 1) });
      const rest = request.drafts.slice(1);
      return rest.length === 0 ? result : space.append({ ...request, drafts: rest, key: null });
    },
  });
  const { wrong } = await cutEverywhere({ space: split }, true);
  expect(wrong).toEqual([expect.stringContaining("half there")]);
});
