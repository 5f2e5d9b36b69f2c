import type { Author, StampedDraft } from "#log/batch";
import type { EntryType, SettingType, StoredEntry } from "#log/entry";
import type { Run } from "#log/runs/run-row";
import type { Summary } from "#log/summary";
import type { ConversationId, EntryId } from "#log/ids";
import type { Head, LeaseView, Place } from "#log/lineage/head";
import type { Durability } from "#log/plans/durability";
import { LogError } from "#log/errors";

/** The connections of a store: how many it has, how many of them are in use, who waits for one, and how many it may have. */
export interface ConnectionCounts {
  readonly open: number;
  readonly inUse: number;
  readonly waiting: number;
  readonly most: number | null;
}

/** How a store is doing. */
export interface StoreHealth {
  /** False: it does not answer now, and `problem` says why. */
  readonly reachable: boolean;
  readonly problem: string | null;
  /** A standby cannot be written to. */
  readonly role?: "primary" | "standby";
  readonly server?: string;
  readonly schemaVersion?: number;
  /** By how much the store's clock is ahead of this machine's. Leases run by the store's, so that it harms nothing. */
  readonly clockAheadMs?: number;
  /** For how long somebody has had a transaction open and idle: whoever writes to the same rows waits for it. */
  readonly idleTransactionMs?: number;
  readonly connections?: ConnectionCounts;
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
  /** Who takes the lease again that was let go of; unless named, it stays whose it is. */
  readonly writer?: string;
}

export interface HeadView extends Head {
  readonly lease: LeaseView | null;
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

/** The latest node of each asked type on a path. */
export type SettingsFound = ReadonlyMap<SettingType, StoredEntry & { readonly place: Place }>;

export interface WindowRequest {
  readonly conversation: ConversationId;
  /** Where to start: a node's place, or the leaf when absent. */
  readonly from?: Place;
  /** Of the page; 0 when only the head and the settings are wanted. */
  readonly limit: number;
  /** The settings that are wanted. */
  readonly settings: readonly SettingType[];
}

/** What a reader starts from, all of it as it was at one moment. */
export interface StoreWindow {
  readonly head: HeadView;
  readonly page: Page;
  /** The latest node of each asked type on the path that ends where the page starts. */
  readonly settings: SettingsFound;
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
  /** Stops before the entry whose payload would make it more than this in all. The first one always comes. */
  readonly bytes?: number;
  readonly types?: readonly EntryType[];
  readonly newestFirst?: boolean;
  /** The caller reads on to the end: a store that would keep the thread busy answers from another. */
  readonly scan?: boolean;
}

export interface BatchEndsRequest {
  readonly conversation: ConversationId;
  /** Batches that end after this seq. */
  readonly after: number;
  readonly limit: number;
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
  /** Only forks of this conversation, made of it and not of another fork of it. */
  readonly forkOf?: ConversationId;
  /** True: only those that say of themselves that lists are to leave them out, which otherwise they do. */
  readonly unlisted?: boolean;
}

/** A conversation as a list shows it; made without reading a body. Most recently changed first. */
export interface ConversationRow {
  readonly conversation: ConversationId;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly headSeq: number;
  readonly leaf: EntryId;
  readonly origin: { readonly conversation: ConversationId; readonly entry: EntryId } | null;
  /** What appends kept of its entries; null where it was not counted: in a log that was last written before they did. */
  readonly summary: Summary | null;
  /** Set when the conversation cannot be read whole; it is listed all the same. */
  readonly damage: string | null;
}

export interface RunsRequest {
  readonly limit: number;
  /** The cursor the last page ended with, asked for in the same way. */
  readonly after?: string;
  /** The id of a run; several conversations may have one, where one of them was imported from the other. */
  readonly run?: string;
  readonly conversation?: ConversationId;
  readonly mailbox?: string;
  /** The type of what began it. */
  readonly trigger?: string;
  /** Begun at this time or later, and before that one. */
  readonly since?: string;
  readonly until?: string;
  readonly newestFirst?: boolean;
}

/** Runs of a space by the time they began, those of one conversation in the order of its log. */
export interface RunPage {
  readonly runs: readonly Run[];
  readonly next: string | null;
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
  /** In a note on a log that was begun before there were links: the last entry that no link holds. */
  readonly unprovenSeq?: number;
}

export interface CheckRequest {
  /** Sets unfinished bytes aside and rebuilds derived state; never touches a whole record. */
  readonly repair: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}

export function backupTaken(to: string): LogError {
  return new LogError(
    "invalid_request",
    `${to} already exists, and a backup does not overwrite files. Choose another path.`,
    { to },
  );
}

/** The folder is not made: it may belong on a disk that is not mounted at the moment. */
export function noBackupFolder(folder: string): LogError {
  return new LogError("invalid_request", `Folder ${folder} does not exist. Create it before the backup.`, {
    folder,
  });
}
