import { randomBytes } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import { backupTaken, noBackupFolder, type Backup, type BackupRequest } from "#store/requests";
import { digestIn } from "./blob-files.ts";
import type { Disk } from "#stores/jsonl/disk/disk";
import { CHUNK_BYTES } from "#stores/jsonl/file/file-lines";
import type { JsonlLog } from "./jsonl-log.ts";
import { blobsName, conversationIn, logName, nameOf, spaceIn } from "./file-names.ts";

const ATTEMPTS_MAX = 5; // erases that get in the way

export interface BackupSource {
  readonly disk: Disk;
  readonly dir: string;
  open(space: SpaceId, conversation: ConversationId): Promise<JsonlLog | null>;
}

interface SourceLog {
  readonly space: SpaceId;
  readonly conversation: ConversationId;
}

interface Copied {
  readonly bytes: number;
  readonly conversations: number;
}

/** An erase took something away that was to be copied. */
class Vanished extends Error {}

/**
 * Copies every log up to its last whole batch, and its blobs. Logs only grow, and what a fork stands on was there before
 * the fork, so the logs there are at the start make a sound store whatever is written meanwhile; only an erase makes it
 * begin again.
 */
export async function backUp(source: BackupSource, request: BackupRequest): Promise<Backup> {
  const { disk, dir } = source;
  const to = resolve(request.to);
  if ((await disk.stat(dir)) === null) throw new LogError("store_gone", `Store not found: ${dir}`, { dir });
  if ((await disk.stat(to)) !== null) throw backupTaken(to);
  if ((await disk.stat(dirname(to))) === null) throw noBackupFolder(dirname(to));
  const made = `${to}.${randomBytes(8).toString("hex")}.part`;
  try {
    const copied = await copyAll(source, made, request.onProgress);
    if ((await disk.stat(to)) !== null) throw backupTaken(to);
    await disk.rename(made, to);
    await disk.syncFolder(dirname(to));
    return { to, ...copied };
  } catch (error) {
    await clear(disk, made).catch(() => undefined);
    throw error;
  }
}

async function copyAll(
  source: BackupSource,
  made: string,
  onProgress: BackupRequest["onProgress"],
): Promise<Copied> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await copyOnce(source, made, onProgress);
    } catch (error) {
      if (!(error instanceof Vanished)) throw error;
      if (attempt === ATTEMPTS_MAX)
        throw new LogError(
          "busy",
          "The backup stopped because conversations were erased while it ran. Try again.",
        );
      await clear(source.disk, made);
    }
  }
}

async function copyOnce(
  source: BackupSource,
  made: string,
  onProgress: BackupRequest["onProgress"],
): Promise<Copied> {
  const { disk } = source;
  const logs = await findAll(source);
  await disk.makeFolder(made);
  let bytes = 0;
  let conversations = 0;
  for (const [done, one] of logs.entries()) {
    onProgress?.(done, logs.length);
    const folder = join(made, nameOf(one.space));
    if ((await disk.stat(folder)) === null) await disk.makeFolder(folder);
    const log = await sizeUp(source, one);
    if (log.listed) conversations++;
    bytes += await copyConversation(source, one, log, folder);
  }
  for (const folder of await disk.list(made)) await disk.syncFolder(join(made, folder));
  await disk.syncFolder(made);
  onProgress?.(logs.length, logs.length);
  return { bytes, conversations };
}

async function findAll({ disk, dir }: BackupSource): Promise<readonly SourceLog[]> {
  const logs: SourceLog[] = [];
  for (const folder of await disk.list(dir)) {
    const space = spaceIn(folder);
    if (space === null) continue;
    for (const file of await disk.list(join(dir, folder))) {
      const conversation = conversationIn(file);
      if (conversation !== null) logs.push({ space, conversation });
    }
  }
  return logs;
}

interface Log {
  readonly identity: string;
  readonly length: number;
  readonly listed: boolean;
}

/** A sound log up to its last whole batch; a damaged one as it is, since what can be made of it is not for a backup to decide. */
async function sizeUp(source: BackupSource, { space, conversation }: SourceLog): Promise<Log> {
  try {
    const log = await source.open(space, conversation);
    if (log === null) throw new Vanished();
    const { identity, end, seenSize } = log.file;
    return { identity, length: log.damage === null ? end : seenSize, listed: !log.erased };
  } catch (error) {
    if (!isLogError(error) || error.group !== "damaged") throw error;
  }
  const stat = await source.disk.stat(join(source.dir, nameOf(space), logName(conversation)));
  if (stat === null) throw new Vanished();
  return { identity: stat.identity, length: stat.size, listed: true };
}

async function copyConversation(
  { disk, dir }: BackupSource,
  { space, conversation }: SourceLog,
  log: Log,
  folder: string,
): Promise<number> {
  const from = join(dir, nameOf(space));
  const file = logName(conversation);
  let bytes = await copyFile(disk, join(from, file), join(folder, file), log);
  const blobs = blobsName(conversation);
  const digests = (await disk.list(join(from, blobs))).filter((name) => digestIn(name) !== null);
  if (digests.length > 0) await disk.makeFolder(join(folder, blobs));
  for (const blob of digests)
    bytes += await copyFile(disk, join(from, blobs, blob), join(folder, blobs, blob), null);
  if (digests.length > 0) await disk.syncFolder(join(folder, blobs));
  return bytes;
}

async function copyFile(
  disk: Disk,
  from: string,
  to: string,
  earlier: Pick<Log, "identity" | "length"> | null,
): Promise<number> {
  if ((await disk.stat(from)) === null) throw new Vanished();
  await using source = await disk.open(from, "read");
  const { identity, size } = await source.stat();
  const length = earlier?.length ?? size;
  if (earlier !== null && earlier.identity !== identity) throw new Vanished();
  await using target = await disk.open(to, "create");
  for (let offset = 0; offset < length; offset += CHUNK_BYTES) {
    const bytes = await source.read(offset, Math.min(CHUNK_BYTES, length - offset));
    await target.write(bytes, offset);
  }
  await target.sync();
  // An erase writes zeros over a file that has lost its name.
  if ((await disk.stat(from))?.identity !== identity) throw new Vanished();
  return length;
}

async function clear(disk: Disk, folder: string): Promise<void> {
  for (const name of await disk.list(folder)) {
    const path = join(folder, name);
    // A path that cannot be removed as a file is a folder.
    await disk.remove(path).catch(() => clear(disk, path));
  }
  await disk.removeFolder(folder);
}
