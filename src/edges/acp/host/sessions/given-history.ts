import type { OpenAIMessageLike } from "#transfer/messages/openai";
import type { Message } from "#log/message";
import { type Fields, listIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { type Repair, wholePairs } from "#log/projections/whole-pairs";
import { fromOpenAI } from "#transfer/messages/index";
import { BadRequest } from "#edges/acp/host/wire/rpc-error";
import { contentOf } from "./blocks.ts";

export interface GivenHistory {
  readonly messages: readonly Message[];
  /** How many texts were for the model's program: no part of a conversation. */
  readonly leftOut: number;
  /** What did not fit together and was mended, so that every call has its result. */
  readonly repairs: readonly Repair[];
}

/** The messages a host brings: with the protocol's own blocks, or as a Chat Completions request has them, tools included. */
export function givenHistory(history: Json): GivenHistory {
  const items = listIn(history);
  if (!items.some((item) => isChatCompletion(item)))
    return { messages: items.map((item) => messageOf(item)), leftOut: 0, repairs: [] };
  // Every field is looked at by its reader: what does not fit is refused there.
  const { messages, system } = fromOpenAI(items as unknown as readonly OpenAIMessageLike[]);
  return { ...wholePairs(messages), leftOut: system.length };
}

const OTHER_ROLES: ReadonlySet<Json | undefined> = new Set(["tool", "system", "developer", "function"]);

function isChatCompletion({ role, content, tool_calls }: Fields): boolean {
  if (OTHER_ROLES.has(role) || tool_calls !== undefined) return true;
  return listIn(content).some(({ type }) => type === "image_url");
}

function messageOf({ role, content }: Fields): Message {
  if (role !== "user" && role !== "assistant")
    throw new BadRequest(`A history has the roles user, assistant, tool and system, not ${wordsIn(role)}`);
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  return { role, content: contentOf(blocks) };
}

function listOf(content: Json | undefined): readonly Json[] {
  if (Array.isArray(content)) return content as readonly Json[];
  return content === undefined || content === null ? [] : [content];
}
