/** What routes answer, under names of their own, for the web UI: elsewhere a type follows from `Api`. */
export type { CallOptions } from "./transport.ts";
export type { LiveWords } from "#edges/http/events/live-words";
export type { ConversationView } from "#operations/conversations";
export type { MemoryChangeView, MemoryScopeView, MemoryView } from "#operations/memory";
export type { SkillUse, SkillView } from "#operations/skills";
export type { TreeNode } from "#operations/views/whole-logs";
export type { Health, ReplayEventView } from "#edges/http/routes/edge-rows";
export type { StoreView } from "#operations/server";
export type { ConversationCost, DailyRow, TurnUsageView } from "#operations/views/usage-views";
export type { ReplayDetails, ReplayOffer, ReplayView } from "#operations/replays";
export type { DiffView } from "#operations/comparisons";
export type { ThreadPage, ThreadRow } from "#operations/threads";
