import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { SUMMARY_HEADINGS } from "#agent/compaction/summary-request";
import { type SimAct, type SimInput, simActs, piecesOf } from "./sim-orders.ts";
import { readJson } from "#log/json/read-json";

/** It calls no tool: a replay with it differs from one with any other. */
export const CAUTIOUS_SIM = "sim/cautious";

/**
 * A model without a provider: it knows what it is sent and nothing else, and answers the same request always in the same
 * way. It streams, thinks, calls tools and reports what it used, so that a loop can be tried without a key.
 */
export function simModel(id: string): LanguageModelV4 {
  const isCautious = id === CAUTIOUS_SIM;
  return {
    specificationVersion: "v4",
    provider: "sim",
    modelId: id.replace(/^sim\//, ""),
    supportedUrls: {},
    doStream: async (options) => {
      const refused = refusedPrompt(options.prompt);
      if (refused !== null) throw Object.assign(new Error(refused), { statusCode: 400 });
      return { stream: streamOf(options, isCautious) };
    },
    doGenerate: (options) => Promise.resolve(wholeOf(options, isCautious)),
  };
}

function streamOf(
  options: LanguageModelV4CallOptions,
  isCautious: boolean,
): ReadableStream<LanguageModelV4StreamPart> {
  const parts = partsOf(options, isCautious);
  return new ReadableStream({
    pull: (controller) => {
      if (options.abortSignal?.aborted === true) return controller.error(options.abortSignal.reason);
      const { value, done } = parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

function* partsOf(
  options: LanguageModelV4CallOptions,
  isCautious: boolean,
): Generator<LanguageModelV4StreamPart, undefined> {
  const input = { ...inputOf(options), isCautious };
  const acts = simActs(input);
  yield { type: "stream-start", warnings: [] };
  for (const [index, act] of acts.entries()) yield* partsOfAct(act, `${input.answers}_${index}`);
  const calls = acts.some((act) => act.do === "call");
  yield {
    type: "finish",
    finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
    usage: usageOf(options, acts),
  };
}

function* partsOfAct(act: SimAct, id: string): Generator<LanguageModelV4StreamPart, undefined> {
  if (act.do === "call") {
    const call = `call_${id}`;
    yield { type: "tool-input-start", id: call, toolName: act.name };
    for (const delta of piecesOf(act.input)) yield { type: "tool-input-delta", id: call, delta };
    yield { type: "tool-input-end", id: call };
    yield { type: "tool-call", toolCallId: call, toolName: act.name, input: act.input };
    return;
  }
  const kind = act.do === "think" ? "reasoning" : "text";
  yield { type: `${kind}-start`, id };
  for (const delta of piecesOf(act.text)) yield { type: `${kind}-delta`, id, delta };
  yield { type: `${kind}-end`, id };
}

function wholeOf(options: LanguageModelV4CallOptions, isCautious: boolean): LanguageModelV4GenerateResult {
  const acts = simActs({ ...inputOf(options), isCautious });
  const content = acts.map((act, index): LanguageModelV4Content => {
    if (act.do !== "call") return { type: act.do === "think" ? "reasoning" : "text", text: act.text };
    return { type: "tool-call", toolCallId: `call_0_${index}`, toolName: act.name, input: act.input };
  });
  const calls = acts.some((act) => act.do === "call");
  const finishReason = { unified: calls ? "tool-calls" : "stop", raw: undefined } as const;
  return { content, finishReason, usage: usageOf(options, acts), warnings: [] };
}

/** A reminder that accompanies a prompt. */
const REMINDER = /^<system-reminder>[\s\S]*<\/system-reminder>$/;

function inputOf({ prompt, tools = [] }: LanguageModelV4CallOptions): SimInput {
  const messages = prompt.filter((message) => message.role !== "user" || messageText(message) !== "");
  const last = messages.findLastIndex((message) => message.role === "user");
  const since = messages.slice(last + 1);
  const newest = messages.at(-1);
  return {
    prompt: last === -1 ? "" : messageText(messages[last]),
    answers: since.filter((message) => message.role === "assistant").length,
    results: newest?.role === "tool" ? newest.content.map(resultText) : [],
    texts: messages.map(messageText),
    tools: tools.map(({ name }) => name),
    isSummary: messages.some((message) => message.role === "system" && isSummarySystem(message.content)),
  };
}

function isSummarySystem(system: string): boolean {
  return SUMMARY_HEADINGS.every((heading) => system.includes(heading));
}

type ToolPart = Extract<LanguageModelV4Message, { role: "tool" }>["content"][number];

function resultText(part: ToolPart): string {
  if (part.type !== "tool-result") return "";
  const { output } = part;
  if (output.type === "execution-denied") return output.reason ?? "";
  if (output.type === "content")
    return output.value.map((one) => (one.type === "text" ? one.text : "")).join("");
  return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
}

function messageText(message: LanguageModelV4Message | undefined): string {
  if (message === undefined) return "";
  if (message.role === "system") return message.content;
  if (message.role === "tool") return message.content.map(resultText).join("\n");
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.filter((text) => !REMINDER.test(text.trim())).join("\n");
}

const CHARS_PER_TOKEN = 4;

function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN);
}

/** What it was sent before counts as read from a cache: everything up to its last answer, which an earlier request began with. */
function usageOf(
  { prompt, tools = [] }: LanguageModelV4CallOptions,
  acts: readonly SimAct[],
): LanguageModelV4Usage {
  const last = prompt.findLastIndex((message) => message.role === "assistant");
  const cacheRead = last === -1 ? 0 : tokensOf(tools) + tokensOf(prompt.slice(0, last));
  const total = Math.max(cacheRead, tokensOf(tools) + tokensOf(prompt));
  const reasoning = tokensOf(acts.filter((act) => act.do === "think"));
  const text = tokensOf(acts);
  return {
    inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: undefined },
    outputTokens: { total: text, text: text - reasoning, reasoning },
  };
}

/** Why a service would answer a request with 400; null where every one of them accepts it. For models that stand in for one. */
export function refusedPrompt(prompt: LanguageModelV4Prompt): string | null {
  const messages = prompt.filter(({ role }) => role !== "system");
  if (messages[0]?.role !== "user") return "the first message must be the user's";
  let open: readonly string[] = [];
  for (const message of messages) {
    const results = idsIn(message, "tool-result");
    if (message.role === "tool" ? !isSame(open, results) : open.length > 0)
      return `the calls [${open.join()}] have the results [${results.join()}]`;
    if (message.content.length === 0) return `a message of the ${message.role} is empty`;
    if (hasBlankText(message)) return `a text of the ${message.role} is blank`;
    if (hasOddInput(message)) return "the input of a call must be an object";
    open = message.role === "assistant" ? idsIn(message, "tool-call") : [];
    if (new Set(open).size < open.length) return "the ids of calls must be unique";
  }
  return open.length === 0 ? null : `the calls [${open.join()}] have no results`;
}

type Part = Exclude<LanguageModelV4Message["content"], string>[number];

function messageParts({ content }: LanguageModelV4Message): readonly Part[] {
  return typeof content === "string" ? [] : content;
}

/** Calls that the provider runs itself are answered in the same message. */
function idsIn(message: LanguageModelV4Message, type: "tool-call" | "tool-result"): readonly string[] {
  const isWanted = type === "tool-call" ? message.role === "assistant" : message.role === "tool";
  return messageParts(message).flatMap((part) => {
    if (!isWanted || part.type !== type || !("toolCallId" in part)) return [];
    return "providerExecuted" in part && part.providerExecuted ? [] : [part.toolCallId];
  });
}

/** An empty text may carry a signature. */
function hasBlankText(message: LanguageModelV4Message): boolean {
  return messageParts(message).some(
    (part) => part.type === "text" && part.text.trim() === "" && part.providerOptions === undefined,
  );
}

function hasOddInput(message: LanguageModelV4Message): boolean {
  return messageParts(message).some((part) => part.type === "tool-call" && !isObject(part.input));
}

function isObject(input: unknown): boolean {
  try {
    const value = typeof input === "string" ? readJson(input) : input;
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join("\n") === others.toSorted().join("\n");
}
