import type { Appended } from "#log/batch";
import type { BatchEnd } from "#log/batch-links";
import type { Durability } from "#log/plans/durability";
import type { StoredEntry } from "#log/entry";
import type { LogError } from "#log/errors";
import type { ForkPoint, Head, Lease } from "#log/lineage/head";
import type { ConversationId, Digest, SpaceId } from "#log/ids";
import type { LogIndex } from "#log/lineage/log-index";
import type { ReadablePart } from "./readable-parts.ts";
import type { Backup, BackupRequest, CheckRequest, Finding, ConversationRow } from "#store/requests";

export interface KeyRecord extends Appended {
  readonly digest: string;
}

/** One batch as it goes to the disk: all of it or nothing. */
export interface Commit {
  readonly entries: readonly StoredEntry[];
  readonly byOwner: boolean;
  readonly epoch: number;
  readonly key: string | null;
  readonly digest: string;
  readonly durability: Durability;
  /** The lease from then on; absent: as before. */
  readonly lease?: Lease | null;
  /** What the conversation is once the batch is in it: stores that list without an index write it down. */
  readonly head: Head;
}

export interface BatchEndRecord extends BatchEnd {
  /** The byte of its file at which the batch begins; null where there is none. */
  readonly position: number | null;
}

/** The rest of an erased conversation, for the forks that need it. */
export interface ForkRemainder {
  readonly entries: readonly StoredEntry[];
  /** Where it was forked from itself, as its first entry now says. */
  readonly origin: ForkPoint | null;
  readonly blobs: ReadonlySet<Digest>;
}

export type LogRow = ConversationRow & {
  readonly erased: boolean;
  /** Even its first entry is unreadable, so its source is unknown. */
  readonly unread?: boolean;
};

/** One conversation where it is kept: its index, and the ways to write and read what the index points at. */
export interface IndexedLog {
  readonly conversation: ConversationId;
  readonly index: LogIndex;
  readonly lease: Lease | null;
  /** Erased, and kept only for the forks that still stand on it. */
  readonly erased: boolean;
  /** Set when the log cannot be read whole; the index then ends before the damage. */
  readonly damage?: LogError | null;
  /** What can be read after the damage, by its numbers alone. */
  readonly rest?: readonly ReadablePart[];
  /**
   * The very log of the source that the index was resolved against, where reopening the source could give
   * another numbering of its segments (an erased one is renumbered).
   */
  readonly source?: IndexedLog | null;
  seen(key: string): KeyRecord | null;
  /** Durable when it resolves; when it fails nothing of the batch is visible, now or after a restart. */
  write(commit: Commit): Promise<void>;
  /** Records a new epoch or lease. */
  writeOwner(epoch: number, lease: Lease | null): Promise<void>;
  /** The stored entries with these seqs, in the order asked, as many as so many bytes hold; one at least. */
  fetch(seqs: readonly number[], bytes?: number): Promise<readonly StoredEntry[]>;
  /** How each batch ended, by the seq of its last entry, in order. */
  ends(): Promise<ReadonlyMap<number, BatchEndRecord>>;
  putBlob(digest: Digest, bytes: Uint8Array): Promise<void>;
  getBlob(digest: Digest): Promise<Uint8Array | null>;
  /** The digests of the blobs kept with it. */
  blobs(): Promise<readonly Digest[]>;
}

/**
 * What a store that keeps each conversation by itself has to bring; `indexedStore` makes the whole port of it.
 * Verbs see the index as it is after `open`, so `open` also takes in what other processes wrote.
 */
export interface IndexedLogs {
  spaces(): Promise<readonly SpaceId[]>;
  /** Null when there is none. */
  open(space: SpaceId, conversation: ConversationId): Promise<IndexedLog | null>;
  /** An empty log with the first batch already on it; `conversation_exists` when another process was faster. */
  create(space: SpaceId, conversation: ConversationId, first: Commit, index: LogIndex): Promise<void>;
  /** Keeps every other writer, in this process and others, away from the conversation while `work` runs. */
  locked<T>(space: SpaceId, conversation: ConversationId, work: () => Promise<T>): Promise<T>;
  /** Every conversation whose id starts with the prefix, erased ones too, without reading a body. */
  list(space: SpaceId, prefix?: string): Promise<readonly LogRow[]>;
  /** One of them as it is now; null when it is gone. */
  listOne(space: SpaceId, conversation: ConversationId): Promise<LogRow | null>;
  /** Replaces a conversation by what forks still need of it, or by nothing. */
  trim(space: SpaceId, conversation: ConversationId, forkRemainder: ForkRemainder | null): Promise<void>;
  /**
   * Resolves when the conversation is no longer as this log had it at `seq`, at the signal, or when the store is
   * closed. It keeps the process alive meanwhile.
   */
  changed(space: SpaceId, log: IndexedLog, seq: number, signal: AbortSignal | undefined): Promise<void>;
  readonly closed: boolean;
  check(space: SpaceId, request: CheckRequest): Promise<readonly Finding[]>;
  backup?(request: BackupRequest): Promise<Backup>;
  close(): Promise<void>;
}
