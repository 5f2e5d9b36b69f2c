import { join } from "node:path";
import type { StoredEntry } from "#log/entry";
import { idTaken } from "#log/plans/plan-start";
import { LogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import { digestIn } from "./blob-files.ts";
import { type Disk, onDisk } from "./disk/disk.ts";
import { nodeDisk } from "./disk/node-disk.ts";
import { blobsPath, type LogLocation, logPath } from "./log-location.ts";
import { JsonlLogs } from "./jsonl-logs.ts";
import { nameOf } from "./file-names.ts";
import { createWhole, readWhole, writeWhole } from "./disk/whole-file.ts";

export interface SalvageRequest {
  readonly dir: string;
  readonly space: SpaceId;
  readonly conversation: ConversationId;
  /** The id of the new conversation that gets what can be read. */
  readonly as: ConversationId;
  readonly disk?: Disk;
}

export interface Salvaged {
  /** The last entry that could be read, and was copied. */
  readonly reachableSeq: number;
  /** Where the copy ends in the damaged file. */
  readonly position: number;
  /** How many bytes lie behind that, in the damaged file alone. */
  readonly leftBytes: number;
}

/** Copies what can be read of a damaged conversation, word for word, into a new one; the damaged file stays as it is. */
export async function salvage(request: SalvageRequest): Promise<Salvaged> {
  const { dir, space, conversation, as, disk = nodeDisk } = request;
  await using logs = new JsonlLogs({ dir, disk, readOnly: true, nowMs: () => 0, lockWaitMs: 0 });
  const log = await logs.open(space, conversation);
  if (log === null || log.erased)
    throw new LogError("conversation_not_found", `There is no conversation ${conversation} here`, {
      conversation,
    });
  if (log.file.end === 0)
    throw new LogError("damaged", `Nothing of conversation ${conversation} can be read`, {
      conversation,
      position: 0,
      reachableSeq: 0,
    });
  const folder = join(dir, nameOf(space));
  const from = { disk, folder, conversation };
  const to = { disk, folder, conversation: as };
  return await onDisk(`salvaging conversation ${conversation}`, async () => {
    await using file = await disk.open(logPath(from), "read");
    if (!(await createWhole(to, logPath(to), await file.read(0, log.file.end)))) throw idTaken(as);
    await copyBlobs(from, to);
    const leftBytes = (await file.stat()).size - log.file.end;
    return { reachableSeq: log.index.head.headSeq, position: log.file.end, leftBytes };
  });
}

/** The entries before the damage, in order; the file is only read. */
export async function readableEntries(request: Omit<SalvageRequest, "as">): Promise<readonly StoredEntry[]> {
  const { dir, space, conversation, disk = nodeDisk } = request;
  await using logs = new JsonlLogs({ dir, disk, readOnly: true, nowMs: () => 0, lockWaitMs: 0 });
  const log = await logs.open(space, conversation);
  if (log === null || log.erased) return [];
  return log.fetch(Array.from({ length: log.index.head.headSeq }, (_, at) => at + 1));
}

type Place = Pick<LogLocation, "disk" | "folder" | "conversation">;

async function copyBlobs(from: Place, to: Place): Promise<void> {
  const files = (await from.disk.list(blobsPath(from))).filter((file) => digestIn(file) !== null);
  if (files.length === 0) return;
  await to.disk.makeFolder(blobsPath(to));
  await to.disk.syncFolder(to.folder);
  for (const file of files) {
    const bytes = await readWhole(from.disk, join(blobsPath(from), file));
    if (bytes !== null) await writeWhole(to, join(blobsPath(to), file), bytes);
  }
}
