import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
  LanguageModelV4FilePart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { ASSISTANT_FIRST, type ContextMessage, openedByUser } from "#log/projections/pairs";
import type { AgentModel, ModelRequest } from "./model.ts";
import { modelFacts } from "./model-table.ts";
import { type RequestContext, assistantParts, CallNames, waitsForProvider } from "./assistant-parts.ts";
import {
  dialectOf,
  showsMediaInResults,
  visibleParts,
  textPart,
  type VisiblePart,
  safeJson,
  safeText,
} from "./message-parts.ts";

/**
 * What a model is sent. Pure, and made of the log's own words alone: the same request gives the same bytes in any process, and
 * one with more messages begins as the one without them.
 */
export function callOptionsOf(model: AgentModel, request: ModelRequest): LanguageModelV4CallOptions {
  const dialect = dialectOf(model.model.provider);
  const names = new CallNames(request.tools.map(({ name }) => name));
  const messages = messagesOf(request.messages, { dialect, model: model.id, names });
  const system: LanguageModelV4Prompt =
    request.system === "" ? [] : [{ role: "system", content: safeText(request.system) }];
  const prompt = [...system, ...openedByUser(messages, OPENING)];
  const sent = dialect === "anthropic" ? withCacheMarks(prompt) : prompt;
  const markTools = dialect === "anthropic" && system.length === 0;
  const tools = toolsOf(request, markTools);
  const options = optionsFor(model, request);
  return {
    prompt: [...sent, ...closingMessages(request)],
    ...(tools.length === 0 ? {} : { tools }),
    ...(model.maxOutput === null ? {} : { maxOutputTokens: model.maxOutput }),
    ...(options === null ? {} : { providerOptions: options }),
  };
}

const OPENING: LanguageModelV4Message = { ...ASSISTANT_FIRST, content: [...ASSISTANT_FIRST.content] };

function messagesOf(messages: readonly ContextMessage[], context: RequestContext): LanguageModelV4Message[] {
  const output: LanguageModelV4Message[] = [];
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (message?.role === "assistant") {
      const content = [...assistantParts(message, context)];
      if (content.length > 0) output.push({ role: "assistant", content });
    } else if (message?.role === "user") {
      const content = [...visibleParts(message.content, context.dialect)];
      if (content.length > 0) output.push({ role: "user", content });
    } else {
      // The results of one answer are one message: a provider that was told of one call at a time would miss the others.
      let end = index + 1;
      while (messages[end]?.role === "toolResult") end++;
      const group = messages.slice(index, end);
      const { results, beside } = toolResultParts(group, context);
      output.push({ role: "tool", content: [...results] });
      if (beside.length > 0) output.push({ role: "user", content: [...beside] });
      index += group.length - 1;
    }
  }
  return output;
}

const GO_ON = "Your last message was interrupted. Continue from there.";

/** What stands behind the newest message and is stored nowhere. */
function closingMessages({ reminder, messages }: ModelRequest): LanguageModelV4Prompt {
  const newest = messages.at(-1);
  if (newest !== undefined && waitsForProvider(newest)) return [];
  // Most models refuse a request that ends with words of their own.
  const texts = [reminder, newest?.role === "assistant" ? GO_ON : null].filter((text) => text !== null);
  if (texts.length === 0) return [];
  const text = `<system-reminder>\n${texts.join("\n\n")}\n</system-reminder>`;
  return [{ role: "user", content: [textPart(text)] }];
}

function toolsOf({ tools }: ModelRequest, mark: boolean): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, inputSchema }, index) => ({
    type: "function",
    name,
    description: safeText(description),
    inputSchema: safeJson(inputSchema) as LanguageModelV4FunctionTool["inputSchema"],
    ...(mark && index === tools.length - 1 ? toolMark : {}),
  }));
}

const CACHE_KEY_CHARS_MAX = 64;

function optionsFor({ id, model }: AgentModel, { cacheKey }: ModelRequest): SharedV4ProviderOptions | null {
  switch (dialectOf(model.provider)) {
    case "openai":
      // Stored there, the history would live at the provider, and the next request could name things that are gone.
      return { openai: { store: false, promptCacheKey: cacheKey.slice(0, CACHE_KEY_CHARS_MAX) } };
    case "anthropic":
      // Thinking that no longer fits what stands before it is better forgotten than the request refused.
      return modelFacts(id).boundThinking === true
        ? { anthropic: { thinking: { blockBinding: { prefixMismatchBehavior: "drop_block" } } } }
        : null;
    default:
      return null;
  }
}

const MARK: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/**
 * Marks up to where a service may keep what it has read. They are set when a request is made and are in no log. Three of the
 * four that are allowed: behind the system prompt and with it the tools; at the newest message, for the next request; and at
 * the message that was the newest in the request before, since a service looks for what it kept only a little way back.
 */
function withCacheMarks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const newest = prompt.length - 1;
  const answer = prompt.findLastIndex(({ role }) => role === "assistant");
  const before = answer === newest ? -1 : answer - 1;
  return prompt.map((message, index) =>
    message.role === "system" || index === newest || index === before ? marked(message) : message,
  );
}

function marked(message: LanguageModelV4Message): LanguageModelV4Message {
  return { ...message, providerOptions: { ...message.providerOptions, ...MARK } };
}

/** For a request without a system prompt: behind its tools. */
const toolMark: { readonly providerOptions: SharedV4ProviderOptions } = { providerOptions: MARK };

/** The results of one answer's calls. */
interface ResultParts {
  readonly results: readonly LanguageModelV4ToolResultPart[];
  /** What results cannot hold for this provider: a person shows it right behind them. */
  readonly beside: readonly VisiblePart[];
}

const NO_OUTPUT = "(no output)"; // an empty result is refused by some

function toolResultParts(messages: readonly ContextMessage[], context: RequestContext): ResultParts {
  const beside: VisiblePart[] = [];
  const results = messages.map((message): LanguageModelV4ToolResultPart => {
    const id = context.names.of(message.toolCallId ?? "");
    const parts = visibleParts(message.content, context.dialect);
    const isSuccess = message.isError !== true;
    const output = outputOf(
      parts.map((part) => {
        if (part.type === "text" || (isSuccess && showsMediaInResults(context.dialect, part.mediaType)))
          return part;
        beside.push(textPart(`[of the result of ${id}]`), part);
        return textPart(`[${part.mediaType}: shown after the results]`);
      }),
      message.isError === true,
    );
    return {
      type: "tool-result",
      toolCallId: id,
      toolName: context.names.name(message.toolName ?? ""),
      output,
    };
  });
  return { results, beside };
}

function outputOf(parts: readonly VisiblePart[], isError: boolean): LanguageModelV4ToolResultOutput {
  if (parts.some(isFile)) return { type: "content", value: parts.map((part) => ({ ...part })) };
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const value = text === "" ? NO_OUTPUT : text;
  return isError ? { type: "error-text", value } : { type: "text", value };
}

function isFile(part: VisiblePart): part is LanguageModelV4FilePart {
  return part.type === "file";
}
