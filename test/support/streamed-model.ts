import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { askModel, type AskOptions } from "#agent/models/ask-model";
import type { AgentModel, ModelOutcome, ModelRequest } from "#agent/models/model";

// A model handed in as an object, whose stream a test writes part by part.

const request: ModelRequest = {
  system: "s",
  tools: [],
  messages: [{ role: "user", content: [{ type: "text", text: "the prompt" }], entryId: null }],
  reminder: null,
  cacheKey: "c",
};
export type Part = LanguageModelV4StreamPart;
const used = {
  inputTokens: { total: 100, noCache: 40, cacheRead: 50, cacheWrite: 10 },
  outputTokens: { total: 7, text: 7, reasoning: 0 },
};
export const finish = (
  unified: "stop" | "tool-calls" | "length" | "error" | "other" | "interrupted" | "content-filter",
  raw?: string,
): Part => ({
  type: "finish",
  finishReason: { unified, raw },
  usage: used,
});
export const text = (words: string, id = "0"): readonly Part[] => [
  { type: "text-start", id },
  { type: "text-delta", id, delta: words },
  { type: "text-end", id },
];
export const call = (toolCallId: string, input: string): Part => ({
  type: "tool-call",
  toolCallId,
  toolName: "read",
  input,
});

export function model(doStream: LanguageModelV4["doStream"], provider = "test.x"): AgentModel {
  const price = { input: 1_000_000, output: 10_000_000, cacheRead: 100_000, cacheWrite: 2_000_000 };
  const made: LanguageModelV4 = {
    specificationVersion: "v4",
    provider,
    modelId: "m",
    supportedUrls: {},
    doStream,
    doGenerate: () => Promise.reject(new Error("not asked")),
  };
  return { id: "test/m", model: made, window: null, maxOutput: null, price };
}

export const streamed = (parts: readonly Part[], provider?: string): AgentModel =>
  model(() => Promise.resolve({ stream: ReadableStream.from(parts) }), provider);

const options = (more: Partial<AskOptions> = {}): AskOptions => ({
  signal: new AbortController().signal,
  silenceMs: 60_000,
  ...more,
});
export const ask = (asked: AgentModel, more: Partial<AskOptions> = {}): Promise<ModelOutcome> =>
  askModel(asked, request, options(more));
