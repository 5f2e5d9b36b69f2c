import { join } from "node:path";
import type { Disk, DiskFile } from "#stores/jsonl/disk/disk";
import type { LogLocation } from "#stores/jsonl/log-location";
import { CHUNK_BYTES } from "./file-lines.ts";
import { tornName } from "#stores/jsonl/file-names";

const COPIES_MAX = 1_000; // a repair cut off between copy and cut leaves a copy; nobody is cut off this often

/**
 * Moves the bytes of an unfinished batch into a file of their own. They are safe there before they leave the log,
 * and the log is cut, and the cut on the disk, before anything is written in their place.
 */
export async function setAside(
  location: LogLocation,
  file: DiskFile,
  range: { readonly from: number; readonly to: number },
): Promise<void> {
  const { disk, folder } = location;
  await using torn = await openNew(disk, (copy) =>
    join(folder, tornName(location.conversation, range.from, copy)),
  );
  for (let at = range.from; at < range.to; at += CHUNK_BYTES) {
    await torn.write(await file.read(at, Math.min(CHUNK_BYTES, range.to - at)), at - range.from);
  }
  await torn.sync();
  await disk.syncFolder(folder);
  await file.truncate(range.from);
  await file.sync();
}

async function openNew(disk: Disk, pathOf: (copy: number) => string): Promise<DiskFile> {
  for (let copy = 0; ; copy++) {
    if (copy < COPIES_MAX && (await disk.stat(pathOf(copy))) !== null) continue;
    return disk.open(pathOf(copy), "create");
  }
}
