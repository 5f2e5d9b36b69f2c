import type { Appended, AppendResult } from "#log/batch";
import type { BatchEndAt } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import type { ConversationId, Digest, EntryId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import type { ForkRequest } from "#log/plans/plan-start";
import type {
  AcquireRequest,
  AppendRequest,
  BatchEndsRequest,
  CheckRequest,
  CreateRequest,
  Finding,
  HeadView,
  IdsRequest,
  LabelRequest,
  ConversationRow,
  ListRequest,
  Page,
  PageRequest,
  ReadRequest,
  RenewRequest,
  RunPage,
  RunsRequest,
  SearchHit,
  SearchRequest,
  StoreWindow,
  TailRequest,
  WindowRequest,
} from "./requests.ts";

/** Logs: what no store can do without. */
export interface LogStore {
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
  /** Head, page and settings of one moment: an append is in all of them or in none. */
  window(request: WindowRequest): Promise<StoreWindow>;
  page(request: PageRequest): Promise<Page>;
  /** The conversation's own entries in order of seq. */
  read(request: ReadRequest): Promise<readonly StoredEntry[]>;
  /** Where its own batches ended and with which links, in order of seq; those of before there were links are not among them. */
  batchEnds(request: BatchEndsRequest): Promise<readonly BatchEndAt[]>;
  list(
    request: ListRequest,
  ): Promise<{ readonly conversations: readonly ConversationRow[]; readonly next: string | null }>;
}

/** Nodes by what people call them. */
interface Names {
  /** The nodes, own and inherited, whose id starts and ends so. */
  ids(request: IdsRequest): Promise<readonly EntryId[]>;
  /**
   * The label facts, own and inherited and in their order, about every node that was ever given this label: all that it
   * takes to say which carry it. Null where there are more than `limit` or the store cannot tell: then read the labels.
   */
  labelled(request: LabelRequest): Promise<readonly StoredEntry[] | null>;
}

/** Entries as they come. */
export interface Tail {
  /**
   * Own entries after a seq as they become durable, from any process, until the signal or the store's end. Resumable by
   * seq. It keeps the process alive while the next entry is waited for.
   */
  tail(request: TailRequest): AsyncIterable<StoredEntry>;
}

/** Runs as rows, kept by the append. */
interface Runs {
  /** Oldest first; each run once, with its counts so far. */
  runs(request: RunsRequest): Promise<RunPage>;
}

interface Search {
  /** Newest first: by time, and within one conversation, when only that is searched, by seq. */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
}

/** Bytes that entries name by their digest. */
interface Blobs {
  putBlob(conversation: ConversationId, bytes: Uint8Array): Promise<Digest>;
  getBlob(conversation: ConversationId, digest: Digest): Promise<Uint8Array>;
}

interface Erase {
  /** Removes a conversation for good. What living forks inherited stays, unlisted, until the last of them goes. */
  erase(conversation: ConversationId): Promise<void>;
}

interface Check {
  check(request: CheckRequest): Promise<readonly Finding[]>;
}

/** The optional parts of a store; the log is required. */
interface Facets {
  readonly log: LogStore;
  readonly names: Names;
  readonly tail: Tail;
  readonly runs: Runs;
  readonly search: Search;
  readonly blobs: Blobs;
  readonly erase: Erase;
  readonly check: Check;
}

export type Facet = keyof Facets;

/**
 * A space of a store, whole. Verbs that name a conversation this space does not have fail with
 * `conversation_not_found`, whether or not another space has it.
 */
export interface SpaceStore extends LogStore, Names, Tail, Runs, Search, Blobs, Erase, Check {}

export type Verb = keyof SpaceStore;

type FacetOfVerb = { readonly [V in Verb]: { [F in Facet]: V extends keyof Facets[F] ? F : never }[Facet] };

/** Every verb, by the facet it belongs to. */
export const FACET_OF: FacetOfVerb = {
  create: "log",
  fork: "log",
  append: "log",
  findAppend: "log",
  acquire: "log",
  renew: "log",
  head: "log",
  entry: "log",
  window: "log",
  page: "log",
  read: "log",
  batchEnds: "log",
  list: "log",
  ids: "names",
  labelled: "names",
  tail: "tail",
  runs: "runs",
  search: "search",
  putBlob: "blobs",
  getBlob: "blobs",
  erase: "erase",
  check: "check",
};

export const VERBS: readonly Verb[] = Object.keys(FACET_OF) as Verb[];

export const ALL_FACETS: readonly Facet[] = [...new Set(Object.values(FACET_OF))];
