import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { type LogLocation, newbornName } from "#stores/jsonl/file-names";
import { CHUNK_BYTES } from "#stores/jsonl/file/file-lines";

type Place = Pick<LogLocation, "disk" | "folder" | "conversation">;

/** Writes a file under a name of its own and has it on the disk: power loss leaves no half file under a real name. */
export async function writeTempFile(
  { disk, folder, conversation }: Place,
  bytes: Uint8Array,
): Promise<string> {
  const tempFile = join(folder, newbornName(conversation, randomBytes(8).toString("hex")));
  try {
    await using file = await disk.open(tempFile, "create");
    await file.write(bytes, 0);
    await file.sync();
  } catch (error) {
    await disk.remove(tempFile).catch(() => undefined);
    throw error;
  }
  return tempFile;
}

/** Creates a whole file under a free name; false, with nothing done, when the name is in use. */
export async function createWhole(place: Place, path: string, bytes: Uint8Array): Promise<boolean> {
  const tempFile = await writeTempFile(place, bytes);
  const made = await place.disk.link(tempFile, path);
  await place.disk.remove(tempFile);
  if (made) await place.disk.syncFolder(dirname(path));
  return made;
}

/** Makes a file whole, or replaces one by it. */
export async function writeWhole(place: Place, path: string, bytes: Uint8Array): Promise<void> {
  await place.disk.rename(await writeTempFile(place, bytes), path);
  await place.disk.syncFolder(dirname(path));
}

/** All bytes of a file; null when there is none. */
export async function readWhole(disk: Disk, path: string): Promise<Uint8Array | null> {
  if ((await disk.stat(path)) === null) return null;
  await using file = await disk.open(path, "read");
  return await file.read(0, (await file.stat()).size);
}

/**
 * Removes a file, then writes zeros over what it held. The zeros are best effort: a file system that copies on
 * write, or a drive that spreads its wear, may keep the old blocks until they are used again.
 */
export async function destroy(disk: Disk, path: string): Promise<void> {
  if ((await disk.stat(path)) === null) return;
  await using file = await disk.open(path, "write");
  await disk.remove(path);
  await disk.syncFolder(dirname(path));
  await blank(file).catch(() => undefined);
}

/** Replaces a file, then overwrites the old content with zeros. */
export async function replaceAndBlank(disk: Disk, tempFile: string, path: string): Promise<void> {
  await using old = await disk.open(path, "write");
  await disk.rename(tempFile, path);
  await disk.syncFolder(dirname(path));
  await blank(old).catch(() => undefined);
}

async function blank(file: DiskFile): Promise<void> {
  const { size } = await file.stat();
  const zeros = new Uint8Array(Math.min(size, CHUNK_BYTES));
  for (let offset = 0; offset < size; offset += CHUNK_BYTES)
    await file.write(zeros.subarray(0, Math.min(CHUNK_BYTES, size - offset)), offset);
  await file.sync();
}
