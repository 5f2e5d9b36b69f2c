import { createHash } from "node:crypto";
import { estimateTokens } from "#agent/compaction/token-estimate";
import type { LoopTurn } from "#agent/loop/loop-turn";
import type { ToolDefinition } from "#agent/models/model-answer";
import { toolDefinition } from "#agent/tools/tool-schema";

/** What a request has besides the messages, made anew for every call and stored nowhere. */
export interface BuiltPrompt {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly reminder: string | null;
  /** Of what was sent, so that an audit sees a change. */
  readonly promptDigest: string;
  readonly toolsDigest: string;
  /** How many tokens it is, about. */
  readonly tokens: number;
}

export async function buildPrompt({ options }: LoopTurn): Promise<BuiltPrompt> {
  const { system } = options;
  const tools = options.tools.map((tool) => toolDefinition(tool));
  const toolsText = JSON.stringify(tools);
  const today = new Date(options.clock.nowMs()).toISOString().slice(0, 10);
  return {
    system,
    tools,
    reminder: `Today is ${today}.`,
    promptDigest: digestOf(system),
    toolsDigest: digestOf(toolsText),
    tokens: estimateTokens(system) + estimateTokens(toolsText),
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
