import { type EndingTable } from "#turn/rules/classify";
import { COMMON_ENDINGS } from "#vendors/endings/shared-endings";
import type { EndingExample } from "#vendors/vendor";

export const GEMINI_ENDINGS: EndingTable = [
  { on: "text", like: /invalid session identifier|session not found/i, class: "lost" },
  ...COMMON_ENDINGS,
];

/** As they were seen, word for word. */
export const GEMINI_EXAMPLES: readonly EndingExample[] = [
  ["lost", "Internal error", -32603, { details: "Invalid session identifier abc" }],
  ["lost", "Session not found", -32602],
  ["limit", "Quota exceeded for this project", 429],
];
