import type { RawEnd } from "#upstream/upstream";
import type { Usage } from "#log/message";
import type { Json } from "#log/json/json-text";
import { spanAt, stringAt } from "#edges/acp/wire/spans";
import { type Answer, ConnectionEnded, resultOf } from "#edges/acp/agent/process/connection";
import { type HiddenFailure } from "./hidden-failure.ts";
import { fieldsOf } from "#log/json/json-fields";

/** How a prompt ended, in the agent's own terms, with the failure it did not call one. */
export function endOf(
  answer: Answer | ConnectionEnded,
  turn: { readonly failure: HiddenFailure; readonly startMs: number },
): RawEnd {
  const durationMs = performance.now() - turn.startMs;
  if (answer instanceof ConnectionEnded) {
    const error = { code: null, message: answer.message, data: null };
    return { stopReason: null, error, exited: true, durationMs, usage: null };
  }
  const { message } = answer;
  const common = { exited: false, durationMs, wire: message };
  if (answer.error !== null)
    return { ...common, stopReason: null, error: turn.failure.with(answer.error), usage: null };
  const result = resultOf(answer);
  const stop = message.result === null ? null : spanAt(message.bytes, message.result, ["stopReason"]);
  return {
    ...common,
    stopReason: stringAt(message.bytes, stop) ?? "end_turn",
    error: turn.failure.behind(result),
    usage: usageOf(fieldsOf(fieldsOf(result)["usage"])),
  };
}

const USAGE_NAMES = {
  inputTokens: "inputTokens",
  outputTokens: "outputTokens",
  cacheReadTokens: "cachedReadTokens",
  cacheWriteTokens: "cachedWriteTokens",
} as const;

function usageOf(given: { readonly [name: string]: Json }): Usage | null {
  const counts = Object.entries(USAGE_NAMES).flatMap(([ours, theirs]) => {
    const count = given[theirs];
    return typeof count === "number" && count >= 0 ? [[ours, count] as const] : [];
  });
  // No model was asked, or nobody counted: neither is a figure.
  return counts.every(([, count]) => count === 0) ? null : Object.fromEntries(counts);
}
