import { join } from "node:path";
import { relink } from "#log/batch-links";
import { sha256 } from "#store/sha256";
import type { ForkRemainder } from "#stores/indexed/indexed-log";
import { digestIn } from "./blob-files.ts";
import { onDisk } from "./disk/disk.ts";
import { encodeBatch } from "./file/framing.ts";
import { blobsPath, type LogLocation, logPath } from "./log-location.ts";
import type { JsonlLog } from "./jsonl-log.ts";
import { isLeftover, lockName } from "./file-names.ts";
import { destroy, replaceAndBlank, writeTempFile } from "./disk/whole-file.ts";

/**
 * Removes a conversation's words from the disk, or all of them but what forks still stand on. The log
 * itself goes last: cut off before that, the conversation is still listed and can be erased again.
 */
export function trimLog(
  location: LogLocation,
  log: JsonlLog,
  forkRemainder: ForkRemainder | null,
): Promise<void> {
  return onDisk(`erasing conversation ${location.conversation}`, async () => {
    const { disk, folder } = location;
    for (const file of await disk.list(folder)) {
      if (isLeftover(location.conversation, file)) await destroy(disk, join(folder, file));
    }
    await removeBlobs(location, forkRemainder);
    if (forkRemainder !== null) {
      await replaceAndBlank(
        disk,
        await writeTempFile(location, trimmedFile(log, forkRemainder)),
        logPath(location),
      );
      return;
    }
    await destroy(disk, logPath(location));
    await disk.remove(join(folder, lockName(location.conversation)));
    await disk.syncFolder(folder);
  });
}

async function removeBlobs(location: LogLocation, forkRemainder: ForkRemainder | null): Promise<void> {
  const { disk } = location;
  const folder = blobsPath(location);
  const files = await disk.list(folder);
  if (files.length === 0) return disk.removeFolder(folder);
  let failures = 0;
  for (const file of files) {
    const digest = digestIn(file);
    if (digest !== null && forkRemainder?.blobs.has(digest)) failures++;
    else await destroy(disk, join(folder, file));
  }
  if (failures === 0) await disk.removeFolder(folder);
}

/** What is left of a log, as a file: marked erased, so that no list shows it. */
function trimmedFile(log: JsonlLog, { entries, origin }: ForkRemainder): Uint8Array {
  const { head } = log.index;
  const last = entries.at(-1);
  // Nothing that was said about the conversation as a whole outlives it.
  const bare = {
    ...head,
    title: null,
    cwd: null,
    summary: null,
    origin,
    createdAt: entries[0]?.time ?? head.createdAt,
    updatedAt: last?.time ?? head.updatedAt,
  };
  const files: Uint8Array[] = [];
  let prev = "";
  for (const { entries: run, link } of relink(sha256, entries)) {
    const leaf = { ...head.leaf, id: run.at(-1)?.id ?? head.leaf.id };
    const commit = {
      from: run[0]?.seq ?? 1,
      to: run.at(-1)?.seq ?? 0,
      by: "owner",
      epoch: head.epoch,
      key: null,
      digest: null,
      ...(link === null ? {} : { link }),
    } as const;
    const batch = encodeBatch(run, { ...commit, erased: true, synced: 0, prev }, { ...bare, leaf });
    files.push(batch.bytes);
    prev = batch.sum;
  }
  return Buffer.concat(files);
}
