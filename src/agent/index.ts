export { askModel, type AskOptions } from "./models/ask-model.ts";
export { Agent } from "./agent.ts";
export type { AgentPool, PooledConversation } from "./agent-pool.ts";
export type { PastCall } from "./loop/rerun-call.ts";
export type {
  AgentCarryOptions,
  AgentOptions,
  AgentResult,
  AgentSendOptions,
  AgentTurnOptions,
  CallToDecide,
  CompactionOptions,
  Permission,
} from "./agent-options.ts";
export {
  answerEntries,
  type StepEntries,
  type StepFacts,
  stepFacts,
  type StepRules,
} from "./rules/answer-entries.ts";
export { applyStateUpdate, stateAfter, type StateRule } from "./rules/derived-state.ts";
export { openModel, type OpenModelOptions } from "./models/open-model.ts";
export { chooseCut, type Cut } from "./compaction/choose-cut.ts";
export {
  compactConversation,
  readContextTokens,
  type Compacted,
  type CompactOptions,
} from "./compaction/compact.ts";
export {
  summariseBranch,
  type BranchSummarised,
  type BranchSummaryOptions,
} from "./compaction/branch-summary.ts";
export type { SummaryFailed, SummaryOptions } from "./compaction/recorded-summary.ts";
export { mustCompact, type CompactionLimits } from "./compaction/compaction-budget.ts";
export type { FileLists, FileTools } from "./compaction/file-lists.ts";
export type { Summarise, SummaryProblem } from "./compaction/summary-writer.ts";
export { estimateTokens } from "./compaction/token-estimate.ts";
export type { AgentModel, LanguageModel, ModelGiven, Price } from "./models/model.ts";
export type {
  Asked,
  Finish,
  ModelAnswer,
  ModelEvent,
  ModelRequest,
  ToolDefinition,
} from "./models/model-answer.ts";
export type {
  StandardIssue,
  StandardResult,
  StandardSchema,
  Tool,
  ToolOutput,
  ToolRun,
} from "#turn/effects/tool";
export { tool, type TypedTool } from "./tools/tool-schema.ts";
export { toolDefinition, checkInput, type CheckedInput } from "./tools/tool-schema.ts";
export {
  answeredYes,
  decide,
  type Decision,
  DEFAULT_POLICY,
  type PermissionCall,
  type PermissionPolicy,
  type PermissionRule,
  type Refusal,
  refusalText,
  type Subject,
} from "./tools/permissions.ts";
export { subjectOf } from "./tools/folder-path.ts";
export {
  readInstructions,
  type InstructionFile,
  type InstructionIssue,
  type Instructions,
} from "./prompt/instructions.ts";
export {
  promptDigest,
  reminderText,
  systemPrompt,
  toolsDigest,
  type ListedSkill,
  type PromptSkill,
  type Reminder,
  type SystemPromptParts,
} from "./prompt/system-prompt.ts";
export { Skills, type SkillList, type SkillsOptions } from "./skills/skills.ts";
export type { FoundSkill, SkillIssue, SkillPlace } from "./skills/skill-places.ts";
export type { MatchedSkill } from "./skills/active-skills.ts";
export type { SkillFile } from "./skills/skill-file.ts";
export type { SkillResources } from "./skills/skill-resources.ts";
export { McpServers, type McpServersOptions, type ServerState } from "./mcp/mcp-servers.ts";
export type { HttpServer, McpServer, StdioServer } from "./mcp/mcp-server.ts";
export type { ServersGiven } from "./mcp/given-servers.ts";
export type { RestoredServer } from "./mcp/restored-servers.ts";
export { codingTools } from "./tools/coding-tools.ts";
export type { ShellOptions } from "./tools/shell-tool.ts";
export { codeExecution, type CodeExecutionOptions } from "./tools/example-tools.ts";
export { composeEmail } from "./tools/example-tools.ts";
export { endLeftTools } from "#turn/effects/left-processes";
export { type Missing, restore, type Restored, type RestoreInput } from "./restore.ts";
export { type Repair, wholePairs, type WholePairs } from "#log/projections/whole-pairs";
export {
  Memory,
  type MemoryHit,
  type MemoryOptions,
  type MemorySaveOptions,
  type MemoryScope,
  type MemoryWriteOptions,
} from "./memory/memory.ts";
export { MEMORY_KINDS, type MemoryInput, type MemoryKind, normalizeKey } from "./memory/memory-rules.ts";
export type { ScopedMemory } from "./memory/memory-blocks.ts";
export type { KnownScope } from "./memory/known-scopes.ts";
export type { RestoredMemory } from "./memory/restored-memory.ts";
export type { MemoryReader, Remembered, SummaryPointer } from "#log/projections/memories";
export { parseProjectId, PROJECT_FILE, projectIds, type ProjectFound } from "./project/project-identity.ts";
export { findProject } from "./project/find-project.ts";
export type { RunGiven, RunOptions, RunTrigger, StartedRun, StartRunOptions } from "./runs/run-options.ts";
export type { SeedMessage } from "#log/runs/check-seeds";
export type { PromptPatch } from "./prompt/prompt-patch.ts";
export { replay } from "./replay/replay-models.ts";
export type {
  ReplayAgent,
  ReplayedTurn,
  ReplayEvent,
  ReplayOptions,
  ReplayPlan,
  ReplayResult,
} from "./replay/replay-options.ts";
export type { ReplayWhat } from "./replay/replay-source.ts";
export { type MissedCall, type ReplayTools } from "./replay/replay-tools.ts";
