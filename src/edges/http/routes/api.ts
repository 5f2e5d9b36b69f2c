import { CONVERSATION_ROUTES, type ConversationApi } from "./conversation-api.ts";
import { ENTRY_ROUTES, type EntryApi } from "./entry-api.ts";
import { MEMORY_ROUTES, type MemoryApi } from "./memory-api.ts";
import { RECORD_ROUTES, type RecordApi } from "./record-api.ts";
import { AGENT_SESSION_ROUTES, type AgentSessionApi } from "#edges/http/agent-sessions/agent-session-api";
import { BRANCH_ROUTES, type BranchApi } from "#edges/http/branches/branch-api";
import { FIGURE_ROUTES, type FigureApi } from "#edges/http/figures/figure-api";
import { REPLAY_ROUTES, type ReplayApi } from "#edges/http/replays/replay-api";
import { SKILL_ROUTES, type SkillApi } from "#edges/http/skills/skill-api";
import { TRANSFER_ROUTES, type TransferApi } from "#edges/http/transfers/transfer-api";
import type { AnyRoute, RoutesOf } from "./route.ts";
import { SPACE_ROUTES, type SpaceApi } from "./space-api.ts";
import { TURN_ROUTES, type TurnApi } from "./turn-api.ts";
import { SERVER_ROUTES, type ServerApi } from "./server-api.ts";

/** Every operation, by its name. */
export interface Api
  extends
    ServerApi,
    ConversationApi,
    EntryApi,
    RecordApi,
    SpaceApi,
    MemoryApi,
    TurnApi,
    TransferApi,
    FigureApi,
    ReplayApi,
    BranchApi,
    AgentSessionApi,
    SkillApi {}

export type OperationName = keyof Api;

/** The one table of routes: requests are checked by it, the OpenAPI document and the client are made from it. */
export const ROUTES: RoutesOf<Api> = {
  ...SERVER_ROUTES,
  ...CONVERSATION_ROUTES,
  ...ENTRY_ROUTES,
  ...RECORD_ROUTES,
  ...SPACE_ROUTES,
  ...MEMORY_ROUTES,
  ...SKILL_ROUTES,
  ...TURN_ROUTES,
  ...TRANSFER_ROUTES,
  ...FIGURE_ROUTES,
  ...REPLAY_ROUTES,
  ...BRANCH_ROUTES,
  ...AGENT_SESSION_ROUTES,
};

export const OPERATIONS: readonly (readonly [OperationName, AnyRoute])[] = Object.entries(ROUTES) as [
  OperationName,
  AnyRoute,
][];
