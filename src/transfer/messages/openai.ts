import { type ContentBlock, type Message, type ToolCall, textOfBlocks } from "#log/message";
import type { Json } from "#log/json/json-text";
import { readJson } from "#log/json/read-json";
import { callInput } from "#log/raw-input";
import { mediaData } from "./images.ts";
import {
  foreignBlock,
  fromDataUrl,
  messageRestOf,
  placeholderBlock,
  type OnOmit,
  optionsOf,
  type Outgoing,
  outgoing,
  plain,
  restOf,
  type Sayable,
  sentPart,
  withOriginal,
  withMessageRest,
  withMetadata,
  withRest,
  type WriteOptions,
} from "./shape.ts";

/** A message of OpenAI's Chat Completions, as far as this reads it; the package's own types fit. */
export interface OpenAIMessageLike {
  readonly role: string;
  readonly content?: string | readonly OpenAIPartLike[] | null;
  readonly tool_calls?: readonly OpenAICallLike[];
  readonly function_call?: { readonly name: string; readonly arguments: string } | null;
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly refusal?: string | null;
}

interface OpenAIPartLike {
  readonly type: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly image_url?: { readonly url: string; readonly detail?: string };
  readonly input_audio?: { readonly data: string; readonly format: string };
  readonly file?: { readonly filename?: string; readonly file_data?: string };
}

interface OpenAICallLike {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

type TextPart = { type: "text"; text: string };
type ImagePart = { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } };
type AudioPart = { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } };
type FilePart = { type: "file"; file: { filename?: string; file_data: string } };
type Part = TextPart | ImagePart | AudioPart | FilePart;

/** A message as it is written; it fits the package's `ChatCompletionMessageParam`. */
export type OpenAIMessage =
  | { role: "user"; content: string | Part[] }
  | { role: "assistant"; content: string | TextPart[] | null; tool_calls?: OpenAICall[] }
  | { role: "tool"; tool_call_id: string; content: string | TextPart[] };

interface OpenAICall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

const SYSTEM: ReadonlySet<string> = new Set(["system", "developer"]);
const SHAPE = "openai";

export interface OpenAIRead {
  /** What the messages say to the model about itself: not part of a conversation, and so not of the log. */
  readonly system: readonly string[];
  readonly messages: readonly Message[];
}

/** Messages of a Chat Completions request as messages of a log. */
export function fromOpenAI(messages: readonly OpenAIMessageLike[]): OpenAIRead {
  const system = messages.filter(({ role }) => SYSTEM.has(role)).map(({ content }) => systemText(content));
  return { system, messages: messages.filter(({ role }) => !SYSTEM.has(role)).map(read) };
}

/**
 * Messages of a log or a context as those of a Chat Completions request. It has no place for thinking, for files in
 * tool results, or for the mark that a result is an error; these stay in the log and are reported.
 */
export function toOpenAI(messages: readonly Sayable[], options: WriteOptions = {}): OpenAIMessage[] {
  return outgoing(messages, options).flatMap(write);
}

function systemText(content: OpenAIMessageLike["content"]): string {
  return textOfBlocks(blocksOf(content));
}

function blocksOf(content: OpenAIMessageLike["content"]): readonly ContentBlock[] {
  if (content === null || content === undefined) return [];
  return typeof content === "string" ? [{ type: "text", text: content }] : content.map(blockOf);
}

function blockOf(part: OpenAIPartLike): ContentBlock {
  const { text, refusal, image_url: image, input_audio: audio, file } = part;
  const block = knownBlock(part);
  if (block !== null) return withRest(SHAPE, block, { part, written: partOf(block) });
  const original = { part, written: null };
  if (part.type === "refusal")
    return withRest(SHAPE, { type: "text", text: refusal ?? text ?? "" }, original);
  if (image !== undefined) return withRest(SHAPE, placeholderBlock(`image ${image.url}`), original);
  if (audio !== undefined || file !== undefined)
    return withRest(SHAPE, placeholderBlock(file?.filename ?? part.type), original);
  return foreignBlock(SHAPE, part);
}

function knownBlock(part: OpenAIPartLike): ContentBlock | null {
  const { type, text = "", image_url: image, input_audio: audio, file } = part;
  if (type === "text") return { type, text };
  if (type === "image_url" && image !== undefined) {
    const bytes = fromDataUrl(image.url);
    if (bytes === null) return null;
    const block: ContentBlock = { type: "image", ...bytes };
    return image.detail === undefined ? block : withMetadata(block, "openai", { imageDetail: image.detail });
  }
  if (type === "input_audio" && (audio?.format === "wav" || audio?.format === "mp3"))
    return {
      type: "audio",
      mediaType: audio.format === "wav" ? "audio/wav" : "audio/mpeg",
      data: audio.data,
    };
  if (type !== "file" || file?.file_data === undefined) return null;
  const bytes = fromDataUrl(file.file_data);
  const name = file.filename === undefined ? {} : { name: file.filename };
  return bytes === null ? null : { type: "file", ...bytes, ...name };
}

