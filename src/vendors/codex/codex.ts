import { fieldsOf } from "#log/json/json-fields";
import { type EndingExample, PLAIN_DIALECT, resumesBy, type Vendor } from "#vendors/vendor";
import { codexStore } from "./codex-store.ts";
import { rolloutReader } from "./codex-store.ts";
import { CODE_ENDINGS, type EndingTable, STATUS_ENDINGS, TOO_MANY } from "#turn/rules/classify";
import { DISGUISED, LIMITS, LOGINS, MONEY, NETWORK, OVERLOADS } from "#turn/rules/service-endings";
import { PROCESS_GONE, SESSION_GONE } from "#vendors/shared-endings";

export const CODEX_ENDINGS: EndingTable = [
  ...DISGUISED,
  { on: "kind", is: ["context_window_exceeded"], class: "too_long" },
  { on: "kind", is: ["usage_limit_exceeded"], class: "limit" },
  { on: "kind", is: ["server_overloaded"], class: "overloaded" },
  { on: "kind", is: ["unauthorized"], class: "auth" },
  ...PROCESS_GONE,
  ...STATUS_ENDINGS,
  ...CODE_ENDINGS,
  ...MONEY,
  ...TOO_MANY,
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

/** As they were seen, word for word. */
const CODEX_EXAMPLES: readonly EndingExample[] = [
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

/** Codex behind codex-acp. */
export const CODEX: Vendor = {
  name: "codex",
  endings: CODEX_ENDINGS,
  examples: CODEX_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    remarksLackId: true,
    forks: true,
    windowTokens: 200_000,
    keepsPrompt: true,
    // A turn that failed is answered like one that ended well; only the state of its thread tells.
    failureIn: (update) => {
      const { error, threadStatus } = fieldsOf(fieldsOf(update["_meta"])["codex"]);
      const status = fieldsOf(threadStatus)["type"];
      return {
        ...(error === undefined ? {} : { error: fieldsOf(error) }),
        ...(status === undefined ? {} : { failed: status === "systemError" }),
      };
    },
    // Towards hosts that know no compactions, one is shown as a call with this title.
    compactionTools: ["Compact conversation"],
    reviewCalls: /^guardian_assessment:/,
    inUseReason: "thread_active_writer",
  },
  adapters: [
    {
      name: "@agentclientprotocol/codex-acp",
      oldest: "2.0.0",
      messageIds: "1.1.0",
      update: "npm install -g @agentclientprotocol/codex-acp@latest",
    },
  ],
  records: {
    folder: ".codex",
    variable: "CODEX_HOME",
    fileName: "a rollout of Codex",
    open: (home) => codexStore({ home }),
    isRecord: (line) => line["type"] === "session_meta" && "payload" in line,
    reader: rolloutReader,
  },
  resumeCommand: resumesBy("codex", "resume"),
};
