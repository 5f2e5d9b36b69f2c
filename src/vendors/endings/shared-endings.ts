import { CODE_ENDINGS, type EndingTable, STATUS_ENDINGS, TOO_MANY } from "#turn/rules/classify";
import { DISGUISED, LIMITS, LOGINS, MONEY, NETWORK, OVERLOADS } from "#turn/rules/service-endings";
import type { EndingExample } from "#vendors/vendor";

// What the services of models, networks and the programs around them say. Agents pass it on, also those of another
// vendor, so the tables of all of them are made of these parts.

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
