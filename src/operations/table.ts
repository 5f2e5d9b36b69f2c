import { diff, search } from "./comparisons.ts";
import { exportBundle, exportTranscript, getBlob, importFile, reviewBundle } from "./files.ts";
import { forkRun, getRun, hydrate, listRuns } from "./runs.ts";
import {
  listBranch,
  appendEntries,
  getContext,
  getEntry,
  listEntries,
  listHistory,
  setHidden,
  setLabel,
} from "./entries.ts";
import {
  createConversation,
  fork,
  getConversation,
  goTo,
  listConversations,
  newChat,
  setMetadata,
  setTitle,
} from "./conversations.ts";
import {
  eraseMemories,
  listMemory,
  listMemoryChanges,
  listMemoryScopes,
  removeMemory,
  restoreMemory,
  saveMemory,
  searchMemory,
} from "./memory.ts";
import {
  activateSkill,
  deactivateSkill,
  getSkill,
  listServedSkills,
  listSkills,
  listSkillUses,
} from "./skills.ts";
import { adoptAgentSession, eraseConversation, listAgentSessions, listPrunable, signOut } from "./spaces.ts";
import type { AnyOperation } from "./operation.ts";
import {
  countIssues,
  getChain,
  getContextSizes,
  getRecord,
  getTree,
  listEffects,
  listIssues,
  listRecords,
  listStamps,
  listWaiting,
} from "./records.ts";
import { getDailyUsage, getSpaceUsage, getTurnUsage, getUsage } from "./usage.ts";
import { getThread } from "./threads.ts";
import { getReplay, listReplays, planReplay, startReplay, stopReplay } from "./replays.ts";
import { checkSpace, getStore, listAgents, listAudit } from "./server.ts";
import { answerRequest, cancel, continueTurn, edit, retry, send, steer } from "./turns.ts";

/** Every operation by its name: routes, the client and the documents follow from it, in this order. */
export const OPERATIONS = {
  listConversations,
  getConversation,
  createConversation,
  setTitle,
  setMetadata,
  fork,
  goTo,
  newChat,
  listEntries,
  listHistory,
  getEntry,
  getBlob,
  appendEntries,
  setLabel,
  setHidden,
  getContext,
  listBranch,
  getThread,
  getTree,
  getChain,
  listStamps,
  listEffects,
  getUsage,
  listIssues,
  listWaiting,
  listRecords,
  getRecord,
  getContextSizes,
  getDailyUsage,
  getTurnUsage,
  countIssues,
  getSpaceUsage,
  send,
  edit,
  continueTurn,
  retry,
  answerRequest,
  steer,
  cancel,
  search,
  diff,
  listRuns,
  getRun,
  forkRun,
  hydrate,
  listMemoryScopes,
  listMemoryChanges,
  listMemory,
  searchMemory,
  saveMemory,
  removeMemory,
  restoreMemory,
  listSkills,
  activateSkill,
  deactivateSkill,
  listServedSkills,
  getSkill,
  listSkillUses,
  listAgentSessions,
  adoptAgentSession,
  exportBundle,
  reviewBundle,
  exportTranscript,
  importFile,
  listAgents,
  listAudit,
  getStore,
  checkSpace,
  planReplay,
  startReplay,
  listReplays,
  getReplay,
  stopReplay,
};

export type OperationName = keyof typeof OPERATIONS;

export const OPERATION_LIST: readonly (readonly [OperationName, AnyOperation])[] = Object.entries(
  OPERATIONS,
) as [OperationName, AnyOperation][];

/** Operations that only callers on this machine have. */
export const LOCAL_OPERATIONS = { eraseMemories, eraseConversation, listPrunable, signOut };
