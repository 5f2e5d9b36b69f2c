import type { Usage } from "./message.ts";

export const COUNTERS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "costMicros",
] as const;

export const NO_USAGE: Required<Usage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
};

/** Member by member: it is done for every reply, and a loop over names takes ten times as long. */
export function addUsage(total: Required<Usage>, usage: Usage): Required<Usage> {
  return {
    inputTokens: total.inputTokens + (usage.inputTokens ?? 0),
    outputTokens: total.outputTokens + (usage.outputTokens ?? 0),
    cacheReadTokens: total.cacheReadTokens + (usage.cacheReadTokens ?? 0),
    cacheWriteTokens: total.cacheWriteTokens + (usage.cacheWriteTokens ?? 0),
    costMicros: total.costMicros + (usage.costMicros ?? 0),
  };
}
