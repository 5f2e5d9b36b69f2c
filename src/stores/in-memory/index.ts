import { indexedStore } from "#stores/indexed/indexed-store";
import type { Store } from "#store/store";
import type { ConversationId, Digest, SpaceId } from "#log/ids";
import type {
  Commit,
  IndexedLog,
  IndexedLogs,
  BatchEndRecord,
  ForkRemainder,
  LogRow,
  KeyRecord,
} from "#stores/indexed/indexed-log";
import { relink } from "#log/batch-links";
import { checkLinks, firstLinkStart } from "#stores/indexed/check-links";
import { sha256 } from "#store/sha256";
import type { Finding } from "#store/requests";
import { TailWaiters } from "#store/tail-feeds";
import type { StoredEntry } from "#log/entry";
import type { Lease } from "#log/lineage/head";
import type { LogIndex } from "#log/lineage/log-index";
import { withinBytes } from "#store/page-bounds";

interface InMemoryStoreOptions {
  /** Everything the store keeps; hand the same one to a new store to reopen it. */
  readonly backing?: InMemoryBacking;
  readonly nowMs?: () => number;
}

/** A store for tests and throw-away work: every promise but durability. */
export function inMemoryStore(options: InMemoryStoreOptions = {}): Store {
  return indexedStore(inMemoryLogs(options.backing ?? inMemoryBacking()), options.nowMs ?? Date.now);
}

/** What a memory store keeps; hand the same one to a new store to reopen it. */
interface InMemoryBacking {
  readonly spaces: Map<SpaceId, Map<ConversationId, InMemoryLog>>;
  /** The last writer in line per conversation: handles on one backing take turns. */
  readonly lines: Map<string, Promise<unknown>>;
}

export function inMemoryBacking(): InMemoryBacking {
  return { spaces: new Map(), lines: new Map() };
}

function inMemoryLogs(backing: InMemoryBacking): IndexedLogs {
  const waiters = new TailWaiters<null>();
  let tails = 0;
  const spaceOf = (space: SpaceId): Map<ConversationId, InMemoryLog> =>
    backing.spaces.get(space) ?? new Map<ConversationId, InMemoryLog>();
  return {
    spaces: async () =>
      [...backing.spaces]
        .filter(([, logs]) => [...logs.values()].some((log) => !log.erased))
        .map(([space]) => space),
    open: async (space, conversation) => spaceOf(space).get(conversation) ?? null,
    async create(space, conversation, first, index) {
      const log = new InMemoryLog(conversation, index);
      await log.write(first);
      const logs = spaceOf(space);
      logs.set(conversation, log);
      backing.spaces.set(space, logs);
    },
    async locked(space, conversation, work) {
      const name = `${space} ${conversation}`;
      const before = backing.lines.get(name) ?? Promise.resolve();
      const run = before.then(work, work);
      backing.lines.set(
        name,
        run.catch(() => undefined),
      );
      return run;
    },
    async list(space, prefix = "") {
      const all = [...spaceOf(space).values()];
      return all.filter((log) => log.conversation.startsWith(prefix)).map(listedOf);
    },
    async listOne(space, conversation) {
      const log = spaceOf(space).get(conversation);
      return log === undefined ? null : listedOf(log);
    },
    async trim(space, conversation, forkRemainder) {
      const log = spaceOf(space).get(conversation);
      if (log === undefined) return;
      if (forkRemainder === null) spaceOf(space).delete(conversation);
      else spaceOf(space).set(conversation, remainderLog(log, forkRemainder));
      log.wake();
    },
    async changed(space, seen, seq, signal) {
      const log = spaceOf(space).get(seen.conversation);
      if (log !== seen || log.index.head.headSeq > seq) return;
      const name = String(++tails);
      const wake = (): void => waiters.wake(name);
      log.listeners.add(wake);
      await waiters.wait(name, null, signal);
      log.listeners.delete(wake);
    },
    get closed() {
      return waiters.closed;
    },
    async check(space) {
      const findings: Finding[] = [];
      for (const log of spaceOf(space).values()) {
        const start = await firstLinkStart(log, async (source) => spaceOf(space).get(source) ?? null);
        findings.push(...(await checkLinks(log, start)));
      }
      return findings;
    },
    async close() {
      waiters.close();
    },
  };
}

