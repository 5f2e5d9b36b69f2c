import type { EndingClass } from "#log/ending-class";

/**
 * One line of an agent's table: where to look, what to find there, what it means. Lines are tried in order and the
 * first that fits decides.
 */
export type Rule =
  | { readonly on: "code"; readonly is: readonly (number | string)[]; readonly class: EndingClass }
  | { readonly on: "status"; readonly is: readonly number[]; readonly class: EndingClass }
  | { readonly on: "kind"; readonly is: readonly string[]; readonly class: EndingClass }
  | { readonly on: "text"; readonly like: RegExp; readonly class: EndingClass };

// What cannot be mistaken, whoever says it, and what is dressed up as something else: a model one may not use comes
// as a 429, so it is looked for before any status.
const DISGUISED: readonly Rule[] = [
  {
    on: "text",
    like: /extra usage is required for|does not have access to (?:the )?model/i,
    class: "failed",
  },
  {
    on: "text",
    like: /image.{0,80}(?:too large|too big|exceeds.{0,40}limit|dimension)|unable to resize image|content too long|at least one of the image/i,
    class: "poisoned",
  },
  {
    on: "text",
    like: /prompt is too long|context.{0,20}(?:window|length).{0,20}exceeded/i,
    class: "too_long",
  },
  { on: "text", like: /temporary network issue/i, class: "overloaded" },
];

// The status of the wire says more than the type a client library puts on it: a 529 is typed `rate_limit`.
const STATUSES: readonly Rule[] = [
  { on: "status", is: [529, 500, 502, 503, 504], class: "overloaded" },
  { on: "status", is: [401, 403], class: "auth" },
  { on: "status", is: [402], class: "credit" },
  { on: "status", is: [413], class: "too_long" },
  { on: "status", is: [410], class: "expired" },
];

const LATE_STATUSES: readonly Rule[] = [{ on: "status", is: [429], class: "limit" }];

const NETWORK: readonly Rule[] = [
  {
    on: "text",
    like: /request timed out|econnreset|econnrefused|etimedout|epipe|socket hang up|fetch failed|network error|authentication error · this may be/i,
    class: "overloaded",
  },
];

const SESSION_GONE: readonly Rule[] = [
  { on: "text", like: /session (?:has )?expired|conversation (?:has )?expired/i, class: "expired" },
  {
    on: "text",
    like: /resource not found|no conversation found with session id|session (?:\S+ )?not found|unknown session|no rollout found for thread id|invalid session identifier|query closed before response received|requires a valid session id/i,
    class: "lost",
  },
];

const PROCESS_GONE: readonly Rule[] = [
  {
    on: "text",
    like: /process exited|javascript heap out of memory|fatalprocessoutofmemory|failed to reserve virtual memory/i,
    class: "crashed",
  },
];

const MONEY: readonly Rule[] = [
  { on: "kind", is: ["billing_error", "insufficient_quota"], class: "credit" },
  {
    on: "text",
    like: /credit balance is too low|insufficient[^.]{0,25}(?:credit|funds|balance|quota)/i,
    class: "credit",
  },
];

const LIMITS: readonly Rule[] = [
  {
    on: "kind",
    is: ["rate_limit", "rate_limit_error", "usage_limit_exceeded", "usage_limit_reached"],
    class: "limit",
  },
  {
    on: "text",
    like: /you['’]ve hit your (?:\w+ )?limit|out of extra usage|usage limit reached|rate.?limit(?:ed| reached|[^.]{0,30}rejected)|too many requests|quota exceeded|unable to verify[^.]{0,20}membership/i,
    class: "limit",
  },
];

const LOGINS: readonly Rule[] = [
  { on: "kind", is: ["authentication_failed", "authentication_error", "unauthorized"], class: "auth" },
  {
    on: "text",
    like: /please run \/login|not logged in|oauth token (?:revoked|expired)|invalid (?:x-)?api.key|failed to authenticate|disabled organization|authentication required|unauthorized/i,
    class: "auth",
  },
];

const OVERLOADS: readonly Rule[] = [
  {
    on: "kind",
    is: ["overloaded_error", "server_overloaded", "server_error", "api_error"],
    class: "overloaded",
  },
  { on: "text", like: /overloaded|experiencing high load/i, class: "overloaded" },
];

const CLAUDE: readonly Rule[] = [
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
  ...STATUSES,
  { on: "code", is: [-32000], class: "auth" },
  { on: "code", is: [-32002], class: "lost" },
  ...NETWORK,
  ...OVERLOADS.slice(1),
  ...MONEY,
  { on: "kind", is: ["blocking_limit"], class: "limit" },
  ...LATE_STATUSES,
  ...LIMITS,
  ...LOGINS,
  ...OVERLOADS,
  ...SESSION_GONE,
];

const CODEX: readonly Rule[] = [
  ...DISGUISED,
  { on: "kind", is: ["context_window_exceeded"], class: "too_long" },
  { on: "kind", is: ["usage_limit_exceeded"], class: "limit" },
  { on: "kind", is: ["server_overloaded"], class: "overloaded" },
  { on: "kind", is: ["unauthorized"], class: "auth" },
  ...PROCESS_GONE,
  ...STATUSES,
  { on: "code", is: [-32000], class: "auth" },
  { on: "code", is: [-32002], class: "lost" },
  ...MONEY,
  ...LATE_STATUSES,
  ...LIMITS,
  {
    on: "kind",
    is: ["http_connection_failed", "response_stream_disconnected", "response_too_many_failed_attempts"],
    class: "overloaded",
  },
  { on: "kind", is: ["bad_request", "sandbox_error"], class: "failed" },
  ...NETWORK,
  ...LOGINS,
  ...OVERLOADS,
  ...SESSION_GONE,
];

const OPENCODE: readonly Rule[] = [
  ...DISGUISED,
  ...PROCESS_GONE,
  ...STATUSES,
  { on: "code", is: [-32000], class: "auth" },
  { on: "code", is: [-32602, -32002], class: "lost" },
  { on: "text", like: /opencode service failure/i, class: "lost" },
  ...LATE_STATUSES,
  ...MONEY,
  ...LIMITS,
  // It calls every failed model call an APIError; only its words tell them apart.
  ...LOGINS,
  ...NETWORK,
  ...OVERLOADS,
  ...SESSION_GONE,
];

const GENERIC: readonly Rule[] = [
  ...DISGUISED,
  ...PROCESS_GONE,
  ...STATUSES,
  { on: "code", is: [-32000], class: "auth" },
  { on: "code", is: [-32002], class: "lost" },
  { on: "code", is: [-32003], class: "limit" },
  ...SESSION_GONE,
  ...NETWORK,
  ...MONEY,
  ...LATE_STATUSES,
  ...LIMITS,
  ...LOGINS,
  ...OVERLOADS,
];

const GEMINI: readonly Rule[] = [
  { on: "text", like: /invalid session identifier|session not found/i, class: "lost" },
  ...GENERIC,
];

/** What each agent means by what it says, in the order to test it. Agents that are not listed use `generic`. */
export const ENDING_TABLES: { readonly [agent: string]: readonly Rule[] } & {
  readonly generic: readonly Rule[];
} = {
  claude: CLAUDE,
  codex: CODEX,
  opencode: OPENCODE,
  gemini: GEMINI,
  generic: GENERIC,
};
