import type { StoredEntry } from "#log/entry";
import type { Lease } from "#log/lineage/head";
import type { ConversationId, Digest } from "#log/ids";
import type { LogIndex } from "#log/lineage/log-index";
import { withinBytes } from "#store/within-bytes";
import type { Commit, IndexedLog, KeptBatchEnd, SeenAppend } from "#stores/indexed/indexed-log";

/** One conversation in memory. */
export class InMemoryLog implements IndexedLog {
  readonly conversation: ConversationId;
  readonly index: LogIndex;
  readonly rows: Map<number, StoredEntry> = new Map();
  readonly batchEnds: Map<number, KeptBatchEnd> = new Map();
  readonly keys: Map<string, SeenAppend> = new Map();
  readonly bytes: Map<Digest, Uint8Array> = new Map();
  erased: boolean = false;
  lease: Lease | null = null;
  /** Told after every change; each handle with a tail on it adds one. */
  readonly listeners: Set<() => void> = new Set();

  constructor(conversation: ConversationId, index: LogIndex) {
    this.conversation = conversation;
    this.index = index;
  }

  seen(key: string): SeenAppend | null {
    return this.keys.get(key) ?? null;
  }

  async write(commit: Commit): Promise<void> {
    for (const stored of commit.entries) this.rows.set(stored.seq, stored);
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
    const found = seqs.flatMap((seq) => this.rows.get(seq) ?? []);
    return withinBytes(found, bytes);
  }

  async ends(): Promise<ReadonlyMap<number, KeptBatchEnd>> {
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
