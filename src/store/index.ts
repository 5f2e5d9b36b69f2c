/** What it takes to write a store: the port, the rules it carries out, and what the rules are made of. */
export type {
  Blobs,
  Check,
  Erase,
  Facet,
  Facets,
  LogStore,
  Names,
  Runs,
  Search,
  SpaceStore,
  Tail,
  Verb,
} from "./facets.ts";
export { ALL_FACETS, FACET_OF, VERBS } from "./facets.ts";
export type { Store, StoreDriver } from "./store.ts";
export { storePort } from "./port.ts";
export { decorateStore, spaceOfVerbs, type AnyVerb, type Around, type Decoration } from "./decorate.ts";
export { observeStore, type StoreFailure, type StoreObserver, type WrittenBatch } from "./observe-store.ts";
export { sha256 } from "./sha256.ts";
export { TailFeeds, type TailPage, type TailSource } from "./tail-feeds.ts";
export { TailWaiters, type Look, type Waiter } from "./tail-waiters.ts";
export { withinBytes } from "./within-bytes.ts";
export { prepare, systemIdsAndTime, uuidv7Maker, type IdsAndTime, type Prepared } from "./prepare.ts";
export type {
  AcquireRequest,
  AppendRequest,
  Backup,
  BackupRequest,
  BatchEndsRequest,
  CheckRequest,
  ConnectionCounts,
  CreateRequest,
  Finding,
  HeadView,
  IdsRequest,
  LabelRequest,
  ListRequest,
  ConversationRow,
  Page,
  PageRequest,
  ReadRequest,
  RenewRequest,
  RunPage,
  RunsRequest,
  SearchHit,
  SearchRequest,
  SettingsFound,
  StoreHealth,
  StoreWindow,
  TailRequest,
  WindowRequest,
} from "./requests.ts";
export type {
  Appended,
  AppendResult,
  AppendState,
  Author,
  Batch,
  PlannedEntry,
  StampedDraft,
} from "#log/batch";
export {
  batchLink,
  type BatchEnd,
  type BatchEndAt,
  entryDigest,
  type BatchToLink,
  type Hash,
} from "#log/batch-links";
export { decodeEntry } from "#log/codec";
export type { Entry, EntryBody, EntryType, SettingType, StoredEntry } from "#log/entry";
export { searchText } from "#log/entry-types";
export { isLogError, LogError, type ErrorCode, type ErrorDetails, type ErrorGroup } from "#log/errors";
export {
  parseConversationId,
  parseDigest,
  parseEntryId,
  parseKey,
  parseSpaceId,
  type ConversationId,
  type Digest,
  type EntryId,
  type SpaceId,
} from "#log/ids";
export {
  emptyHead,
  type EntryToPlace,
  type ForkPoint,
  type Head,
  type EntryPosition,
  type Leaf,
  type Lease,
  type LeaseView,
  type Place,
  type Segment,
  type SettingPlaces,
  type Tip,
} from "#log/lineage/head";
export {
  currentPlace,
  findVisible,
  hiddenAmong,
  latestOnBranch,
  pageBack,
  placeAt,
  type HeldNode,
  type Lineage,
} from "#log/lineage/lineage";
export { LogIndex, type EntryToIndex, type IndexedEntry } from "#log/lineage/log-index";
export { tailReads, LOOKBACK_NODES, type TailRead } from "#log/plans/boundary";
export { durabilityOf, type Durability } from "#log/plans/durability";
export { changeHead, runChangesOf, type HeadChange } from "#log/plans/head-change";
export { indexLog, indexPlan, compactionTails, findPositions } from "#log/plans/index-lookups";
export { isHeld, leaseAt, planAcquire, planRenew, type Ownership } from "#log/plans/lease";
export {
  holdsFor,
  linkOf,
  parentsOf,
  planAppend,
  refsOf,
  resultOf,
  storedEntries,
  type AppendPlan,
  type Basis,
  type OpenedSegment,
  type WritePlan,
} from "#log/plans/plan-append";
export {
  forkStart,
  planStart,
  type Existing,
  type ForkRequest,
  type Start,
  type StartPlan,
} from "#log/plans/plan-start";
export { pageOfRuns } from "./run-pages.ts";
export type { LastRun, RunChanges } from "#log/runs/run-count";
export { RunFolder } from "#log/runs/run-folder";
export { runRow, type Run, type RunSources } from "#log/runs/run-row";
export { matchesQuery, queryWords } from "#log/search";
