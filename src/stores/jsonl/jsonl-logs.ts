import { dirname, join } from "node:path";
import { idTaken } from "#log/plans/plan-start";
import { LogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import type { Commit, ForkRemainder, LogRow, IndexedLogs } from "#stores/indexed/indexed-log";
import type { Backup, BackupRequest, CheckRequest, Finding } from "#store/requests";
import { backUp } from "./copy-logs.ts";
import { checkAbandoned, checkLog } from "./check.ts";
import { type Disk, onDisk } from "./disk/disk.ts";
import { encodeBatch } from "./file/framing.ts";
import {
  type LogLocation,
  logPath,
  blobsPath,
  conversationIn,
  lockName,
  nameOf,
  spaceIn,
  isLeftover,
} from "./file-names.ts";
import type { JsonlLog } from "./jsonl-log.ts";
import { Listings } from "./file-listing.ts";
import { Locks } from "./disk/locks.ts";
import { OpenLogs } from "./open-logs.ts";
import { Watch } from "./disk/watch-files.ts";
import { createWhole, destroy, replaceAndBlank, writeTempFile } from "./disk/whole-file.ts";
import { relink } from "#log/batch-links";
import { sha256 } from "#store/sha256";
import { digestIn } from "./blob-files.ts";

const LISTED_AT_ONCE = 16; // keeps the disk busy without holding many files open

export interface JsonlLogsOptions {
  readonly dir: string;
  readonly disk: Disk;
  readonly readOnly: boolean;
  readonly nowMs: () => number;
  readonly lockWaitMs: number;
  /** How much of indexes is kept in memory. */
  readonly indexBytesMax?: number;
}

/** Conversations as files in a folder per space. */
export class JsonlLogs implements IndexedLogs, AsyncDisposable {
  readonly #options: JsonlLogsOptions;
  readonly #locks: Locks;
  readonly #watch: Watch;
  readonly #open: OpenLogs;
  readonly #listings = new Listings();

  constructor(options: JsonlLogsOptions) {
    this.#options = options;
    this.#locks = new Locks(options.disk, options.lockWaitMs);
    this.#watch = new Watch(options.disk);
    this.#open = new OpenLogs(options.indexBytesMax);
  }

  #location(space: SpaceId, conversation: ConversationId): LogLocation {
    const folder = join(this.#options.dir, nameOf(space));
    const path = logPath({ folder, conversation });
    return {
      disk: this.#options.disk,
      folder,
      conversation,
      holdsLock: () => this.#locks.holds(path),
      wake: () => void setImmediate(() => this.#onWritten(path)),
    };
  }

  #onWritten(path: string): void {
    this.#watch.wake(path);
    this.#open.weigh(path);
  }

  async spaces(): Promise<readonly SpaceId[]> {
    const spaces: SpaceId[] = [];
    const { disk, dir } = this.#options;
    for (const folder of await onDisk("listing", () => disk.list(dir))) {
      const space = spaceIn(folder);
      if (space !== null && (await this.#hasListed(space))) spaces.push(space);
    }
    return spaces;
  }

  async #hasListed(space: SpaceId): Promise<boolean> {
    for (const conversation of await this.#conversations(space, ""))
      if ((await this.listOne(space, conversation))?.erased === false) return true;
    return false;
  }

  async #conversations(space: SpaceId, prefix: string): Promise<readonly ConversationId[]> {
    const { folder } = this.#location(space, "");
    const files = await onDisk("listing", () => this.#options.disk.list(folder));
    return files.map(conversationIn).filter((id) => id !== null && id.startsWith(prefix)) as ConversationId[];
  }

  open(space: SpaceId, conversation: ConversationId): Promise<JsonlLog | null> {
    return onDisk(`opening conversation ${conversation}`, () =>
      this.#open.open(this.locationsOf(space), conversation),
    );
  }

  isInMemory(space: SpaceId, conversation: ConversationId): boolean {
    return this.#open.cached(logPath(this.#location(space, conversation))) !== undefined;
  }

  locationsOf(space: SpaceId): (conversation: ConversationId) => LogLocation {
    return (conversation) => this.#location(space, conversation);
  }

  create(space: SpaceId, conversation: ConversationId, first: Commit): Promise<void> {
    const location = this.#location(space, conversation);
    this.#checkWritable();
    return onDisk(`creating conversation ${conversation}`, async () => {
      const { disk, folder } = location;
      if ((await disk.stat(folder)) === null) {
        await disk.makeFolder(folder);
        await disk.syncFolder(this.#options.dir);
        await disk.syncFolder(dirname(this.#options.dir));
      }
      const { key, digest, epoch, head } = first;
      const commit = {
        from: 1,
        to: head.headSeq,
        by: "owner",
        epoch,
        key,
        digest,
        ...(head.link === null ? {} : { link: head.link }),
        synced: 0,
        prev: "",
      } as const;
      const { bytes } = encodeBatch(first.entries, commit, head);
      if (await createWhole(location, logPath(location), bytes)) return;
      throw idTaken(conversation);
    });
  }

  #checkWritable(): void {
    if (this.#options.readOnly) throw new LogError("read_only", "This store is open in read-only mode");
  }

  async locked<T>(space: SpaceId, conversation: ConversationId, work: () => Promise<T>): Promise<T> {
    const location = this.#location(space, conversation);
    this.#checkWritable();
    const path = logPath(location);
    // A missing log is created by one atomic link and needs no lock; asking for it leaves no file behind.
    const lockPath = async (): Promise<string | null> =>
      (await location.disk.stat(path)) === null ? null : join(location.folder, lockName(conversation));
    return this.#locks.run(path, lockPath, work);
  }

  async list(space: SpaceId, prefix: string = ""): Promise<readonly LogRow[]> {
    const all: LogRow[] = [];
    const conversations = await this.#conversations(space, prefix);
    for (let from = 0; from < conversations.length; from += LISTED_AT_ONCE) {
      const some = conversations.slice(from, from + LISTED_AT_ONCE);
      const listed = await Promise.all(some.map((conversation) => this.listOne(space, conversation)));
      for (const one of listed) if (one !== null) all.push(one);
    }
    return all;
  }

  listOne(space: SpaceId, conversation: ConversationId): Promise<LogRow | null> {
    const location = this.#location(space, conversation);
    const log = this.#open.cached(logPath(location));
    return this.#listings.of(location, log?.damage ?? null, () => this.open(space, conversation));
  }

  async trim(
    space: SpaceId,
    conversation: ConversationId,
    forkRemainder: ForkRemainder | null,
  ): Promise<void> {
    const location = this.#location(space, conversation);
    this.#checkWritable();
    const log = await this.open(space, conversation);
    if (log === null) return;
    await trimLog(location, log, forkRemainder);
    this.#open.forget(logPath(location));
    this.#listings.forget(logPath(location));
    location.wake();
  }

  async changed(space: SpaceId, log: JsonlLog, seq: number, signal: AbortSignal | undefined): Promise<void> {
    if (log.index.head.headSeq > seq) return;
    const version = { identity: log.file.identity, size: log.file.seenSize };
    await this.#watch.changed(logPath(this.#location(space, log.conversation)), version, signal);
  }

  get closed(): boolean {
    return this.#watch.closed;
  }

  check(space: SpaceId, request: CheckRequest): Promise<readonly Finding[]> {
    return onDisk("checking", () => this.#check(space, request));
  }

  async #check(space: SpaceId, request: CheckRequest): Promise<readonly Finding[]> {
    const { disk, nowMs } = this.#options;
    if (request.repair) this.#checkWritable();
    const { folder } = this.#location(space, "");
    const conversations = await this.#conversations(space, "");
    const findings: Finding[] = [];
    for (const [done, conversation] of conversations.entries()) {
      request.onProgress?.(done, conversations.length);
      this.#open.forget(logPath({ folder, conversation }));
      const problems = await checkLog(this.#location(space, conversation), (id) => this.open(space, id));
      for (const one of problems)
        findings.push(
          request.repair && one.severity === "torn" ? await this.#repair(space, conversation, one) : one,
        );
    }
    request.onProgress?.(conversations.length, conversations.length);
    return [...findings, ...(await checkAbandoned(disk, folder, { repair: request.repair, nowMs: nowMs() }))];
  }

  backup(request: BackupRequest): Promise<Backup> {
    const { disk, dir } = this.#options;
    const open = (space: SpaceId, id: ConversationId): Promise<JsonlLog | null> => this.open(space, id);
    return onDisk("making a backup", () => backUp({ disk, dir, open }, request));
  }

  /** Only under the lock is a torn tail surely not another writer's batch on its way. */
  #repair(space: SpaceId, conversation: ConversationId, finding: Finding): Promise<Finding> {
    return this.locked(space, conversation, async () => {
      const log = await this.open(space, conversation);
      if (log !== null && log.damage === null) await log.file.repair();
      return { ...finding, repaired: true };
    });
  }

  async close(): Promise<void> {
    this.#watch.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Removes a conversation's words from the disk, or all of them but what forks still stand on. The log
 * itself goes last: cut off before that, the conversation is still listed and can be erased again.
 */
function trimLog(location: LogLocation, log: JsonlLog, forkRemainder: ForkRemainder | null): Promise<void> {
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

/** The rest of a log, as a file: marked erased, so that no list shows it. */
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
