import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "#log/message";
import type { Price } from "./model.ts";

const MILLION = 1_000_000;

/** What was used, with its cost where the price is known. Input counts what came from no cache, as everywhere in a log. */
export function usageOf(given: LanguageModelV4Usage | undefined, price: Price | null): Usage | null {
  if (given === undefined) return null;
  const { inputTokens: input, outputTokens: output } = given;
  const cached = count(input.cacheRead) + count(input.cacheWrite);
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
export function startUsage(raw: unknown, price: Price | null): Usage | null {
  if (typeof raw !== "object" || raw === null) return null;
  const said = raw as { readonly [name: string]: unknown };
  const at = (name: string): number | undefined => (typeof said[name] === "number" ? said[name] : undefined);
  const counts: Usage = {
    ...member("inputTokens", at("input_tokens")),
    ...member("cacheReadTokens", at("cache_read_input_tokens")),
    ...member("cacheWriteTokens", at("cache_creation_input_tokens")),
  };
  return Object.keys(counts).length === 0 ? null : withCost(counts, price);
}

function count(tokens: number | undefined): number {
  return Number.isSafeInteger(tokens) && tokens !== undefined && tokens > 0 ? tokens : 0;
}

function member(name: keyof Usage, tokens: number | undefined): Usage {
  return tokens === undefined || !Number.isSafeInteger(tokens) || tokens < 0 ? {} : { [name]: tokens };
}
