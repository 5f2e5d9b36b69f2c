import { type EndingExample, PLAIN_DIALECT, type Vendor } from "./vendor.ts";
import type { EndingTable } from "#turn/rules/classify";
import { COMMON_ENDINGS } from "./shared-endings.ts";

const GEMINI_ENDINGS: EndingTable = [
  { on: "text", like: /invalid session identifier|session not found/i, class: "lost" },
  ...COMMON_ENDINGS,
];

/** As they were seen, word for word. */
const GEMINI_EXAMPLES: readonly EndingExample[] = [
  ["lost", "Internal error", -32603, { details: "Invalid session identifier abc" }],
  ["lost", "Session not found", -32602],
  ["limit", "Quota exceeded for this project", 429],
];

export const GEMINI: Vendor = {
  name: "gemini",
  endings: GEMINI_ENDINGS,
  examples: GEMINI_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    windowTokens: 1_000_000,
    // It names a record by the minute it was begun in, and loading begins one: in the same minute it overwrites what it
    // is about to read.
    reloadAfterMs: 61_000,
    replaysLate: true,
  },
  adapters: [{ name: "gemini-cli", oldest: "0.45.0", update: "npm install -g @google/gemini-cli@latest" }],
  records: null,
};