function listedOf({ index: { head }, erased }: InMemoryLog): LogRow {
  return {
    conversation: head.conversation,
    title: head.title,
    cwd: head.cwd,
    createdAt: head.createdAt,
    updatedAt: head.updatedAt,
    headSeq: head.headSeq,
    leaf: head.leaf.id,
    origin: head.origin === null ? null : { conversation: head.origin.source, entry: head.origin.entry },
    summary: head.summary,
    damage: null,
    erased,
  };
}

/**
 * What forks still need of an erased conversation. The index is the same one: the forks' own indexes name places in it.
 */
function remainderLog(log: InMemoryLog, forkRemainder: ForkRemainder): InMemoryLog {
  const remainder = new InMemoryLog(log.conversation, log.index);
  remainder.erased = true;
  for (const row of forkRemainder.entries) remainder.rows.set(row.seq, row);
  remainder.index.trim(new Set(remainder.rows.keys()), forkRemainder.origin);
  for (const { entries, link } of relink(sha256, forkRemainder.entries)) {
    const last = entries.at(-1);
    if (last === undefined || link === null) continue;
    remainder.batchEnds.set(last.seq, { link, byOwner: true, position: null });
    remainder.index.setLinks({ link, ownerLink: link });
  }
  for (const [digest, bytes] of log.bytes)
    if (forkRemainder.blobs.has(digest)) remainder.bytes.set(digest, bytes);
  return remainder;
}

/** One conversation in memory. */
class InMemoryLog implements IndexedLog {
  readonly conversation: ConversationId;
  readonly index: LogIndex;
  readonly rows: Map<number, StoredEntry> = new Map();
  readonly batchEnds: Map<number, BatchEndRecord> = new Map();
  readonly keys: Map<string, KeyRecord> = new Map();
  readonly bytes: Map<Digest, Uint8Array> = new Map();
  erased: boolean = false;
  lease: Lease | null = null;
  /** Told after every change; each handle with a tail on it adds one. */
  readonly listeners: Set<() => void> = new Set();

  constructor(conversation: ConversationId, index: LogIndex) {
    this.conversation = conversation;
    this.index = index;
  }

  seen(key: string): KeyRecord | null {
    return this.keys.get(key) ?? null;
  }

  async write(commit: Commit): Promise<void> {
    for (const stored of commit.entries) this.rows.set(stored.seq, stored);
    if (commit.lease !== undefined) this.lease = commit.lease;
    const { link, headSeq } = commit.head;
    if (link !== null) this.batchEnds.set(headSeq, { link, byOwner: commit.byOwner, position: null });
    const first = commit.entries[0];
    const last = commit.entries.at(-1);
    if (commit.key !== null && first !== undefined && last !== undefined) {
      this.keys.set(commit.key, {
        fromSeq: first.seq,
        toSeq: last.seq,
        lastId: last.id,
        digest: commit.digest,
      });
    }
    queueMicrotask(() => this.wake());
  }

  async writeOwner(epoch: number, lease: Lease | null): Promise<void> {
    this.index.setEpoch(epoch);
    this.lease = lease;
  }

  async fetch(seqs: readonly number[], bytes?: number): Promise<readonly StoredEntry[]> {
    const rows = seqs.flatMap((seq) => this.rows.get(seq) ?? []);
    return withinBytes(rows, bytes);
  }

  async ends(): Promise<ReadonlyMap<number, BatchEndRecord>> {
    return this.batchEnds;
  }

  async putBlob(digest: Digest, bytes: Uint8Array): Promise<void> {
    this.bytes.set(digest, bytes.slice());
  }

  async getBlob(digest: Digest): Promise<Uint8Array | null> {
    return this.bytes.get(digest)?.slice() ?? null;
  }

  async blobs(): Promise<readonly Digest[]> {
    return [...this.bytes.keys()];
  }

  wake(): void {
    for (const listener of this.listeners) listener();
  }
}
