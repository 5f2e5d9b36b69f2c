import { type Fields, fieldsOf, listIn, wordsIn } from "#log/json/json-fields";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { FailureSigns, ProgramMessages } from "#vendors/vendor";

/** Which messages Claude keeps, when it waits, when a limit ends: its adapter says none of it in the protocol's words. */
export const CLAUDE_MESSAGES: ProgramMessages = {
  method: "_claude/sdkMessage",
  ask: {
    path: ["_meta", "claudeCode", "emitRawSDKMessages"],
    text: JSON.stringify([
      { type: "assistant" },
      { type: "system", subtype: "api_retry" },
      { type: "rate_limit_event" },
    ]),
  },
  meaning: (message) => {
    const raw = fieldsOf(message);
    if (raw["type"] === "rate_limit_event")
      return { event: null, signs: rejectedLimit(fieldsOf(raw["rate_limit_info"])) };
    if (raw["type"] === "assistant" && (raw["parent_tool_use_id"] ?? null) === null)
      return saidBy(fieldsOf(raw["message"]));
    if (raw["type"] === "system" && raw["subtype"] === "api_retry") return { event: waitingEvent(raw) };
    return { event: null };
  },
};

/** A limit is told of long before it is hit. */
export function rejectedLimit(limit: Fields): FailureSigns {
  return limit["status"] === "rejected" ? { limit } : {};
}

function waitingEvent(raw: Fields): TurnEvent {
  const { attempt, max_retries: most, error_status: status, error, retry_delay_ms: delay } = raw;
  const why = typeof status === "number" ? `HTTP ${status}` : wordsIn(error);
  const text = `The model's service refused (${why}); attempt ${Number(attempt)} of ${Number(most)} failed`;
  return { type: "waiting", text, delayMs: typeof delay === "number" ? delay : 0 };
}

/** One comes for each finished part of a message; those of a subagent are not the conversation's. */
function saidBy(message: Fields): ReturnType<ProgramMessages["meaning"]> {
  const [id, model] = [wordsIn(message["id"]), wordsIn(message["model"])];
  if (id === "" || model === "<synthetic>") return { event: null };
  const text = listIn(message["content"] ?? null)
    .filter((block) => block["type"] === "text")
    .map((block) => wordsIn(block["text"]))
    .join("");
  return { event: { type: "final_text", message: id, text }, ...(model === "" ? {} : { model }) };
}
