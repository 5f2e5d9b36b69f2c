import { type Fields, fieldsOf, listIn, textIn, wordsIn } from "#log/json/json-fields";
import {
  type FailureSigns,
  PLAIN_DIALECT,
  type ProgramMessages,
  resumesBy,
  type Vendor,
  type EndingExample,
} from "#vendors/vendor";
import { neverRan } from "./call-outcome.ts";
import { claudeStore } from "./claude-store.ts";
import { transcriptReader } from "./transcript-reader.ts";
import type { TurnEvent } from "#turn/rules/turn-event";
import { CODE_ENDINGS, type EndingTable, STATUS_ENDINGS, TOO_MANY } from "#turn/rules/classify";
import { DISGUISED, LIMITS, LOGINS, MONEY, NETWORK, OVERLOADS } from "#turn/rules/service-endings";
import { PROCESS_GONE, SESSION_GONE } from "#vendors/shared-endings";

export const CLAUDE_ENDINGS: EndingTable = [
  ...DISGUISED,
  { on: "kind", is: ["image_error"], class: "poisoned" },
  { on: "kind", is: ["prompt_too_long", "rapid_refill_breaker"], class: "too_long" },
  { on: "kind", is: ["aborted_streaming", "aborted_tools"], class: "cancelled" },
  {
    on: "kind",
    is: ["max_turns", "stop_hook_prevented", "hook_stopped", "tool_deferred"],
    class: "completed",
  },
  ...PROCESS_GONE,
  ...STATUS_ENDINGS,
  ...CODE_ENDINGS,
  ...NETWORK,
  ...OVERLOADS.slice(1),
  ...MONEY,
  { on: "kind", is: ["blocking_limit"], class: "limit" },
  ...TOO_MANY,
  ...LIMITS,
  ...LOGINS,
  ...OVERLOADS,
  ...SESSION_GONE,
];

/** As they were seen, word for word. */
const CLAUDE_EXAMPLES: readonly EndingExample[] = [
  ["auth", "Authentication required", -32000],
  ["auth", "Not logged in · Please run /login"],
  ["auth", "OAuth token revoked · Please run /login"],
  ["auth", "Invalid API key · Fix external API key"],
  ["auth", 'Failed to authenticate. API Error: 401 {"type":"error"}'],
  ["auth", "Failed to authenticate. API Error: 403 Forbidden"],
  ["auth", "Your account does not have access to Claude Code. Please run /login."],
  ["auth", "Your ANTHROPIC_API_KEY belongs to a disabled organization · Unset it"],
  ["auth", "Internal error", -32603, { errorKind: "authentication_failed" }],
  ["overloaded", "Authentication error · This may be a temporary network issue, please try again"],
  ["overloaded", "Request timed out"],
  ["overloaded", "read ECONNRESET"],
  ["overloaded", "API Error: 529 Overloaded", -32603, { errorKind: "rate_limit" }],
  ["overloaded", "Internal error", -32603, { errorKind: "rate_limit", status: 529 }],
  ["overloaded", "Repeated 529 Overloaded errors"],
  ["overloaded", "Internal error", -32603, { error: { type: "overloaded_error" } }],
  ["overloaded", "Opus is experiencing high load, please use /model to switch to Sonnet"],
  ["overloaded", "API Error: 500 Internal server error", -32603, { errorKind: "server_error" }],
  [
    "failed",
    "API Error: Extra usage is required for 1M context · enable it",
    -32603,
    { status: 429, errorKind: "rate_limit" },
  ],
  ["limit", "You've hit your session limit · resets 3pm"],
  ["limit", "You've hit your weekly limit · resets Monday"],
  ["limit", "You've hit your Opus limit · resets 3pm"],
  ["limit", "You've hit your Sonnet limit · resets 3pm"],
  ["limit", "You've hit your usage limit · resets 3pm"],
  ["limit", "You've hit your limit · resets 3pm"],
  ["limit", "You're out of extra usage · resets 3pm"],
  ["limit", "API Error: Request rejected (429) · try later", -32603, { errorKind: "rate_limit" }],
  ["limit", "API Error: 429 Too many requests"],
  ["limit", "Rate limit reached for organization"],
  ["limit", "Quota exceeded"],
  ["limit", "rate limit status: rejected"],
  ["limit", "We are unable to verify your membership"],
  ["limit", "Internal error", -32603, { terminal_reason: "blocking_limit" }],
  ["credit", "Credit balance is too low", -32603, { errorKind: "billing_error" }],
  ["credit", "Credit balance is too low"],
  ["credit", "Insufficient account credit"],
  ["credit", "Payment required", 402],
  ["too_long", "Prompt is too long"],
  ["too_long", "Prompt is too long", -32603, { errorKind: "invalid_request" }],
  ["too_long", "Internal error", -32603, { terminal_reason: "prompt_too_long" }],
  ["poisoned", "Internal error", -32603, { terminal_reason: "image_error" }],
  ["poisoned", "API Error: 400 messages.3: image exceeds the 5 MB limit"],
  ["poisoned", "Unable to resize image"],
  ["poisoned", "At least one of the image dimensions exceed max allowed size"],
  ["lost", "Resource not found: 0199c1c4-7d7e-7e10-8e55-5a2c1f5f1111", -32002, { sessionId: "0199c1c4" }],
  ["lost", "Internal error", -32603, { details: "Session not found" }],
  ["lost", "No conversation found with session ID: 0199c1c4"],
  ["lost", "Query closed before response received"],
  [
    "lost",
    "Internal error",
    -32603,
    { details: "--resume requires a valid session ID when used with --print" },
  ],
  ["crashed", "The Claude Agent process exited unexpectedly. Please start a new session."],
  ["crashed", "ACP process exited (code 134)", null],
  ["crashed", "JavaScript heap out of memory", null],
  ["cancelled", "Internal error", -32603, { terminal_reason: "aborted_tools" }],
  // Not seen: made from the rule.
  ["completed", "Internal error", -32603, { terminal_reason: "max_turns" }],
  ["failed", "An unknown failure"],
];

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const UPDATE = "npm install -g @agentclientprotocol/claude-agent-acp@latest";

