/** What it takes to write a store: the port, the rules it carries out, and what the rules are made of. */
export type { BatchEndAt } from "#log/batch-links";
export type { Appended, Batch } from "#log/batch";
export { parseBody } from "#log/body";
export { decodeEntry } from "#log/codec";
export { diffBranches } from "#log/diff/diff-branches";
export { searchText } from "#log/entry-types";
export type { SpaceId } from "#log/ids";
export type { EntryPosition, Place } from "#log/lineage/head";
export {
  type LogNode,
  type Lineage,
  currentPlace,
  findVisible,
  hiddenAmong,
  latestOnBranch,
  pageBack,
  placeAt,
} from "#log/lineage/lineage";
export { LogIndex } from "#log/lineage/log-index";
export { tailReads } from "#log/plans/boundary";
export { durabilityOf } from "#log/plans/durability";
export { changeHead } from "#log/plans/head-change";
export { compactionTails, findPositions, indexLog, indexPlan } from "#log/plans/index-lookups";
export { type Ownership, isHeld, leaseAt, planAcquire, planRenew } from "#log/plans/lease";
export {
  type WritePlan,
  holdsFor,
  linkOf,
  parentsOf,
  planAppend,
  refsOf,
  resultOf,
  storedEntries,
} from "#log/plans/plan-append";
export { type Start, forkStart, planStart } from "#log/plans/plan-start";
export { contextOf } from "#log/projections/context";
export { RunFolder } from "#log/runs/run-folder";
export { runRow } from "#log/runs/run-row";
export { matchesQuery, queryWords } from "#log/search";
export { decorateStore } from "./decorate.ts";
export type { Facet, LogStore, SpaceStore } from "./facets.ts";
export { type StoreObserver, observeStore } from "./decorate.ts";
export { storePort } from "./port.ts";
export { type IdsAndTime, prepare } from "./prepare.ts";
export type { Page } from "./requests.ts";
export { pageOfRuns } from "./run-pages.ts";
export { sha256 } from "./sha256.ts";
export type { StoreDriver } from "./store.ts";
export { TailFeeds } from "./tail-feeds.ts";
export { TailWaiters } from "./tail-feeds.ts";
export { withinBytes } from "./page-bounds.ts";
