import type { Json } from "#log/json/json-text";
import { parseBody } from "#log/body";
import type { Message } from "#log/message";
import { type AiSdkMessageLike, fromAiSdk, toAiSdk } from "#transfer/messages/ai-sdk";
import { type AnthropicMessageLike, pieceToAnthropic, fromAnthropic } from "#transfer/messages/anthropic";
import { fromOpenAI, type OpenAIMessageLike, toOpenAI } from "#transfer/messages/openai";
import type { Sayable } from "#transfer/messages/shape";
import { isLogError, LogError } from "#log/errors";

export const SHAPE_NAMES = ["openai", "anthropic", "ai-sdk", "holdfast"] as const;
/** `holdfast`: messages as they are here, and as coding agents write them alike. */
export type ShapeName = (typeof SHAPE_NAMES)[number];

type Fields = { readonly [name: string]: Json };

const ROLES: ReadonlySet<string> = new Set(
  "user assistant tool function toolResult system developer".split(" "),
);
const OPENAI_BLOCKS: ReadonlySet<string> = new Set("image_url input_audio refusal".split(" "));
const AI_SDK_BLOCKS: ReadonlySet<string> = new Set("tool-call tool-result reasoning".split(" "));
const ANTHROPIC_BLOCKS: ReadonlySet<string> = new Set(
  "tool_use tool_result thinking redacted_thinking document".split(" "),
);

export function isFields(value: Json | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function blocksOf({ content }: Fields): readonly Fields[] {
  return Array.isArray(content) ? (content as readonly Json[]).filter(isFields) : [];
}

/** The shape that only messages of one library have; null where nothing tells them apart. */
function telltaleShape(message: Fields): ShapeName | null {
  const { role } = message;
  const blocks = blocksOf(message);
  const has = (types: ReadonlySet<string>): boolean =>
    blocks.some(({ type }) => typeof type === "string" && types.has(type));
  if (role === "toolResult" || blocks.some(({ type }) => type === "toolCall" || type === "redactedThinking"))
    return "holdfast";
  if (role === "developer" || role === "function" || "tool_calls" in message || "tool_call_id" in message)
    return "openai";
  if (has(OPENAI_BLOCKS)) return "openai";
  if (role === "tool" || has(AI_SDK_BLOCKS) || blocks.some((block) => "image" in block)) return "ai-sdk";
  if (blocks.some(({ type, thinkingSignature }) => type === "thinking" && thinkingSignature !== undefined))
    return "holdfast";
  if (has(ANTHROPIC_BLOCKS) || blocks.some((block) => "source" in block)) return "anthropic";
  if (blocks.some(({ type, mediaType }) => type === "image" && mediaType !== undefined)) return "holdfast";
  return null;
}

/** The shape of messages that were written together. */
export function shapeOf(messages: readonly Json[]): ShapeName {
  for (const message of messages) {
    const shape = isFields(message) ? telltaleShape(message) : null;
    if (shape !== null) return shape;
  }
  return "openai"; // text alone is the same in all of them
}

/** What a message of any shape must have; null where it has. */
export function foreignProblem(message: Json): string | null {
  if (!isFields(message)) return "is not a message: it must be an object";
  const { role, content } = message;
  if (typeof role !== "string") return "is not a message: it has no role";
  if (!ROLES.has(role)) return `has the unknown role ${JSON.stringify(role)}`;
  const calls = message["tool_calls"];
  if (calls !== undefined && calls !== null && !(Array.isArray(calls) && calls.every(isCall)))
    return "has tool_calls that are not a list of calls with id and function";
  if (content === undefined || content === null)
    return Array.isArray(calls) || "refusal" in message ? null : "has no content";
  if (typeof content === "string") return null;
  if (!Array.isArray(content)) return "has content that is not text or a list of blocks";
  const typed = (content as readonly Json[]).every(
    (block) => isFields(block) && typeof block["type"] === "string",
  );
  return typed ? null : "has a block without a type";
}

function isCall(call: Json): boolean {
  if (!isFields(call) || typeof call["id"] !== "string") return false;
  const toolFunction = call["function"];
  return toolFunction === undefined || (isFields(toolFunction) && typeof toolFunction["name"] === "string");
}

/** Messages of a shape as messages of a log; what a model is told of itself is none. */
export function readForeign(shape: ShapeName, messages: readonly Json[]): readonly Message[] {
  const read = readAs(shape, messages);
  for (const message of read) parseBody({ type: "message", message });
  return read;
}

function readAs(shape: ShapeName, messages: readonly Json[]): readonly Message[] {
  const conversation = messages.filter((message) => !isSystem(message));
  switch (shape) {
    case "openai":
      return fromOpenAI(conversation as unknown as readonly OpenAIMessageLike[]).messages;
    case "anthropic":
      return fromAnthropic(conversation as unknown as readonly AnthropicMessageLike[]);
    case "ai-sdk":
      return fromAiSdk(conversation as unknown as readonly AiSdkMessageLike[]).messages;
    case "holdfast":
      return conversation.map((message) => ownMessage(message as Fields));
  }
}

export function isSystem(message: Json): boolean {
  return isFields(message) && (message["role"] === "system" || message["role"] === "developer");
}

/** Messages of a log in a shape: what came from there is the very same again. */
export function writeForeign(shape: ShapeName, messages: readonly Sayable[]): readonly Json[] {
  switch (shape) {
    case "openai":
      return toOpenAI(messages) as unknown as readonly Json[];
    case "anthropic":
      return pieceToAnthropic(messages) as unknown as readonly Json[];
    case "ai-sdk":
      return toAiSdk(messages) as unknown as readonly Json[];
    case "holdfast":
      return messages as unknown as readonly Json[];
  }
}

/** Our own messages, also with text in the place of blocks and with `arguments` in the place of `input`. */
function ownMessage(message: Fields): Message {
  const { content } = message;
  const blocks: readonly Json[] =
    typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Json[]);
  return { ...message, content: blocks.map((block) => ownBlock(block as Fields)) } as unknown as Message;
}

function ownBlock(block: Fields): Json {
  const { arguments: callArguments, thinkingSignature, ...rest } = block;
  if (block["type"] === "toolCall" && block["input"] === undefined && callArguments !== undefined)
    return { ...rest, input: callArguments };
  return block["type"] === "thinking" && typeof thinkingSignature === "string"
    ? { ...rest, signature: thinkingSignature }
    : block;
}

/** Adds the place of a row to errors about it. */
export function located<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isLogError(error)) throw error;
    throw new LogError(
      "invalid_entry",
      `${place}: ${error.message}`,
      { ...error.details, place },
      { cause: error },
    );
  }
}
