export { Conversation, type ForkOptions } from "./conversation/conversation.ts";
export { Hold, type CreateOptions } from "./conversation/hold.ts";
export { runEffects, type EffectOutcome, type Tool, type ToolCallRequest } from "./conversation/effects.ts";
export { type AppendOptions, Owner } from "./conversation/owner.ts";
export {
  newChat,
  popOut,
  signOut,
  type SignedOut,
  type SignOutFailure,
  type SignOutRequest,
} from "./conversation/resets.ts";
export { forkAside, goBackTo, type Forked } from "./conversation/sending/fork.ts";
export { systemClock, type Clock, type Host, type HostEvent } from "./conversation/sending/host.ts";
export type { RuntimeOptions, SendRequest } from "./conversation/sending/options.ts";
export { Runtime } from "./conversation/sending/runtime.ts";
export type { TurnResult } from "./conversation/sending/turn.ts";
export {
  UpstreamFailure,
  type Capabilities,
  type PromptEvent,
  type PromptRequest,
  type RawEnd,
  type SessionSettings,
  type Upstream,
  type UpstreamSession,
} from "./conversation/sending/upstream.ts";
export type { ConversationNode, ConversationTree } from "./conversation/tree.ts";
export { defaultStore, openHoldfast, openStore, type HoldfastOptions } from "./holdfast.ts";
export type { AppendResult } from "./log/batch.ts";
export type { ContentBlock, Entry, EntryBody, EntryType, Message, StoredEntry, Usage } from "./log/entry.ts";
export { isLogError, LogError, type ErrorCode } from "./log/errors.ts";
export type { Link } from "./log/projections/chain.ts";
export type { Context } from "./log/projections/context.ts";
export type { Effect } from "./log/projections/effects.ts";
export type { Issue } from "./log/projections/issue.ts";
export type { ContextMessage } from "./log/projections/pairs.ts";
export type { Queued } from "./log/projections/queue.ts";
export type { Run } from "./log/projections/runs.ts";
export { classifyEnd } from "./log/sending/classify.ts";
export type { Ending, EndingClass } from "./log/sending/ending.ts";
export { renderPreamble, withPreamble } from "./log/sending/preamble.ts";
export type { PriorContext } from "./log/sending/prior-context.ts";
export type { UpstreamEvent } from "./log/sending/turn-record.ts";
export type { UsageTotals } from "./log/projections/usage.ts";
export type { Mint } from "./store/prepare.ts";
export type { Backup, Finding, HeadView, Listed, SearchHit, SpaceStore, Store } from "./store/store.ts";