/** Which messages Claude keeps, when it waits, when a limit ends: its adapter sends none of it in the protocol's own members. */
const CLAUDE_MESSAGES: ProgramMessages = {
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

/** A limit is announced long before it is reached. */
function rejectedLimit(limit: Fields): FailureSigns {
  return limit["status"] === "rejected" ? { limit } : {};
}

function waitingEvent(raw: Fields): TurnEvent {
  const { attempt, max_retries: most, error_status: status, error, retry_delay_ms: delay } = raw;
  const why = typeof status === "number" ? `HTTP ${status}` : wordsIn(error);
  const text = `The model's service rejected the request (${why}). Attempt ${Number(attempt)} of ${Number(most)} failed`;
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

/** Claude Code behind claude-agent-acp. */
export const CLAUDE: Vendor = {
  name: "claude",
  endings: CLAUDE_ENDINGS,
  examples: CLAUDE_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    remarksLackId: true,
    remarkId: UUID,
    programMessages: CLAUDE_MESSAGES,
    forks: true,
    windowTokens: 200_000,
    keepsPrompt: true,
    takesCommands: true,
    clears: ["clear", "new", "reset"],
    failureIn: (update) => rejectedLimit(fieldsOf(fieldsOf(update["_meta"])["_claude/rateLimit"])),
    toolName: (meta) => textIn(fieldsOf(meta["claudeCode"])["toolName"]),
    neverRan: (update) => neverRan(update, fieldsOf(fieldsOf(update["_meta"])["claudeCode"])),
    // Towards hosts that know no compactions, one is shown as a call of this tool.
    compactionTools: ["compact"],
    nestingVariables: ["CLAUDECODE"],
  },
  adapters: [
    {
      name: "@agentclientprotocol/claude-agent-acp",
      oldest: "0.25.0",
      messageIds: "0.42.0",
      update: UPDATE,
    },
    { name: "@zed-industries/claude-agent-acp", oldest: null, update: UPDATE },
    { name: "@zed-industries/claude-code-acp", oldest: null, update: UPDATE },
  ],
  records: {
    folder: ".claude",
    variable: "CLAUDE_CONFIG_DIR",
    fileName: "a transcript of Claude Code",
    open: (configDir) => claudeStore({ configDir }),
    // Any of its records may come first, and each names its type and its session.
    isRecord: (line) => textIn(line["type"]) !== null && textIn(line["sessionId"]) !== null,
    reader: transcriptReader,
  },
  resumeCommand: resumesBy("claude", "--resume"),
};
