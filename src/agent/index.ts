export type { AgentOptions, AgentResult, AgentSendOptions, Permission } from "./agent-options.ts";
export { Agent } from "./agent.ts";
export { summariseBranch } from "./compaction/branch-summary.ts";
export { compactConversation, mustCompact, readContextTokens } from "./compaction/compact.ts";
export type { Summarise } from "./compaction/summary-writer.ts";
export { McpServers } from "./mcp/mcp-servers.ts";
export { Memory } from "./memory/memory.ts";
export { askModel } from "./models/ask-model.ts";
export type { AgentModel } from "./models/model.ts";
export { openModel } from "./models/open-model.ts";
export { replay } from "./replay/replay-models.ts";
export type { ReplayAgent } from "./replay/replay-options.ts";
export { Skills } from "./skills/skills.ts";
export {
  absurdSteps,
  absurdWorkerOptions,
  directSteps,
  engineSteps,
  openWorkflowSteps,
} from "./steps/engine-steps.ts";
export { codingTools } from "./tools/coding-tools.ts";
export { codeExecution, composeEmail } from "./tools/example-tools.ts";
export { subjectOf } from "./tools/folder-path.ts";
export { DEFAULT_POLICY, type Decision, type PermissionPolicy, decide } from "./tools/permissions.ts";
export { checkInput, tool, toolDefinition } from "./tools/tool-schema.ts";
