import type { Context } from "#log/projections/context";
import { estimateTokens } from "#agent/compaction/token-estimate";
import type { LoopTurn } from "#agent/loop/loop-turn";
import type { ToolDefinition } from "#agent/models/model-answer";
import { toolDefinition } from "#agent/tools/tool-schema";
import { readInstructions } from "./instructions.ts";
import {
  promptDigest,
  promptText,
  reminderText,
  systemPrompt,
  type SystemPromptParts,
  toolsDigest,
} from "./system-prompt.ts";

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
 * active and not here is left out; `restore` tells of it. `system`: of the run's seeds, in place of what would be made.
 */
export async function buildPrompt(
  turn: Pick<LoopTurn, "options" | "cwd" | "tools" | "memory" | "run">,
  context: Pick<Context, "skills" | "messages"> & { readonly system: string | null },
): Promise<BuiltPrompt> {
  const { options, memory } = turn;
  const tools = [...turn.tools.values()].map((tool) => toolDefinition(tool));
  const patch = turn.run?.promptPatch ?? null;
  const system =
    context.system === null
      ? systemPrompt(await promptParts(turn, context, tools), patch)
      : promptText([{ name: "system", text: context.system }], patch);
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

async function promptParts(
  { options, cwd, memory }: Pick<LoopTurn, "options" | "cwd" | "memory">,
  { skills }: Pick<Context, "skills">,
  tools: readonly ToolDefinition[],
): Promise<SystemPromptParts> {
  const read = cwd !== null && options.instructions ? await readInstructions(cwd) : null;
  const skillTexts = await options.skills?.forPrompt(skills, cwd);
  return {
    ...(options.system === "" ? {} : { base: options.system }),
    instructions: read?.files ?? [],
    skills: skillTexts?.skills ?? [],
    listedSkills: skillTexts?.offers ?? [],
    memory: (await memory?.block()) ?? null,
    cwd,
    tools,
  };
}
