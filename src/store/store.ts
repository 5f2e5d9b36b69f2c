import type { Appended, AppendResult, Author, StampedDraft } from "#log/batch";
import type { Durability } from "#log/plans/durability";
import type { EntryType, StoredEntry, SettingType } from "#log/entry";
import type { Head, Lease, Place } from "#log/lineage/head";
import type { ConversationId, Digest, EntryId, SpaceId } from "#log/ids";

/**
 * The port every store implements. A store carries out what the rules in src/log decide and holds none of its own;
 * `holdfast/contract` says, as runnable cases, what each verb promises.
 */
export interface Store extends AsyncDisposable {
  /** A handle that sees one space and nothing else. */
  space(id: SpaceId): SpaceStore;
  /** Every space with at least one conversation. */
  spaces(): Promise<readonly SpaceId[]>;
  /**
   * Copies the whole store, every space of it, while it is in use: what was acknowledged before is in the copy, which
   * opens like any store. It appears whole or not at all, and replaces nothing. Stores that keep nothing have none.
   */
  backup?(request: BackupRequest): Promise<Backup>;
  /** Finishes what was accepted, then lets go of every file, thread and timer. */
  close(): Promise<void>;
}

export interface BackupRequest {
  /** A name nobody has: a file for a store that is a file, else a folder. */
  readonly to: string;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Backup {
  /** Where the copy is. */
  readonly to: string;
  readonly bytes: number;
  readonly conversations: number;
}

export interface CreateRequest {
  readonly conversation: ConversationId;
  /** Starts with a `conversation` entry. */
  readonly drafts: readonly StampedDraft[];
  readonly digest: string;
  readonly key: string | null;
}

export interface ForkRequest {
  readonly source: ConversationId;
  /** The node the fork grows from; the source's leaf when absent. */
  readonly entry?: EntryId;
  readonly conversation: ConversationId;
  readonly cwd?: string;
  readonly time: string;
  readonly id: EntryId;
  readonly key: string | null;
}

export interface AppendRequest {
  readonly conversation: ConversationId;
  readonly author: Author;
  readonly key: string | null;
  readonly digest: string;
  readonly drafts: readonly StampedDraft[];
  readonly durability: Durability;
}

export interface AcquireRequest {
  readonly conversation: ConversationId;
  readonly writer: string;
  /** 0 takes the epoch without a lease. */
  readonly leaseMs: number;
}

export interface RenewRequest {
  readonly conversation: ConversationId;
  readonly epoch: number;
  /** 0 lets the lease go. */
  readonly leaseMs: number;
}

export interface HeadView extends Head {
  readonly lease: Lease | null;
}

export interface PageRequest {
  readonly conversation: ConversationId;
  /** Where to start: a node's place, or the leaf when absent. */
  readonly from?: Place;
  /** Starts at the node of this depth on that branch instead; at its end when it is not that long. */
  readonly depth?: number;
  readonly limit: number;
  /** The caller reads on to the root: a store that would keep the thread busy answers from another. */
  readonly scan?: boolean;
}

/** A stretch of a branch, newest first. */
export interface Page {
  readonly entries: readonly StoredEntry[];
  /** The ids among `entries` that are hidden for this conversation. */
  readonly hidden: ReadonlySet<EntryId>;
  /** Where the next, older page starts; null at the root. */
  readonly next: Place | null;
}

export interface ReadRequest {
  readonly conversation: ConversationId;
  /** Entries after this seq (before it, when newest first). */
  readonly after?: number;
  /** None beyond this seq, which counts: bounds what is looked through for types that are rare there. */
  readonly until?: number;
  readonly limit: number;
  readonly types?: readonly EntryType[];
  readonly newestFirst?: boolean;
  /** The caller reads on to the end: a store that would keep the thread busy answers from another. */
  readonly scan?: boolean;
}

export interface IdsRequest {
  readonly conversation: ConversationId;
  readonly prefix: string;
  /** Every node's id is looked at for its end, though nothing else of the log. */
  readonly suffix?: string;
  readonly limit: number;
}

export interface LabelRequest {
  readonly conversation: ConversationId;
  readonly label: string;
  /** Of facts that give this label. */
  readonly limit: number;
}

export interface ListRequest {
  readonly limit: number;
  /** The cursor the last page ended with. */
  readonly after?: string;
  /** Only conversations whose id starts with this. */
  readonly prefix?: string;
}

/** A conversation as a list shows it; made without reading a body. Most recently changed first. */
export interface Listed {
  readonly conversation: ConversationId;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly headSeq: number;
  readonly leaf: EntryId;
  readonly origin: { readonly conversation: ConversationId; readonly entry: EntryId } | null;
  /** Set when the conversation cannot be read whole; it is listed all the same. */
  readonly damage: string | null;
}

export interface SearchRequest {
  /** Every word must occur in the entry's text; case and accents do not matter. */
  readonly query: string;
  readonly limit: number;
  readonly conversation?: ConversationId;
}

export interface SearchHit {
  readonly conversation: ConversationId;
  readonly entry: EntryId;
  readonly seq: number;
  readonly text: string;
}

export interface TailRequest {
  readonly conversation: ConversationId;
  readonly after: number;
  readonly signal?: AbortSignal;
}

/** Something a check found, with its position. */
export interface Finding {
  readonly conversation: string | null;
  readonly severity: "damage" | "torn" | "note";
  readonly message: string;
  /** File-relative byte position, where the store has one. */
  readonly position: number | null;
  /** What can still be read: the last seq before the damage. */
  readonly reachableSeq: number | null;
  readonly repaired: boolean;
}

export interface CheckRequest {
  /** Sets unfinished bytes aside and rebuilds derived state; never touches a whole record. */
  readonly repair: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * A space of a store. Verbs that name a conversation this space does not have fail with
 * `conversation_not_found`, whether or not another space has it.
 */
export interface SpaceStore {
  create(request: CreateRequest): Promise<AppendResult>;
  fork(request: ForkRequest): Promise<HeadView & { readonly deduped: boolean }>;
  append(request: AppendRequest): Promise<AppendResult>;
  /** The append made under this key, so that the work it protects need not be done again. */
  findAppend(
    conversation: ConversationId,
    key: string,
  ): Promise<(Appended & { readonly digest: string }) | null>;
  acquire(request: AcquireRequest): Promise<HeadView>;
  renew(request: RenewRequest): Promise<HeadView>;
  head(conversation: ConversationId): Promise<HeadView>;
  /** One visible entry, own or inherited, with its place if it is a node. */
  entry(conversation: ConversationId, id: EntryId): Promise<StoredEntry & { readonly place: Place | null }>;
  /** The nodes, own and inherited, whose id starts and ends so. */
  ids(request: IdsRequest): Promise<readonly EntryId[]>;
  /**
   * The label facts, own and inherited and in their order, about every node that was ever given this label: all that it
   * takes to say which carry it. Null where there are more than `limit` or the store cannot tell: then read the labels.
   */
  labelled(request: LabelRequest): Promise<readonly StoredEntry[] | null>;
  page(request: PageRequest): Promise<Page>;
  /** The latest node of each asked type on the path that ends at `from` (the leaf when absent). */
  latest(request: {
    conversation: ConversationId;
    from?: Place;
    types: readonly SettingType[];
  }): Promise<ReadonlyMap<SettingType, StoredEntry & { readonly place: Place }>>;
  /** The conversation's own entries in order of seq. */
  read(request: ReadRequest): Promise<readonly StoredEntry[]>;
  /**
   * Own entries after a seq as they become durable, from any process, until the signal or the store's end. Resumable by
   * seq. It keeps the process alive while the next entry is waited for.
   */
  tail(request: TailRequest): AsyncIterable<StoredEntry>;
  list(
    request: ListRequest,
  ): Promise<{ readonly conversations: readonly Listed[]; readonly next: string | null }>;
  /** Newest first: by time, and within one conversation, when only that is searched, by seq. */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
  putBlob(conversation: ConversationId, bytes: Uint8Array): Promise<Digest>;
  getBlob(conversation: ConversationId, digest: Digest): Promise<Uint8Array>;
  /** Removes a conversation for good. What living forks inherited stays, unlisted, until the last of them goes. */
  erase(conversation: ConversationId): Promise<void>;
  check(request: CheckRequest): Promise<readonly Finding[]>;
}
