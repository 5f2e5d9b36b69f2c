import { type ContentBlock, type Role, textOfBlocks } from "#log/message";
import type { Json } from "#log/json/json-text";
import { fieldsOf, textIn } from "#log/json/json-fields";
import type { Issue } from "#log/projections/issues";
import { type ContextMessage, PairReader } from "#log/projections/pairs";

/** Seeds as they are sent to a model: their `system` texts are not messages. */
export interface SeedMessages {
  /** Null where no seed is a system message: then the prompt is made as for any other request. */
  readonly system: string | null;
  readonly messages: readonly ContextMessage[];
  readonly issues: readonly Issue[];
}

/** What a host has given beside role and content, such as `isNew` or `details`, is a record and is not sent. */
export function seedMessages(seeds: readonly Json[]): SeedMessages {
  const system: string[] = [];
  const newestFirst: ContextMessage[] = [];
  const pairs = new PairReader((message) => newestFirst.push(message));
  for (const seed of seeds.toReversed()) {
    const { role, content, toolCallId, toolName, isError, model } = fieldsOf(seed);
    const blocks = blocksIn(content);
    if (role === "system") system.push(textOfBlocks(blocks, "\n"));
    // Providers refuse empty messages.
    else if (blocks.length > 0 || role === "toolResult")
      pairs.add({
        role: roleIn(role),
        content: blocks,
        ...(role === "toolResult" ? { toolCallId: textIn(toolCallId) ?? "" } : {}),
        ...(typeof toolName === "string" ? { toolName } : {}),
        ...(typeof isError === "boolean" ? { isError } : {}),
        ...(role === "assistant" && typeof model === "string" ? { model } : {}),
        entryId: null,
      });
  }
  const issues = pairs.issues();
  const systemPrompt = system.length === 0 ? null : system.toReversed().join("\n\n");
  return { system: systemPrompt, messages: newestFirst.toReversed(), issues };
}

/** A role that no provider knows is said as the user's. */
function roleIn(role: Json | undefined): Role {
  return role === "assistant" || role === "toolResult" ? role : "user";
}

function blocksIn(content: Json | undefined): readonly ContentBlock[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return content.trim() === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [{ type: "text", text: JSON.stringify(content) }];
  return content.filter((block) => isBlock(block));
}

function isBlock(block: unknown): block is ContentBlock {
  if (typeof block !== "object" || block === null) return false;
  const { type, text } = block as { readonly type?: unknown; readonly text?: unknown };
  return typeof type === "string" && (type !== "text" || (typeof text === "string" && text.trim() !== ""));
}
