export { Conversation, type ForkOptions } from "./conversation/conversation.ts";
export type { BranchEntry } from "./conversation/history-pages.ts";
export { type CreateOptions, Holdfast } from "./conversation/holdfast.ts";
export type { ListFilter } from "./conversation/list-conversations.ts";
export { Owner } from "./conversation/owner.ts";
export type { AppendResult } from "./log/batch.ts";
export type { EndingClass } from "./log/ending-class.ts";
export type { Entry, EntryBody, EntryType, Metadata, StoredEntry } from "./log/entry.ts";
export { type ErrorCode, LogError, isLogError } from "./log/errors.ts";
export type { ConversationId, EntryId } from "./log/ids.ts";
export type { Json } from "./log/json/json-text.ts";
export { assistant, toolResult, user } from "./log/message.ts";
export type { ContentBlock, Message, ToolCall, Usage } from "./log/message.ts";
export type { Link } from "./log/projections/chain.ts";
export type { Context } from "./log/projections/context.ts";
export type { Effect } from "./log/projections/effects.ts";
export type { Issue } from "./log/projections/issues.ts";
export type { ContextMessage } from "./log/projections/pairs.ts";
export type { Settings } from "./log/projections/settings.ts";
export type { Run } from "./log/runs/run-row.ts";
export { type HoldfastOptions, openHoldfast, openStore } from "./open.ts";
export type { ConversationRow, HeadView } from "./store/requests.ts";
export type { Store } from "./store/store.ts";
export type { PromptContent } from "./turn/accept.ts";
export { runEffects } from "./turn/effects/run-effects.ts";
export type { Tool } from "./turn/effects/tool.ts";
export type { Host, HostEvent } from "./turn/host.ts";
export { Pool } from "./turn/pool.ts";
export type { SendResult } from "./upstream/finish-turn.ts";
export type { RuntimeOptions, SendOptions } from "./upstream/options.ts";
export { withPreamble } from "./upstream/rules/preamble.ts";
export { Runtime } from "./upstream/runtime.ts";
export {
  type PromptEvent,
  type PromptRequest,
  type SessionSettings,
  type Upstream,
  UpstreamFailure,
  type UpstreamSession,
} from "./upstream/upstream.ts";
