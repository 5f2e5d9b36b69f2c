/** What real agents say at the end, word for word, and what it means. */
import { expect, test } from "vitest";
import { classifyEnd, type EndSigns } from "#sending/rules/classify";
import type { EndingClass } from "#log/ending-class";
import type { Json } from "#log/json/json-text";

function failure(message: string, code: number | string | null = -32603, data: Json = null): EndSigns {
  return { stopReason: null, error: { code, message, data }, exited: false };
}

type Said = readonly [EndingClass, string, (number | string | null)?, Json?];

const CLAUDE: readonly Said[] = [
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
  ["failed", "Something nobody has seen before"],
];

const CODEX: readonly Said[] = [
  ["auth", "Authentication required", -32000],
  ["auth", "Internal error", -32603, { message: "no", codex_error_info: "unauthorized" }],
  ["lost", "Resource not found", -32002, { sessionId: "x" }],
  ["lost", "Internal error", -32603, { details: "no rollout found for thread id 0199" }],
  ["too_long", "Internal error", -32603, { message: "full", codex_error_info: "context_window_exceeded" }],
  [
    "limit",
    "Internal error",
    -32603,
    { message: "You've hit your usage limit.", codex_error_info: "usage_limit_exceeded" },
  ],
  [
    "limit",
    "Internal error",
    -32603,
    {
      message: "You’ve hit your usage limit. Upgrade or try again at 3:28 AM.",
      codexErrorInfo: "usageLimitExceeded",
    },
  ],
  ["limit", "You’ve hit your usage limit. Try again at 3:28 AM."],
  [
    "limit",
    "Internal error",
    -32603,
    { codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: 429 } } },
  ],
  [
    "overloaded",
    "Internal error",
    -32603,
    { codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: null } } },
  ],
  ["overloaded", "Internal error", -32603, { message: "busy", codex_error_info: "server_overloaded" }],
  [
    "overloaded",
    "Internal error",
    -32603,
    { codex_error_info: { http_connection_failed: { http_status_code: 503 } } },
  ],
  [
    "auth",
    "Internal error",
    -32603,
    { codex_error_info: { http_connection_failed: { http_status_code: 401 } } },
  ],
  ["overloaded", "Internal error", -32603, { codex_error_info: "response_too_many_failed_attempts" }],
  ["failed", "Internal error", -32603, { message: "bad", codex_error_info: "bad_request" }],
  ["failed", "Internal error", -32603, { message: "denied", codex_error_info: "sandbox_error" }],
];

const OPENCODE: readonly Said[] = [
  ["lost", "OpenCode service failure", -32603],
  ["lost", "Invalid params", -32602],
  ["auth", "Internal error: invalid x-api-key", -32603, { service: "session", errorName: "APIError" }],
  ["limit", "Internal error: Too many requests", -32603, { service: "session", errorName: "APIError" }],
  ["failed", "Internal error: what", -32603, { service: "session", errorName: "APIError" }],
];

const GEMINI: readonly Said[] = [
  ["lost", "Internal error", -32603, { details: "Invalid session identifier abc" }],
  ["lost", "Session not found", -32602],
  ["limit", "Quota exceeded for this project", 429],
];

const GENERIC: readonly Said[] = [
  ["limit", "Rate limited", -32003],
  ["expired", "Session expired"],
  ["overloaded", "Service unavailable", 503],
];

const SAID = Object.entries({
  claude: CLAUDE,
  codex: CODEX,
  opencode: OPENCODE,
  gemini: GEMINI,
  grok: GENERIC,
}).flatMap(([agent, rows]) =>
  rows.map(
    ([expected, message, code = -32603, data = null]) =>
      [agent, expected, message, failure(message, code, data)] as const,
  ),
);

test.each(SAID)("%s means %s by: %s", (agent, expected, _, end) => {
  expect(classifyEnd(agent, end).class).toBe(expected);
});

test.each([
  ["end_turn", "completed"],
  ["max_tokens", "completed"],
  ["refusal", "completed"],
  ["cancelled", "cancelled"],
  [null, "failed"],
] as const)("a stop for %s is %s", (stopReason, expected) => {
  expect(classifyEnd("claude", { stopReason, error: null, exited: false }).class).toBe(expected);
});

test("a process that is gone has crashed, unless it said something better first", () => {
  expect(classifyEnd("claude", { stopReason: null, error: null, exited: true }).class).toBe("crashed");
  expect(classifyEnd("claude", { ...failure("what"), exited: true }).class).toBe("crashed");
  expect(classifyEnd("claude", { ...failure("Not logged in · Please run /login"), exited: true }).class).toBe(
    "auth",
  );
});

test.each([
  [
    { rate_limit_info: { status: "rejected", resetsAt: 1_767_230_000 } },
    "You've hit your session limit · resets 3pm",
    1_767_230_000_000,
  ],
  [{ resets_at: 1_767_230_000_500 }, "You've hit your limit", 1_767_230_000_500],
  [{ resetsAt: "2026-01-01T01:13:20Z" }, "You've hit your limit", 1_767_230_000_000],
  [null, "You've hit your limit · resets 2026-01-01T02:13:20.250+01:00", 1_767_230_000_250],
  [null, "Claude AI usage limit reached|1767230000", 1_767_230_000_000],
  [null, "You've hit your session limit · resets 3pm", null],
  [null, "You’ve hit your usage limit. Try again at 3:28 AM.", null],
  [{ resetsAt: -5 }, "You've hit your limit", null],
] as const)("reads when a limit ends where that can be known: %j %s", (data, message, expected) => {
  expect(classifyEnd("claude", failure(message, -32603, data))).toMatchObject({
    class: "limit",
    resetAtMs: expected,
  });
});

test("a moment with its zone is the same here as everywhere", () => {
  for (const iso of [
    "1970-01-01T00:00:00Z",
    "2000-02-29T23:59:59Z",
    "2024-02-29T12:00:00+05:30",
    "2026-12-31T23:59:59.999-08:00",
    "2100-03-01T00:00:00Z",
  ])
    expect(classifyEnd("claude", failure(`You've hit your limit · resets ${iso}`)).resetAtMs).toBe(
      Date.parse(iso),
    );
});

test("people are shown the words that say something", () => {
  expect(
    classifyEnd(
      "codex",
      failure("Internal error", -32603, {
        message: "You’ve hit your usage limit.",
        codexErrorInfo: "usageLimitExceeded",
      }),
    ).message,
  ).toBe("You’ve hit your usage limit.");
});

test("scenario 36: a turn that ends well is a success, whatever was rejected on the way", () => {
  expect(classifyEnd("claude", { stopReason: "end_turn", error: null, exited: false })).toEqual({
    class: "completed",
    message: "",
    resetAtMs: null,
  });
});

test("scenario 40: a model one may not use comes as a 429 and is no limit: nobody waits for a reset", () => {
  const end = failure("API Error: Extra usage is required for 1M context · enable extra usage", -32603, {
    status: 429,
    rate_limit_info: { status: "rejected", resetsAt: 1_767_230_000 },
  });
  expect(classifyEnd("claude", end)).toMatchObject({ class: "failed", resetAtMs: null });
});
