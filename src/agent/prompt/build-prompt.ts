import type { Context } from "#log/projections/context";
import { estimateTokens } from "#agent/compaction/token-estimate";
import type { LoopTurn } from "#agent/loop/loop-turn";
import type { ToolDefinition } from "#agent/models/model-answer";
import { toolDefinition } from "#agent/tools/tool-schema";
import { readInstructions } from "./instructions.ts";
import { promptDigest, reminderText, systemPrompt, toolsDigest } from "./system-prompt.ts";

/** What a request has besides the messages, made anew for every call and stored nowhere. */
export interface BuiltPrompt {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly reminder: string | null;
  /** Of what is sent, so that an audit sees a change. */
  readonly promptDigest: string;
  readonly toolsDigest: string;
  /** How many tokens it is, about. */
  readonly tokens: number;
}

/**
 * Of the context: its skills in the order in which they were activated, and the messages that memory is asked for. What is
 * active and not here is left out; `restore` tells of it.
 */
export async function buildPrompt(
  at: Pick<LoopTurn, "options" | "cwd" | "tools" | "memory">,
  context: Pick<Context, "skills" | "messages">,
): Promise<BuiltPrompt> {
  const { options, cwd, memory } = at;
  const tools = [...at.tools.values()].map((tool) => toolDefinition(tool));
  const read = cwd !== null && options.instructions ? await readInstructions(cwd) : null;
  const told = await options.skills?.forPrompt(context.skills, cwd);
  const system = systemPrompt({
    ...(options.system === "" ? {} : { base: options.system }),
    instructions: read?.files ?? [],
    skills: told?.skills ?? [],
    listedSkills: told?.listed ?? [],
    memory: (await memory?.block()) ?? null,
    cwd,
    tools,
  });
  return {
    system,
    tools,
    reminder: reminderText({
      now: new Date(options.clock.nowMs()),
      recall: (await memory?.recall(context.messages)) ?? [],
    }),
    promptDigest: promptDigest(system),
    toolsDigest: toolsDigest(tools),
    tokens: estimateTokens(system) + estimateTokens(JSON.stringify(tools)),
  };
}
