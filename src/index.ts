export { Conversation, type ForkOptions, type Holder, type OwnOptions } from "./conversation/conversation.ts";
export type { ConversationReader } from "./conversation/conversation-reader.ts";
export { Holdfast, type CreateOptions } from "./conversation/holdfast.ts";
export type { EffectsPage, IssuesPage, IssuesRequest } from "./conversation/ledger.ts";
export type { BegunRun, BegunTurn, EntryCounts } from "./log/entry-counts.ts";
export type { BlobPlace } from "./transfer/messages/images.ts";
export type { BranchEntry, HistoryPage, HistoryRequest } from "./conversation/history-pages.ts";
export type {
  LastTurnKind,
  ListFilter,
  ListPage,
  ListPageRequest,
  OpenTurn,
} from "./conversation/list-conversations.ts";
export {
  runEffects,
  type EffectOutcome,
  type EffectsRequest,
  type EffectStep,
  type KnownOutcome,
} from "./turn/effects/run-effects.ts";
export type { ToolCallRequest } from "./turn/effects/act.ts";
export type { KeepBlob } from "./turn/effects/tool-output.ts";
export type {
  StandardIssue,
  StandardResult,
  StandardSchema,
  Tool,
  ToolOutput,
  ToolRun,
} from "./turn/effects/tool.ts";
export { type AppendOptions, type KnownEnd, Owner, type Written } from "./conversation/owner.ts";
export type { SignedOut, SignOutFailure, SignOutRequest } from "./conversation/sign-out.ts";
export type { Forked } from "./upstream/forks/fork-aside.ts";
export { type Host, type HostEvent, type Limit, type PermissionAsked, type Poison } from "./turn/host.ts";
export { systemClock, type Clock } from "./conversation/clock.ts";
export type {
  AgentOptions,
  ConnectOptions,
  From,
  RuntimeOptions,
  SendOptions,
  TurnOptions,
} from "./upstream/options.ts";
export type { ForkAsideOptions } from "./upstream/forks/from.ts";
export { Runtime } from "./upstream/runtime.ts";
export type { Connected } from "./upstream/prior/lacking.ts";
export type { Steered, SteerOptions } from "./turn/steering.ts";
export { Pool, type PoolUse } from "./turn/pool/pool.ts";
export type { PoolLimits, PoolOptions } from "./turn/pool/pool-options.ts";
export type { HeldWeight } from "./turn/pool/choose-evicted.ts";
export type { SendResult } from "./upstream/finish-turn.ts";
export type { PromptContent } from "./turn/accept.ts";
export type { TurnResult } from "./turn/host.ts";
export {
  UpstreamFailure,
  type Capabilities,
  type NativeMessage,
  type PromptEvent,
  type PromptRequest,
  type RawEnd,
  type SessionSettings,
  type ShownMessage,
  type Upstream,
  type UpstreamSession,
} from "./upstream/upstream.ts";
export type { BranchToCompare, ComparedBranches, CompareOptions } from "./conversation/read-diff.ts";
export type { DiffRow } from "./log/diff/align-items.ts";
export type { BranchDiff, Divergence } from "./log/diff/diff-branches.ts";
export type { CommonStart } from "./log/diff/common-start.ts";
export type { CallItem, DiffItem, TextItem } from "./log/diff/diff-item.ts";
export type { DiffTotals } from "./log/diff/diff-totals.ts";
export type { ConversationNode, ConversationTree } from "./conversation/read-tree.ts";
export { exportBundle, type BundleOptions } from "./transfer/export-bundle.ts";
export { bundleFile } from "./transfer/import/bundle-file.ts";
export {
  importBundle,
  type ImportedBundle,
  type ImportedConversation,
  type ImportOptions,
} from "./transfer/import/import-bundle.ts";
export type { ImportProblem } from "./transfer/import/import-check.ts";
export type { ImportState } from "./transfer/import/import-targets.ts";
export type { ImportFile } from "./transfer/import/open-import.ts";
export {
  followMigration,
  migrateInto,
  type FollowMigrationOptions,
} from "./transfer/migrate/migrate-space.ts";
export type {
  MigrateLeft,
  MigrateOptions,
  MigrateOutcome,
  MigrateResult,
  MigrationDifference,
  VerifyResult,
} from "./transfer/migrate/migrate-result.ts";
export { pieceBodies, type PieceToWrite } from "./transfer/migrate/piece-bodies.ts";
export type {
  MessageMarks,
  MigrationSource,
  SourceEnd,
  SourceListed,
  SourcePiece,
} from "./transfer/migrate/migration-source.ts";
export type { ShapeName } from "./transfer/migrate/rules/foreign-messages.ts";
export type { GivenColumns } from "./transfer/migrate/rules/table-columns.ts";
export {
  openMigrationSource,
  type MigrationSourceOptions,
} from "./transfer/migrate/sources/open-migration-source.ts";
export { verifyMigration, type VerifyOptions } from "./transfer/migrate/verify-migration.ts";
export { defaultStore, openHoldfast, openStore, type HoldfastOptions } from "./open.ts";
export type { Appended, AppendResult, Author, StampedDraft } from "./log/batch.ts";
export type { Draft } from "./log/body.ts";
export type { Durability } from "./log/plans/durability.ts";
export type {
  Entry,
  EntryBody,
  EntryOf,
  EntryType,
  FactType,
  Fidelity,
  Metadata,
  NodeType,
  Parent,
  Project,
  Skill,
  SteerTime,
  StoredEntry,
  PriorContextCounts,
  TurnHolder,
  TurnOutcome,
} from "./log/entry.ts";
export type {
  AssistantMessage,
  BlockData,
  BlockExtras,
  ContentBlock,
  Message,
  MessageExtras,
  ProviderBlock,
  Role,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./log/message.ts";
export { isLogError, LogError, type ErrorCode, type ErrorDetails, type ErrorGroup } from "./log/errors.ts";
export { assistant, toolResult, user, type MessageContent } from "./log/message-builders.ts";
export type { ForkPoint, Head, Leaf, Lease, LeaseView, Place } from "./log/lineage/head.ts";
export type { ConversationId, Digest, EntryId, SpaceId } from "./log/ids.ts";
export type { Json } from "./log/json/json-text.ts";
export type { Link } from "./log/projections/chain.ts";
export type { Context, ExactContext } from "./log/projections/context.ts";
export type { Effect } from "./log/projections/effects.ts";
export type { SentContext } from "./log/projections/sent-context.ts";
export type { Issue } from "./log/projections/issue.ts";
export type { ContextMessage } from "./log/projections/pairs.ts";
export type { Queued } from "./log/projections/queue.ts";
export type { LastRun, RunCounts, RunEnd, RunStart } from "./log/runs/run-count.ts";
export type { RunFilter } from "./conversation/read-runs.ts";
export type { ForkedRun, ForkRunOptions } from "./conversation/runs/fork-run.ts";
export type { HydratedRun, RunMessage } from "./conversation/runs/hydrate.ts";
export type { RunContext } from "./log/runs/run-context.ts";
export type { Run, RunStatus } from "./log/runs/run-row.ts";
export { classifyEnd, type EndError, type EndSigns } from "./turn/rules/classify.ts";
export type { EndingRule, EndingTable } from "./turn/rules/classify.ts";
export { COMMON_ENDINGS } from "./vendors/endings/shared-endings.ts";
export type { Ending } from "./turn/rules/ending.ts";
export type { EndingClass } from "./log/ending-class.ts";
export { renderPreamble, withPreamble } from "./upstream/rules/preamble.ts";
export { PRIOR_BUDGET, type PriorBudget } from "./upstream/rules/prior-budget.ts";
export type { Outline } from "./upstream/rules/outline.ts";
export type { PriorContext, PriorEffect, PriorMessage } from "./upstream/rules/prior-context.ts";
export type { SignedIn } from "./log/projections/signed-in.ts";
export type { TurnEvent } from "./turn/rules/turn-event.ts";
export type { CloseOptions, Note } from "./turn/one-at-a-time.ts";
export { WireMessage } from "./turn/wire-message.ts";
export type { LatestSettings, Settings } from "./log/projections/settings.ts";
export type { UsageSum } from "./log/add-usage.ts";
export type { LastTurn, Summary, SummaryChange, UsageTotals } from "./log/summary.ts";
export type { IdsAndTime } from "./store/prepare.ts";
export type {
  Backup,
  CheckRequest,
  Finding,
  HeadView,
  ConversationRow,
  Page,
  RunPage,
  RunsRequest,
  SearchHit,
  SettingsFound,
  StoreWindow,
} from "./store/requests.ts";
export type { Facet, SpaceStore } from "./store/facets.ts";
export type { Store } from "./store/store.ts";
export type { SettingType } from "./log/entry.ts";
export type { CommandKind } from "./upstream/rules/agent-command.ts";
export { copySpace, followSpace, type FollowOptions } from "./transfer/copy/copy-space.ts";
export type {
  CopyLeft,
  CopyOptions,
  CopyOutcome,
  CopyProgress,
  CopyResult,
} from "./transfer/copy/copy-result.ts";
export {
  redactText,
  type RedactedText,
  type Redaction,
  type RedactOptions,
} from "./transfer/redact/redact-text.ts";
export { redactPayload, type RedactionHit } from "./transfer/redact/redact-entry.ts";
export type { RedactorOptions } from "./transfer/redact/redactor.ts";
export { exportHtml } from "./transfer/people/html.ts";
export type { LeftOut } from "./transfer/people/left-out.ts";
export { exportMarkdown } from "./transfer/people/markdown.ts";
export { exportJson } from "./transfer/people/people-json.ts";
export type { PeopleOptions } from "./transfer/people/read-transcript.ts";
