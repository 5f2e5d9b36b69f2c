import { LogError } from "#log/errors";
import type { SpaceId } from "#log/ids";
import { checkNumbers } from "#log/with-defaults";
import { ALL_FACETS, type Facet } from "#store/facets";
import { storePort } from "#store/port";
import type { Store, StoreDriver } from "#store/store";
import type { Backup, BackupRequest, CheckRequest, Finding } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { backUp } from "./sqlite-backup.ts";
import { runCheck } from "./run-check.ts";
import type { WriterOptions } from "./thread/messages.ts";
import { isBusy, storeClosed, toLogError } from "./sqlite-errors.ts";
import { createFile, readableFile } from "./files.ts";
import { type CommitListener, WriterLink } from "./thread/writer-link.ts";
import { ReadConnection } from "./read/read-connection.ts";
import { Growth, tailName } from "./read/growth.ts";
import { ReadThread } from "./read/thread.ts";
import { Watcher } from "./read/watcher.ts";
import { readVerbs, type Send, writeVerbs } from "./verbs.ts";

export interface SqliteStoreOptions {
  /** The file; it and its folder are made, readable by their owner only, if they are missing. */
  readonly path: string;
  /** Never writes anything, not even beside the file. */
  readonly readOnly?: boolean;
  /** How long a write waits for other processes before it is `busy`. */
  readonly busyMs?: number;
  /** The size the file may grow to; beyond it a write fails with `disk_full`. */
  readonly bytesMax?: number;
  readonly nowMs?: () => number;
}

const BUSY_MS = 5_000;
const PAUSE_MS_MAX = 20;

/** A store in one SQLite file, shared by any number of processes. */
export async function sqliteStore(options: SqliteStoreOptions): Promise<Store> {
  checkIsPath(options.path);
  checkNumbers(options, { busyMs: "limit", bytesMax: "count" });
  const until = performance.now() + (options.busyMs ?? BUSY_MS);
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await openStore(options);
    } catch (error) {
      // After a crash the first process to come reads the whole log, and lets nobody in meanwhile.
      if (!isBusy(error) || performance.now() + pauseMs > until) throw toLogError(error, options.path);
    }
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

/** What SQLite itself takes for no file would be a file of that name here, or another one in every connection. */
function checkIsPath(path: string): void {
  if (path !== ":memory:" && !path.startsWith("file:")) return;
  throw new LogError(
    "invalid_request",
    path === ":memory:"
      ? 'A SQLite store must be a file. For a store in memory use "memory:".'
      : `A SQLite store must be a file path, not a URL (got ${path})`,
    { path },
  );
}

async function openStore(options: SqliteStoreOptions): Promise<Store> {
  const { readOnly = false, busyMs = BUSY_MS, bytesMax = null } = options;
  const path = readOnly ? readableFile(options.path) : createFile(options.path);
  const reads = new ReadConnection(path, readOnly);
  try {
    const writer = readOnly ? null : { path, busyMs, bytesMax };
    const store = new SqliteStore({ path, writer, reads, nowMs: options.nowMs ?? Date.now });
    // Reading needs no thread, so none is started before the first write, unless the file has to be brought up to date.
    if (writer !== null && reads.isOutdated()) await store.link();
    return storePort(store);
  } catch (error) {
    reads.close();
    throw error;
  }
}

interface Parts {
  readonly path: string;
  /** Null when the file was opened for reading only. */
  readonly writer: WriterOptions | null;
  readonly reads: ReadConnection;
  readonly nowMs: () => number;
}

class SqliteStore implements StoreDriver {
  readonly facets: readonly Facet[] = ALL_FACETS;
  readonly #parts: Parts;
  readonly #thread: ReadThread;
  readonly #watcher: Watcher;
  readonly #onCommit: CommitListener;
  #link: Promise<WriterLink> | null = null;
  /** The link once it is there: a send then costs no turn of the event loop. */
  #ready: WriterLink | null = null;
  #closing: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#thread = new ReadThread({ path: parts.path, readOnly: parts.writer === null });
    this.#watcher = new Watcher(new Growth(parts.reads));
    this.#onCommit = (space, conversation) => this.#watcher.wake(tailName(space, conversation));
  }

  /** The writer's thread, started on the first call; one that could not start is tried again on the next. */
  async link(): Promise<WriterLink> {
    const { writer, path } = this.#parts;
    if (writer === null) throw new LogError("read_only", `${path} is open in read-only mode`, { path });
    this.#link ??= WriterLink.open(writer).then((link) => {
      link.onCommit(this.#onCommit);
      this.#ready = link;
      return link;
    });
    try {
      return await this.#link;
    } catch (error) {
      this.#link = null;
      throw error;
    }
  }

  space(space: SpaceId): SpaceStore {
    const { reads } = this.#parts;
    // Times are kept as whole numbers; a clock of one's own may have finer ones.
    const nowMs = (): number => Math.floor(this.#parts.nowMs());
    return {
      ...readVerbs({ space, reads, thread: this.#thread, watcher: this.#watcher, send: this.#send, nowMs }),
      ...writeVerbs({ space, send: this.#send, nowMs }),
      check: (request) => this.#check(space, request),
    };
  }

  readonly #send: Send = (command) => {
    if (this.#closing !== null) return Promise.reject(storeClosed(this.#parts.path));
    return this.#ready?.send(command) ?? this.link().then((link) => link.send(command));
  };

  async #check(space: SpaceId, request: CheckRequest): Promise<readonly Finding[]> {
    const findings = await runCheck(
      { path: this.#parts.path, readOnly: this.#parts.writer === null, space },
      request.onProgress,
    );
    // Only the search index is derived outside of transactions; a repair builds it again.
    if (request.repair) await this.#send({ kind: "reindex" });
    return findings;
  }

  async backup(request: BackupRequest): Promise<Backup> {
    const { path, writer, reads } = this.#parts;
    const bytes = await reads.read(({ sql }) => sql.pragma("page_count") * sql.pragma("page_size"));
    return backUp({ path, readOnly: writer === null, bytes }, request);
  }

  spaces(): Promise<readonly SpaceId[]> {
    return this.#parts.reads.read((reader) => reader.spaces());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watcher.close();
    // The readers go first, so that the writer, closing last, can fold the log into the file.
    this.#parts.reads.close();
    await this.#thread.close();
    const link = await this.#link?.catch(() => null);
    await link?.release(this.#onCommit);
  }
}
