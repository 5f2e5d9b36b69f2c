import type { Json } from "#log/json/json-text";
import type { UpstreamEvent } from "#turn/rules/turn-record";
import { type HiddenFailure } from "./dialect.ts";
import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";

/** The method under which Claude's adapter hands out what its own program says. */
export const RAW_METHOD = "_claude/sdkMessage";

/** What such a message means for the turn; null when nothing. */
export function rawEvent(message: Json, failure: HiddenFailure): UpstreamEvent | null {
  const raw = fieldsOf(message);
  if (raw["type"] === "rate_limit_event") failure.limited(fieldsOf(raw["rate_limit_info"]));
  if (raw["type"] === "assistant")
    return keptEvent(fieldsOf(raw["message"]), raw["parent_tool_use_id"] ?? null);
  if (raw["type"] !== "system" || raw["subtype"] !== "api_retry") return null;
  const { attempt, max_retries: most, error_status: status, error, retry_delay_ms: delay } = raw;
  const why = typeof status === "number" ? `HTTP ${status}` : wordsIn(error);
  const text = `The model's service refused (${why}); attempt ${Number(attempt)} of ${Number(most)} failed`;
  return { type: "waiting", text, delayMs: typeof delay === "number" ? delay : 0 };
}

/** One comes for each finished part of a message; those of a subagent are not the conversation's. */
function keptEvent(message: { readonly [name: string]: Json }, parent: Json): UpstreamEvent | null {
  const id = wordsIn(message["id"]);
  if (id === "" || parent !== null || message["model"] === "<synthetic>") return null;
  const text = listIn(message["content"] ?? null)
    .filter((block) => block["type"] === "text")
    .map((block) => wordsIn(block["text"]))
    .join("");
  return { type: "kept", message: id, text };
}
