import type { Disk } from "#stores/jsonl/disk/disk";
import type { EntryBody } from "#log/entry";
import type { LogError } from "#log/errors";
import { parseSpaceId, type SpaceId } from "#log/ids";
import { conv, user } from "#store/contract/rig";
import { type IdsAndTime, prepare } from "#store/prepare";
import type { SpaceStore } from "#store/facets";
import { jsonlStore } from "#stores/jsonl/index";
import { FaultyDisk } from "./faulty-disk.ts";

export const DIR = "/logs";
export const FILE = "/logs/default/a.jsonl";
export const SPACE: SpaceId = parseSpaceId("default");

let made = 0;
export const idsAndTime: IdsAndTime = { now: () => "2026-01-01T00:00:00.000Z", newId: () => `e${++made}` };

/** A new handle, as another process would have one; it never waits for a lock. */
export function spaceOn(
  disk: Disk,
  options: { readonly readOnly?: boolean; readonly dir?: string } = {},
): SpaceStore {
  return jsonlStore({ dir: DIR, disk, nowMs: () => 0, lockWaitMs: 0, ...options }).space(SPACE);
}

export async function create(
  space: SpaceStore,
  id: string,
  bodies: readonly (EntryBody | string)[] = [],
): Promise<void> {
  const root: EntryBody = { type: "conversation", id: `${id.slice(0, 100)}-root`, cwd: "/w" };
  await space.create({ conversation: conv(id), ...prepare([root, ...bodies], idsAndTime) });
}

export async function append(
  space: SpaceStore,
  id: string,
  bodies: readonly (EntryBody | string)[],
  durability: "full" | "relaxed" = "full",
): Promise<void> {
  await space.append({
    conversation: conv(id),
    author: { kind: "once" },
    durability,
    ...prepare(bodies, idsAndTime),
  });
}

export async function idsIn(space: SpaceStore, id: string = "a"): Promise<readonly string[]> {
  return (await space.read({ conversation: conv(id), limit: 1_000 })).map((entry) => entry.id);
}

export function bytesOf(disk: FaultyDisk, path: string = FILE): Uint8Array {
  return disk.files().get(path) ?? new Uint8Array();
}

/** Everything on a disk, to compare with. */
export function snapshot(disk: FaultyDisk): readonly (readonly [string, string])[] {
  return [...disk.files()].map(([path, bytes]) => [path, Buffer.from(bytes).toString("hex")] as const);
}

export async function failure(
  work: Promise<unknown>,
): Promise<{ readonly code: string; readonly details: LogError["details"] }> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown as LogError,
  );
  return { code: error?.code ?? "nothing failed", details: error?.details ?? {} };
}

/** Three batches: root and m1; m2 and m3; m4. */
export async function threeBatches(): Promise<FaultyDisk> {
  const disk = new FaultyDisk();
  const space = spaceOn(disk);
  await create(space, "a", [user("eins", "m1")]);
  await append(space, "a", [user("zwölf 😀 漢字", "m2"), user("three", "m3")]);
  await append(space, "a", [user("four", "m4")]);
  return disk;
}

/** Where each batch of a log ends. */
export function commitEnds(bytes: Uint8Array): readonly number[] {
  const ends: number[] = [];
  let at = 0;
  for (const line of Buffer.from(bytes).toString("latin1").split("\n").slice(0, -1)) {
    at += line.length + 1;
    if (line.startsWith('{"commit":')) ends.push(at);
  }
  return ends;
}