/** The part that a block makes by itself; null where the request has none for it. */
function partOf(block: ContentBlock): Part | null {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image": {
      const { imageDetail: detail } = (optionsOf(block)["openai"] ?? {}) as { imageDetail?: "low" };
      const url = `data:${block.mediaType};base64,${mediaData(block)}`;
      return { type: "image_url", image_url: { url, ...(detail === undefined ? {} : { detail }) } };
    }
    case "audio": {
      const format = AUDIO[block.mediaType];
      return format === undefined
        ? null
        : { type: "input_audio", input_audio: { data: mediaData(block), format } };
    }
    case "file": {
      const filename = block.name === undefined ? {} : { filename: block.name };
      const file_data = `data:${block.mediaType};base64,${mediaData(block)}`;
      return { type: "file", file: { ...filename, file_data } };
    }
    default:
      return null;
  }
}

const AUDIO: { readonly [mediaType: string]: "wav" | "mp3" } = {
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
};

const READ = ["role", "content", "tool_calls", "function_call", "tool_call_id", "refusal"];

function read(wire: OpenAIMessageLike): Message {
  const content = blocksOf(wire.content);
  const { role } = wire;
  if (role === "tool" || role === "function") {
    const toolCallId = wire.tool_call_id ?? wire.name ?? "";
    const rest = restOf(wire, role === "function" ? [...READ, "name"] : READ);
    return withMessageRest(SHAPE, { role: "toolResult", toolCallId, content }, rest);
  }
  const rest = restOf(wire, READ);
  if (role !== "assistant") return withMessageRest(SHAPE, { role: "user", content }, rest);
  const { refusal, function_call: former } = wire;
  const refused = refusal == null ? [] : [blockOf({ type: "refusal", refusal })];
  const calls = [
    ...(wire.tool_calls ?? []),
    // Before calls had ids they went by their names, as their results do.
    ...(former == null ? [] : [{ id: former.name, type: "function", function: former }]),
  ].map(callBlock);
  return withMessageRest(SHAPE, { role, content: [...content, ...refused, ...calls] }, rest);
}

function callBlock(call: OpenAICallLike): ContentBlock {
  const { id, type, function: toolFunction } = call;
  const raw = toolFunction?.arguments ?? "{}";
  const input = parsed(raw);
  const bare: ToolCall = { type: "toolCall", id, name: toolFunction?.name ?? type, input };
  const block = JSON.stringify(input) === raw ? bare : withMetadata(bare, "holdfast", { input: raw });
  return withRest(SHAPE, block, { part: call, written: callOf(block) });
}

/** Parses JSON; other text stays text. */
function parsed(text: string): Json {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

function callOf(block: ToolCall): OpenAICall {
  const { id, name } = block;
  return { id, type: "function", function: { name, arguments: callInput(block) } };
}

function write({ message, omit }: Outgoing): readonly OpenAIMessage[] {
  const { role, content, toolCallId = "", isError } = message;
  const rest = messageRestOf(SHAPE, message);
  if (role === "user") {
    const parts = content.flatMap((block) => sentPart<Part>(SHAPE, block, partOf(block), omit));
    return parts.length === 0 && content.length > 0 ? [] : [{ role, content: textOr(parts), ...rest }];
  }
  const texts = content.flatMap((block) => sentText(block, omit));
  if (role === "toolResult") {
    if (isError === true) omit("isError", "results cannot be marked as errors");
    return [{ role: "tool", tool_call_id: toolCallId, content: textOr(texts), ...rest }];
  }
  const calls = content.flatMap((block) =>
    block.type === "toolCall" ? [withOriginal(SHAPE, block, callOf(block)) ?? callOf(block)] : [],
  );
  if (texts.length + calls.length === 0 && content.length > 0) return [];
  const text = texts.length === 0 ? null : plain(texts);
  return [{ role, content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }), ...rest }];
}

function textOr<P extends Part>(parts: P[]): string | P[] {
  return parts.length === 0 ? "" : plain(parts);
}

function sentText(block: ContentBlock, omit: OnOmit): readonly TextPart[] {
  if (block.type === "toolCall") return [];
  const part: TextPart | null = block.type === "text" ? { type: "text", text: block.text } : null;
  return sentPart(SHAPE, block, part, omit).filter(({ text }) => text !== "");
}
