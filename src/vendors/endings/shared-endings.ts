import { CODE_ENDINGS, type EndingTable, STATUS_ENDINGS, TOO_MANY } from "#turn/rules/classify";
import type { EndingExample } from "#vendors/vendor";

// What the services of models, networks and the programs around them say. Agents pass it on, also those of another
// vendor, so the tables of all of them are made of these parts.

/**
 * What cannot be mistaken, whoever says it, and what is dressed up as something else: a model one may not use comes as
 * a 429, so it is looked for before any status.
 */
export const DISGUISED: EndingTable = [
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

export const NETWORK: EndingTable = [
  {
    on: "text",
    like: /request timed out|econnreset|econnrefused|etimedout|epipe|socket hang up|fetch failed|network error|authentication error · this may be/i,
    class: "overloaded",
  },
];

export const SESSION_GONE: EndingTable = [
  { on: "text", like: /session (?:has )?expired|conversation (?:has )?expired/i, class: "expired" },
  {
    on: "text",
    like: /resource not found|no conversation found with session id|session (?:\S+ )?not found|unknown session|no rollout found for thread id|invalid session identifier|query closed before response received|requires a valid session id/i,
    class: "lost",
  },
];

export const PROCESS_GONE: EndingTable = [
  {
    on: "text",
    like: /process exited|javascript heap out of memory|fatalprocessoutofmemory|failed to reserve virtual memory/i,
    class: "crashed",
  },
];

export const MONEY: EndingTable = [
  { on: "kind", is: ["billing_error", "insufficient_quota"], class: "credit" },
  {
    on: "text",
    like: /credit balance is too low|insufficient[^.]{0,25}(?:credit|funds|balance|quota)/i,
    class: "credit",
  },
];

export const LIMITS: EndingTable = [
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

export const LOGINS: EndingTable = [
  { on: "kind", is: ["authentication_failed", "authentication_error", "unauthorized"], class: "auth" },
  {
    on: "text",
    like: /please run \/login|not logged in|oauth token (?:revoked|expired)|invalid (?:x-)?api.key|failed to authenticate|disabled organization|authentication required|unauthorized/i,
    class: "auth",
  },
];

export const OVERLOADS: EndingTable = [
  {
    on: "kind",
    is: ["overloaded_error", "server_overloaded", "server_error", "api_error"],
    class: "overloaded",
  },
  { on: "text", like: /overloaded|experiencing high load/i, class: "overloaded" },
];

/** What they mean together: for an agent that nobody knows, and for one whose own words are few. */
export const COMMON_ENDINGS: EndingTable = [
  ...DISGUISED,
  ...PROCESS_GONE,
  ...STATUS_ENDINGS,
  ...CODE_ENDINGS,
  { on: "code", is: [-32003], class: "limit" },
  ...SESSION_GONE,
  ...NETWORK,
  ...MONEY,
  ...TOO_MANY,
  ...LIMITS,
  ...LOGINS,
  ...OVERLOADS,
];

/** Of agents that are none of the known ones. */
export const COMMON_EXAMPLES: readonly EndingExample[] = [
  ["limit", "Rate limited", -32003],
  ["expired", "Session expired"],
  ["overloaded", "Service unavailable", 503],
];
