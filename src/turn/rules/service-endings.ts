import type { EndingTable } from "./classify.ts";

// What the services of models and the networks before them say. Agents pass it on, and a model's own call gets it at first hand.

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
