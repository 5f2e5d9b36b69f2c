import { conversationNotFound } from "#store/lookup-errors";
import { join } from "node:path";
import { idTaken } from "#log/plans/plan-start";
import { LogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import { copyAll, copyRest, type SalvagedRest } from "#stores/indexed/copy-readable";
import { indexedStore } from "#stores/indexed/indexed-store";
import { digestIn } from "./blob-files.ts";
import { type Disk, onDisk } from "./disk/disk.ts";
import { LOCK_WAIT_MS } from "./disk/locks.ts";
import { nodeDisk } from "./disk/node-disk.ts";
import { blobsPath, type LogLocation, logPath, nameOf } from "./file-names.ts";
import type { JsonlLog } from "./jsonl-log.ts";
import { JsonlLogs } from "./jsonl-logs.ts";
import { createWhole, readWhole, writeWhole } from "./disk/whole-file.ts";

export interface SalvageRequest {
  readonly dir: string;
  readonly space: SpaceId;
  readonly conversation: ConversationId;
  /** The id of the new conversation that gets what can be read. */
  readonly as: ConversationId;
  readonly disk?: Disk;
}

export interface Salvaged extends SalvagedRest {
  /** The last entry before the first damage. */
  readonly reachableSeq: number;
  /** Where the first damage begins in the damaged file. */
  readonly position: number;
  /** How many bytes could not be read; they are in the damaged file alone. */
  readonly leftBytes: number;
}

/**
 * Copies what can be read of a damaged conversation, word for word, into a new one; the damaged file stays as it is. What
 * follows a damage is a branch of its own, which begins with an entry that says what is lost.
 */
export async function salvage(request: SalvageRequest): Promise<Salvaged> {
  const { dir, space, conversation, as, disk = nodeDisk } = request;
  await using logs = logsIn(dir, disk);
  const log = await readableLog(logs, request);
  const folder = join(dir, nameOf(space));
  const from = { disk, folder, conversation };
  const to = { disk, folder, conversation: as };
  const sizes = await onDisk(`salvaging conversation ${conversation}`, async () => {
    await using file = await disk.open(logPath(from), "read");
    if (!(await createWhole(to, logPath(to), await file.read(0, log.file.end)))) throw idTaken(as);
    await copyBlobs(from, to);
    return { position: log.file.end, leftBytes: (await file.stat()).size - log.file.end - log.restBytes };
  });
  // A lease on the damaged conversation does not hold its copy.
  const nowMs = (): number => Number.MAX_SAFE_INTEGER;
  await using copy = new JsonlLogs({ dir, disk, readOnly: false, nowMs, lockWaitMs: LOCK_WAIT_MS });
  const rest = await copyRest(indexedStore(copy, nowMs).space(space), as, log);
  return { reachableSeq: log.index.head.headSeq, ...sizes, ...rest };
}

/** The same into a store of its own, under the same id. */
export async function salvageInto(
  to: SpaceStore,
  request: Omit<SalvageRequest, "as">,
): Promise<SalvagedRest> {
  const { dir, conversation, disk = nodeDisk } = request;
  await using logs = logsIn(dir, disk);
  const log = await readableLog(logs, request);
  const rest = await copyAll(to, conversation, log);
  for (const digest of await log.blobs()) {
    const bytes = await log.getBlob(digest).catch(() => null);
    if (bytes !== null) await to.putBlob(conversation, bytes);
  }
  return rest;
}

function logsIn(dir: string, disk: Disk): JsonlLogs {
  return new JsonlLogs({ dir, disk, readOnly: true, nowMs: () => 0, lockWaitMs: 0 });
}

async function readableLog(
  logs: JsonlLogs,
  { space, conversation }: Pick<SalvageRequest, "space" | "conversation">,
): Promise<JsonlLog> {
  const log = await logs.open(space, conversation);
  if (log === null || log.erased) throw conversationNotFound(conversation);
  if (log.file.end === 0)
    throw new LogError("damaged", `The first entry of conversation ${conversation} cannot be read`, {
      conversation,
      position: 0,
      reachableSeq: 0,
    });
  return log;
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
