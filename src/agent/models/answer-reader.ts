import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  SharedV4Warning,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { ContentBlock, Usage } from "#log/message";
import { type Json, writeJsonObject } from "#log/json/json-text";
import type { Price, ModelEvent } from "./model.ts";
import { partBlock } from "./message-parts.ts";
import { readJson } from "#log/json/read-json";

type Metadata = { readonly [provider: string]: Json };

/** A block while it is being written. */
class OpenBlock {
  readonly kind: "text" | "thinking";
  text: string = "";
  metadata: Metadata;

  constructor(kind: "text" | "thinking", metadata: Metadata) {
    this.kind = kind;
    this.metadata = metadata;
  }
}

/** What parts of one block have in common. */
interface BlockPart {
  readonly type: string;
  readonly id: string;
  readonly providerMetadata?: object;
}

/** Reads the parts of a stream into blocks, in their order, with everything that the provider wants back. */
export class AnswerReader {
  readonly #blocks: (OpenBlock | ContentBlock)[] = [];
  readonly #open = new Map<string, OpenBlock>();
  readonly #inputs = new Map<string, { readonly name: string; chars: number }>();
  readonly #ids = new Set<string>();
  readonly #price: Price | null;
  /** Ids of calls whose input is no JSON. */
  readonly broken: string[] = [];
  readonly warnings: string[] = [];
  /** What the stream told of errors. */
  readonly errors: unknown[] = [];
  finish: LanguageModelV4FinishReason | null = null;
  usage: Usage | null = null;
  /** How much was written by now. */
  chars: number = 0;

  constructor(price: Price | null) {
    this.#price = price;
  }

  /** Adds a part of the stream and returns the event to report, if any. */
  add(part: LanguageModelV4StreamPart): ModelEvent | null {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#start(part);
        return null;
      case "text-delta":
      case "reasoning-delta":
        return this.#append(part);
      case "text-end":
      case "reasoning-end":
        this.#merge(part);
        this.#open.delete(keyOf(part));
        return null;
      case "tool-input-start":
        if (part.providerExecuted !== true) this.#inputs.set(part.id, { name: part.toolName, chars: 0 });
        return this.#writing(part.id, "");
      case "tool-input-delta":
        return this.#writing(part.id, part.delta);
      case "tool-call":
        this.#keep(part.providerExecuted === true ? partBlock(part) : this.#call(part));
        return null;
      case "stream-start":
        this.warnings.push(...part.warnings.map(warningText));
        return null;
      case "finish":
        this.finish = part.finishReason;
        this.usage = usageOf(part.usage, this.#price) ?? this.usage;
        return null;
      case "error":
        this.errors.push(part.error);
        return null;
      default:
        this.#addOther(part);
        return null;
    }
  }

  #addOther(part: LanguageModelV4StreamPart): void {
    // Parts that later versions add are kept as they are.
    if (part.type === "ping" || part.type === "raw" || part.type === "response-metadata") return;
    if (part.type === "tool-input-end" || (part.type === "tool-result" && part.preliminary === true)) return;
    if (part.type === "custom" && part.kind.endsWith(".message_start")) {
      const metadata = Object.values(part.providerMetadata ?? {})[0];
      this.usage = startUsage(metadata?.["usage"], this.#price) ?? this.usage;
      return;
    }
    if (part.type === "file" || part.type === "reasoning-file") this.#keep(fileBlock(part));
    else this.#keep(partBlock(part));
  }

  #start(part: BlockPart): OpenBlock {
    const kind = part.type.startsWith("text") ? "text" : "thinking";
    const block = new OpenBlock(kind, metadataOf(part));
    this.#blocks.push(block);
    this.#open.set(keyOf(part), block);
    return block;
  }

  #append(
    part: Extract<LanguageModelV4StreamPart, { type: "text-delta" | "reasoning-delta" }>,
  ): ModelEvent | null {
    const block = this.#open.get(keyOf(part)) ?? this.#start({ type: part.type, id: part.id });
    block.text += part.delta;
    this.chars += part.delta.length + 1;
    this.#merge(part);
    return part.delta === "" ? null : { type: block.kind, text: part.delta };
  }

  #merge(part: BlockPart): void {
    const block = part.providerMetadata === undefined ? undefined : this.#open.get(keyOf(part));
    if (block !== undefined) block.metadata = mergedMetadata(block.metadata, metadataOf(part));
  }

  #writing(id: string, delta: string): ModelEvent | null {
    const input = this.#inputs.get(id);
    this.chars += delta.length + 1;
    if (input === undefined) return null;
    input.chars += delta.length;
    return { type: "call", call: id, name: input.name, chars: input.chars };
  }

  #keep(block: ContentBlock): void {
    this.#blocks.push(block);
  }

  #call(part: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>): ContentBlock {
    const id = this.#ownId(part.toolCallId);
    const { toolName: name, input: raw } = part;
    this.chars += this.#inputs.has(part.toolCallId) ? 1 : raw.length + 1;
    const input = inputOf(raw);
    if (input === undefined) this.broken.push(id);
    const written = raw === "" ? raw : JSON.stringify(input ?? raw);
    const own = written === raw ? {} : { holdfast: { input: raw } };
    const metadata = { ...metadataOf(part), ...own };
    return { type: "toolCall", id, name, input: input ?? raw, ...extras(metadata) };
  }

  /** Models repeat ids, and leave them out: within an answer every call has one of its own. */
  #ownId(callId: string): string {
    let id = callId === "" ? "call" : callId;
    for (let count = 2; this.#ids.has(id); count++) id = `${callId === "" ? "call" : callId}_${count}`;
    this.#ids.add(id);
    return id;
  }

  content(): readonly ContentBlock[] {
    return this.#blocks.flatMap((block) => (block instanceof OpenBlock ? closed(block) : [block]));
  }
}

