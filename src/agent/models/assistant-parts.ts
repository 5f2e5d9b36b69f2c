import type { JSONValue, LanguageModelV4Message, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { BlockExtras, ContentBlock, ToolCall } from "#log/message";
import { callInput } from "#log/raw-input";
import type { Json } from "#log/json/json-text";
import type { ContextMessage } from "#log/projections/pairs";
import {
  type Dialect,
  isBlank,
  labelOf,
  textPart,
  PartsOfBlocks,
  PART_PREFIX,
  type StoredPart,
  storedPart,
  safeJson,
  safeText,
} from "./message-parts.ts";
import { readJson } from "#log/json/read-json";

export type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

/** Whose request it is. */
export interface RequestContext {
  readonly dialect: Dialect;
  /** The `provider/name` that is asked. */
  readonly model: string;
  readonly names: CallNames;
}

/** Converts an assistant message for a request. Parts of another model are sent as plain text or not at all. */
export function assistantParts(message: ContextMessage, request: RequestContext): readonly AssistantPart[] {
  const own = message.model === request.model;
  const thinking = own && message.staleThinking !== true;
  const context = { dialect: request.dialect, own, thinking };
  const way = `${request.dialect} ${own} ${thinking}`;
  return message.content.flatMap((block) => {
    const parts = assistantCache.of(block, way, () => partsOf(block, context));
    // Names alone depend on the calls before it.
    return block.type === "toolCall" ? parts.map((part) => namedCall(part, block, request.names)) : parts;
  });
}

const assistantCache = new PartsOfBlocks<AssistantPart>();

interface PartsContext {
  readonly dialect: Dialect;
  /** The message is of the model that is asked. */
  readonly own: boolean;
  /** Its thinking still stands behind the words that it followed. */
  readonly thinking: boolean;
}

function partsOf(block: ContentBlock, context: PartsContext): readonly AssistantPart[] {
  const options = context.own ? optionsOf(block) : {};
  switch (block.type) {
    case "text":
      // An empty text may carry a signature, and a blank one without is refused.
      if (isBlank(block.text) && options.providerOptions === undefined) return [];
      return [{ ...textPart(block.text), ...options }];
    case "thinking":
      return context.thinking ? thinkingParts(block, context.dialect) : [];
    case "redactedThinking":
      return context.thinking && context.dialect === "anthropic"
        ? [{ type: "reasoning", text: "", ...withOption(block, "anthropic", { redactedData: block.data }) }]
        : [];
    case "toolCall":
      return [{ ...callPart(block), ...options }];
    case "image":
    case "audio":
    case "file":
      return [textPart(`[${labelOf(block)}, created by the model]`)];
    default:
      return context.own && block.type.startsWith(PART_PREFIX) ? storedParts(storedPart(block), options) : [];
  }
}

function thinkingParts(
  block: Extract<ContentBlock, { type: "thinking" }>,
  dialect: Dialect,
): readonly AssistantPart[] {
  const { thinking, signature } = block;
  const signed = signature === undefined ? optionsOf(block) : withOption(block, "anthropic", { signature });
  const own = signed.providerOptions?.[dialect];
  // These two take back what they have signed, and complain of anything else.
  if ((dialect === "anthropic" || dialect === "openai") && own === undefined) return [];
  return [{ type: "reasoning", text: safeText(thinking), ...signed }];
}

function callPart(block: ToolCall): Extract<AssistantPart, { type: "tool-call" }> {
  const { id, name, input } = block;
  return { type: "tool-call", toolCallId: id, toolName: name, input: inputText(block, input) };
}

/** A call under the names that it has in this request. */
function namedCall(part: AssistantPart, { id, name }: ToolCall, names: CallNames): AssistantPart {
  if (part.type !== "tool-call") return part;
  return { ...part, toolCallId: names.next(id), toolName: names.name(name) };
}

/** The input as the text it came in: most packages hand it on as it is, and an object would be written anew. */
function inputText(block: ToolCall, input: Json): string {
  // Services want an object, also in place of what a model has wrongly written.
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return JSON.stringify({ invalid_input: typeof input === "string" ? safeText(input) : input });
  const safe = safeJson(input);
  return safe === input ? callInput(block) : JSON.stringify(safe);
}

/** What only the provider understands goes back as it came. */
function storedParts(part: StoredPart | null, options: Options): readonly AssistantPart[] {
  switch (part?.type) {
    case "tool-call":
      return [{ ...part, type: "tool-call", input: parsed(part.input), providerExecuted: true, ...options }];
    case "tool-result": {
      const { toolCallId, toolName, result, isError } = part;
      const value = result as JSONValue;
      const output =
        isError === true ? { type: "error-json" as const, value } : { type: "json" as const, value };
      return [{ type: "tool-result", toolCallId, toolName, output, ...options }];
    }
    case "custom":
      return [{ type: "custom", kind: part.kind, ...options }];
    case "reasoning-file":
      return [{ type: "reasoning-file", mediaType: part.mediaType, data: part.data, ...options }];
    default:
      return [];
  }
}

function parsed(input: string): unknown {
  try {
    return readJson(input === "" ? "{}" : input);
  } catch {
    return input;
  }
}

type Options = { readonly providerOptions?: SharedV4ProviderOptions };

/** What the provider wants back with a block. What we keep there for ourselves stays here. */
function optionsOf({ providerMetadata }: BlockExtras): Options {
  const { holdfast: _, ...rest } = providerMetadata ?? {};
  return Object.keys(rest).length === 0 ? {} : { providerOptions: rest as SharedV4ProviderOptions };
}

function withOption(
  block: BlockExtras,
  provider: string,
  option: { readonly [name: string]: Json },
): Options {
  const { providerOptions = {} } = optionsOf(block);
  return {
    providerOptions: { ...providerOptions, [provider]: { ...providerOptions[provider], ...option } },
  };
}

const NAME_CHARS_MAX = 64;
const ID_CHARS_MAX = 64;

/**
 * Names and ids of calls as every service takes them. Models make up names, some number their calls anew in every answer, and
 * a conversation may go on with another provider than it began with; a service that does not like one refuses every request
 * from then on. What is given depends on what came before only, so a longer request begins as the shorter one did.
 */
export class CallNames {
  readonly #tools: ReadonlySet<string>;
  readonly #used = new Set<string>();
  /** The count that the latest call of a plain id has: all below it are used. */
  readonly #counts = new Map<string, number>();
  /** Of the newest call of that id: its results stand right behind it. */
  readonly #current = new Map<string, string>();

  constructor(tools: readonly string[]) {
    this.#tools = new Set(tools);
  }

  name(name: string): string {
    if (this.#tools.has(name)) return name;
    const plain = name.replaceAll(/[^\w-]/g, "_").slice(0, NAME_CHARS_MAX);
    return plain === "" ? "unknown" : plain;
  }

  /** The id of a call that comes next. */
  next(id: string): string {
    const plain = id.replaceAll(/[^\w-]/g, "_").slice(0, ID_CHARS_MAX) || "call";
    let callId = plain;
    let count = this.#counts.get(plain) ?? 1;
    while (this.#used.has(callId)) {
      const behind = `_${++count}`;
      callId = plain.slice(0, ID_CHARS_MAX - behind.length) + behind;
    }
    this.#counts.set(plain, count);
    this.#used.add(callId);
    this.#current.set(id, callId);
    return callId;
  }

  /** The id of the call that a result belongs to. */
  of(id: string): string {
    return this.#current.get(id) ?? this.next(id);
  }
}

/** Whether the newest message waits for tools of the provider's own, which go on when it is sent back as it is. */
export function waitsForProvider({ role, content }: ContextMessage): boolean {
  return role === "assistant" && content.some((block: ContentBlock) => block.type === "part/tool-call");
}
