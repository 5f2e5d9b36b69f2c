export {
  holdsFor,
  parentsOf,
  planAppend,
  refsOf,
  resultOf,
  storedEntries,
  type AppendPlan,
  type Basis,
  type OpenedSegment,
  type WritePlan,
} from "./plans/plan-append.ts";
export {
  forkStart,
  planStart,
  type Existing,
  type ForkRequest,
  type Start,
  type StartPlan,
} from "./plans/plan-start.ts";
export { changeHead, type HeadChange } from "./plans/head-change.ts";
export type {
  Appended,
  AppendResult,
  AppendState,
  Author,
  Batch,
  PlannedEntry,
  StampedDraft,
} from "./batch.ts";
export { parseBody, type Draft } from "./body.ts";
export { tailReads, LOOKBACK_NODES, type TailRead } from "./plans/boundary.ts";
export { checkVersion, decodeEntry, entryLine } from "./codec.ts";
export { durabilityOf, type Durability } from "./plans/durability.ts";
export {
  FORMAT_VERSION,
  type Entry,
  type EntryBody,
  type EntryOf,
  type EntryType,
  type Metadata,
  type Parent,
  type Project,
  type Skill,
  type StoredEntry,
} from "./entry.ts";
export type { ContentBlock, Message, ProviderBlock, Usage } from "./message.ts";
export type { MemoryChange } from "./table/memory-change.ts";
export { FACT_TYPES, isNode, NODE_TYPES } from "./entry-types.ts";
export { ERROR_GROUPS, isLogError, LogError, type ErrorCode, type ErrorGroup } from "./errors.ts";
export type {
  ForkPoint,
  Head,
  EntryPosition,
  Leaf,
  Lease,
  LeaseView,
  Place,
  Segment,
  SettingPlaces,
  Tip,
} from "./lineage/head.ts";
export { checkFree, isHeld, leaseAt, planAcquire, planRenew } from "./plans/lease.ts";
export { parseConversationId, parseDigest, parseEntryId, parseKey, parseSpaceId } from "./ids.ts";
export type { ConversationId, Digest, EntryId, SpaceId } from "./ids.ts";
export { chainOf, type Link } from "./projections/chain.ts";
export { compactionInput, type CompactionInput } from "./projections/compaction-input.ts";
export { contextOf, type Context } from "./projections/context.ts";
export { effectsOf, type Effect } from "./projections/effects.ts";
export type { Issue } from "./projections/issue.ts";
export { issuesOf } from "./projections/issues.ts";
export { labelsOf } from "./projections/labels.ts";
export type { ContextMessage } from "./projections/pairs.ts";
export { changeMetadata, metadataOf } from "./projections/metadata.ts";
export { memoriesOf, MemoryReader, type Remembered, type SummaryPointer } from "./projections/memories.ts";
export { secretsIn, type Secret } from "./secrets.ts";
export { queueOf, type Queued } from "./projections/queue.ts";
export { turnsOf, type Turn } from "./projections/turns.ts";
export { runsOf } from "./runs/run-folder.ts";
export {
  ownNodes,
  runContext,
  type NodeAtDepth,
  type RunContext,
  type RunContextParts,
  type RunParts,
  type TurnFact,
} from "./runs/run-context.ts";
export { seedMessages, type SeedMessages } from "./runs/seed-messages.ts";
export type { LastRun, RunChanges, RunCounts, RunEnd, RunStart } from "./runs/run-count.ts";
export type { Run, RunStatus } from "./runs/run-row.ts";
export { settingsOf, type Settings } from "./projections/settings.ts";
export { branchTo, commonAncestor, leavesOf, siblingsOf, treeOf, type Tree } from "./projections/tree.ts";
export { summaryOf, usageOf } from "./projections/summary-of.ts";
export {
  changeSummary,
  summaryChanges,
  type LastTurn,
  type Summary,
  type SummaryChange,
  type UsageTotals,
} from "./summary.ts";
export { EMPTY_WINDOW, extendWindow, type Window } from "./projections/window.ts";
export type { DiffRow } from "./diff/align-items.ts";
export { diffBranches, type BranchDiff, type DiffRules, type Divergence } from "./diff/diff-branches.ts";
export type { CallItem, DiffItem, TextItem } from "./diff/diff-item.ts";
export type { DiffTotals } from "./diff/diff-totals.ts";
export type { DiffSide } from "./diff/diff-turns.ts";