function keyOf({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${type.startsWith("text") ? "text" : "thinking"} ${id}`;
}

/** A block without text is kept where it carries something, such as a signature. */
function closed({ kind, text, metadata }: OpenBlock): readonly ContentBlock[] {
  if (kind === "text")
    return text === "" && isEmpty(metadata) ? [] : [{ type: "text", text, ...extras(metadata) }];
  const { redactedData, ...anthropic } = (metadata["anthropic"] ?? {}) as { readonly [name: string]: Json };
  if (typeof redactedData !== "string")
    return text === "" && isEmpty(metadata)
      ? []
      : [{ type: "thinking", thinking: text, ...extras(metadata) }];
  const { anthropic: _, ...others } = metadata;
  const rest = isEmpty(anthropic) ? others : { ...others, anthropic };
  return [{ type: "redactedThinking", data: redactedData, ...extras(rest) }];
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function extras(metadata: Metadata): { readonly providerMetadata?: Metadata } {
  return isEmpty(metadata) ? {} : { providerMetadata: metadata };
}

/** As the log can hold it. */
function metadataOf({ providerMetadata }: { readonly providerMetadata?: object }): Metadata {
  return providerMetadata === undefined ? {} : (readJson(JSON.stringify(providerMetadata)) as Metadata);
}

function mergedMetadata(one: Metadata, other: Metadata): Metadata {
  const merged: { [provider: string]: Json } = { ...one };
  for (const [provider, value] of Object.entries(other))
    merged[provider] = { ...(merged[provider] as object | undefined), ...(value as object) };
  return merged;
}

/** The input of a call as a value; undefined when it is no JSON, or none that a log can hold. */
function inputOf(raw: string): Json | undefined {
  try {
    const input = readJson(raw === "" ? "{}" : raw);
    writeJsonObject({ input });
    return input;
  } catch {
    return undefined;
  }
}

function fileBlock(
  part: Extract<LanguageModelV4StreamPart, { type: "file" | "reasoning-file" }>,
): ContentBlock {
  const { data: content, mediaType } = part;
  if (content.type === "url") return partBlock(part);
  const data = typeof content.data === "string" ? content.data : Buffer.from(content.data).toString("base64");
  if (part.type === "reasoning-file") {
    const stored = { ...part, data: { type: "data", data } };
    return partBlock(stored);
  }
  return {
    type: mediaType.startsWith("image/") ? "image" : "file",
    mediaType,
    data,
    ...extras(metadataOf(part)),
  };
}

const WARNING_CHARS_MAX = 300; // some quote a whole part of the request

function warningText(warning: SharedV4Warning): string {
  const { type, feature, details, message } = warning as { readonly [name: string]: string | undefined };
  return [type, feature, details, message].filter(Boolean).join(": ").slice(0, WARNING_CHARS_MAX);
}

const MILLION = 1_000_000;

/** Converts usage and adds its cost if the price is known. Input excludes cached tokens, as in every log. */
function usageOf(usage: LanguageModelV4Usage | undefined, price: Price | null): Usage | null {
  if (usage === undefined) return null;
  const { inputTokens: input, outputTokens: output } = usage;
  const cached = tokenCount(input.cacheRead) + tokenCount(input.cacheWrite);
  const fresh = input.noCache ?? (input.total === undefined ? undefined : Math.max(0, input.total - cached));
  const counts: Usage = {
    ...member("inputTokens", fresh),
    ...member("outputTokens", output.total),
    ...member("cacheReadTokens", input.cacheRead),
    ...member("cacheWriteTokens", input.cacheWrite),
  };
  return Object.keys(counts).length === 0 ? null : withCost(counts, price);
}

/** In microdollars; what has no price of its own costs what fresh input does. */
function withCost(usage: Usage, price: Price | null): Usage {
  if (price === null) return usage;
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const micros =
    inputTokens * price.input +
    outputTokens * price.output +
    cacheReadTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input);
  return { ...usage, costMicros: Math.round(micros / MILLION) };
}

/** What Anthropic says at the start of a stream, for one that never gets to its end. */
function startUsage(raw: unknown, price: Price | null): Usage | null {
  if (typeof raw !== "object" || raw === null) return null;
  const counters = raw as { readonly [name: string]: unknown };
  const counter = (name: string): number | undefined =>
    typeof counters[name] === "number" ? counters[name] : undefined;
  const counts: Usage = {
    ...member("inputTokens", counter("input_tokens")),
    ...member("cacheReadTokens", counter("cache_read_input_tokens")),
    ...member("cacheWriteTokens", counter("cache_creation_input_tokens")),
  };
  return Object.keys(counts).length === 0 ? null : withCost(counts, price);
}

function tokenCount(tokens: number | undefined): number {
  return Number.isSafeInteger(tokens) && tokens !== undefined && tokens > 0 ? tokens : 0;
}

function member(name: keyof Usage, tokens: number | undefined): Usage {
  return tokens === undefined || !Number.isSafeInteger(tokens) || tokens < 0 ? {} : { [name]: tokens };
}
