import { type ResolvedOptions, toolsFor } from "#agent/agent-options";
import { type ConversationMemory, withMemoryTools } from "#agent/memory/conversation-memory";
import type { Tool } from "#turn/effects/tool";
import { toolsByName } from "./tool-schema.ts";

/** Every tool of a turn by its name: the host's own, those of what else it gave, and whatever stands in for them. */
export async function turnTools(
  options: Pick<ResolvedOptions, "tools" | "skills" | "servers" | "replaceTool">,
  place: {
    readonly cwd: string | null;
    readonly conversation: string;
    readonly memory: Pick<ConversationMemory, "tools"> | null;
  },
): Promise<ReadonlyMap<string, Tool>> {
  const all = withMemoryTools(await toolsFor(options, place.cwd, place.conversation), place.memory);
  return toolsByName(all.map((tool) => options.replaceTool(tool)));
}
