import { type EndingExample, PLAIN_DIALECT, resumesBy, type Vendor } from "./vendor.ts";
import { CODE_ENDINGS, type EndingTable, STATUS_ENDINGS, TOO_MANY } from "#turn/rules/classify";
import { DISGUISED, LIMITS, LOGINS, MONEY, NETWORK, OVERLOADS } from "#turn/rules/service-endings";
import { PROCESS_GONE, SESSION_GONE } from "./shared-endings.ts";

const OPENCODE_ENDINGS: EndingTable = [
  ...DISGUISED,
  ...PROCESS_GONE,
  ...STATUS_ENDINGS,
  ...CODE_ENDINGS,
  { on: "code", is: [-32602], class: "lost" },
  { on: "text", like: /opencode service failure/i, class: "lost" },
  ...TOO_MANY,
  ...MONEY,
  ...LIMITS,
  // It calls every failed model call an APIError; only its words tell them apart.
  ...LOGINS,
  ...NETWORK,
  ...OVERLOADS,
  ...SESSION_GONE,
];

/** As they were seen, word for word. */
const OPENCODE_EXAMPLES: readonly EndingExample[] = [
  ["lost", "OpenCode service failure", -32603],
  ["lost", "Invalid params", -32602],
  ["auth", "Internal error: invalid x-api-key", -32603, { service: "session", errorName: "APIError" }],
  ["limit", "Internal error: Too many requests", -32603, { service: "session", errorName: "APIError" }],
  ["failed", "Internal error: what", -32603, { service: "session", errorName: "APIError" }],
];

export const OPENCODE: Vendor = {
  name: "opencode",
  endings: OPENCODE_ENDINGS,
  examples: OPENCODE_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    forks: true,
    windowTokens: 128_000,
    keepsPrompt: true,
    takesCommands: true,
  },
  // Older versions end a turn before they have sent all of its answer.
  adapters: [{ name: "OpenCode", oldest: "1.17.0", update: "npm install -g opencode-ai@latest" }],
  records: null,
  resumeCommand: resumesBy("opencode", "--session"),
};
