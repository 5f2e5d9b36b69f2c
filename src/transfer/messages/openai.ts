import type { ContentBlock, Message, ToolCall } from "#log/message";
import { imageData } from "./images.ts";
import {
  imageFromUrl,
  parseArguments,
  readAll,
  type Sayable,
  type Shape,
  textOf,
  unsaid,
  writeAll,
} from "./original.ts";

/** A message of OpenAI's Chat Completions, as far as this reads it; the package's own types fit. */
export interface OpenAIMessageLike {
  readonly role: string;
  readonly content?: string | readonly OpenAIPartLike[] | null;
  readonly tool_calls?: readonly OpenAICallLike[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly refusal?: string | null;
}

interface OpenAIPartLike {
  readonly type: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly image_url?: { readonly url: string };
}

interface OpenAICallLike {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

type TextPart = { type: "text"; text: string };
type ImagePart = { type: "image_url"; image_url: { url: string } };

/** A message as it is written; it fits the package's `ChatCompletionMessageParam`. */
export type OpenAIMessage =
  | { role: "user"; content: string | (TextPart | ImagePart)[] }
  | { role: "assistant"; content: string | TextPart[] | null; tool_calls?: OpenAICall[] }
  | { role: "tool"; tool_call_id: string; content: string | TextPart[] };

interface OpenAICall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

const SYSTEM: ReadonlySet<string> = new Set(["system", "developer"]);

const SHAPE: Shape<OpenAIMessageLike> = { name: "openai", read, write: (messages) => messages.map(write) };

export interface Read {
  /** What the messages say to the model about itself: not part of a conversation, and so not of the log. */
  readonly system: readonly string[];
  readonly messages: readonly Message[];
}

/** Messages of a Chat Completions request as messages of a log. */
export function fromOpenAI(messages: readonly OpenAIMessageLike[]): Read {
  const system = messages
    .filter(({ role }) => SYSTEM.has(role))
    .map(({ content }) => textOf(blocksOf(content)));
  return { system, messages: readAll(SHAPE, messages) };
}

/**
 * Messages of a log or a context as those of a Chat Completions request. It has no place for thinking, for images in
 * tool results, or for the mark that a result is an error; these stay in the log.
 */
export function toOpenAI(messages: readonly Sayable[]): OpenAIMessage[] {
  return writeAll(SHAPE, messages) as OpenAIMessage[];
}

function blocksOf(content: OpenAIMessageLike["content"]): readonly ContentBlock[] {
  if (content === null || content === undefined) return [];
  return typeof content === "string" ? [{ type: "text", text: content }] : content.map(blockOf);
}

function blockOf(part: OpenAIPartLike): ContentBlock {
  if (part.type === "text") return { type: "text", text: part.text ?? "" };
  if (part.type === "refusal") return { type: "text", text: part.refusal ?? "" };
  const { url = "" } = part.image_url ?? {};
  return imageFromUrl(url) ?? unsaid(url === "" ? part.type : `image ${url}`);
}

function read(wire: OpenAIMessageLike): readonly Message[] {
  const content = blocksOf(wire.content);
  if (SYSTEM.has(wire.role)) return [];
  if (wire.role === "tool" || wire.role === "function")
    return [{ role: "toolResult", toolCallId: wire.tool_call_id ?? wire.name ?? "", content }];
  if (wire.role !== "assistant") return [{ role: "user", content }];
  const refusal: ContentBlock[] = wire.refusal == null ? [] : [{ type: "text", text: wire.refusal }];
  const calls = (wire.tool_calls ?? []).map((call): ToolCall => ({
    type: "toolCall",
    id: call.id,
    name: call.function?.name ?? call.type,
    input: parseArguments(call.function?.arguments ?? "{}"),
  }));
  return [{ role: "assistant", content: [...content, ...refusal, ...calls] }];
}

function write(message: Sayable): OpenAIMessage {
  const { role, content, toolCallId = "" } = message;
  if (role === "toolResult") return { role: "tool", tool_call_id: toolCallId, content: textOf(content) };
  if (role === "user") return { role, content: userContent(content) };
  const texts = content
    .filter((block) => block.type === "text")
    .map(({ text }): TextPart => ({ type: "text", text }));
  const calls = content.filter((block) => block.type === "toolCall").map(callOf);
  const [only] = texts;
  const said = texts.length === 1 && only !== undefined ? only.text : texts.length === 0 ? null : texts;
  return { role: "assistant", content: said, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

function callOf({ id, name, input }: ToolCall): OpenAICall {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

function userContent(content: readonly ContentBlock[]): string | (TextPart | ImagePart)[] {
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return only.text;
  return content.flatMap((block): (TextPart | ImagePart)[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }];
    if (block.type !== "image") return [];
    return [{ type: "image_url", image_url: { url: `data:${block.mediaType};base64,${imageData(block)}` } }];
  });
}
